/** How messages and done checkers name a handler: what its author called it. client-go's nameForHandler. */
import type { ResourceEventHandler } from '../processor/handler.ts';
import {
  FilteringResourceEventHandler,
  ResourceEventHandlerDetailedFuncs,
  ResourceEventHandlerFuncs,
} from './handler-adaptors.ts';

/**
 * The class of the handler; for a plain object its functions, joined by `+`, as far as they have names other
 * than the callbacks' own; else `handler`.
 */
export function nameForHandler(handler: ResourceEventHandler<never>): string {
  if (handler instanceof FilteringResourceEventHandler) return nameForHandler(handler.handler);
  if (handler instanceof ResourceEventHandlerFuncs || handler instanceof ResourceEventHandlerDetailedFuncs) {
    return nameForFunctions(handler.funcs, ['addFunc', 'updateFunc', 'deleteFunc']);
  }
  const className: unknown = handler.constructor?.name;
  if (typeof className === 'string' && className !== '' && className !== 'Object') return className;
  return nameForFunctions(handler, ['onAdd', 'onUpdate', 'onDelete']);
}

function nameForFunctions(of: object, properties: readonly string[]): string {
  const names = new Set<string>();
  for (const property of properties) {
    const callback: unknown = Reflect.get(of, property);
    const name = typeof callback === 'function' ? callback.name.replace(/^bound /, '') : '';
    // A function written in place is named after its property: that tells nothing.
    if (name !== '' && name !== property) names.add(name);
  }
  return names.size > 0 ? [...names].join('+') : 'handler';
}
