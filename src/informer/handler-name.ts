/** Name of a handler in messages and done checkers, as client-go's nameForHandler. */
import type { ResourceEventHandler } from '../replica/deliver/handler.ts';
import {
  FilteringResourceEventHandler,
  ResourceEventHandlerDetailedFuncs,
  ResourceEventHandlerFuncs,
} from './handler-adaptors.ts';

/**
 * Returns the class name of the handler. For a plain object it returns the names of its functions, joined by `+`, without
 * functions that are named after their callback; `handler` when none is left.
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
    // An inline function has the name of its property, which does not identify the handler.
    if (name !== '' && name !== property) names.add(name);
  }
  return names.size > 0 ? [...names].join('+') : 'handler';
}
