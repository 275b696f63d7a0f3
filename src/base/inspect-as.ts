/** How `console.log` prints objects of ours. */
import { inspect } from 'node:util';

/** Defines the text that `console.log` prints. (`isolatedDeclarations` allows no method with a computed name.) */
export function inspectAs<T extends object>(prototype: T, describe: (instance: T) => string): void {
  Object.defineProperty(prototype, inspect.custom, {
    value(this: T): string {
      return describe(this);
    },
  });
}

/**
 * A hidden member with which `console.log` prints the values of accessors in place of `[Getter/Setter]`. The function leaves
 * out itself, which a copy may enumerate.
 */
export const INSPECT_VALUES: PropertyDescriptor & ThisType<{ readonly [inspect.custom]?: unknown }> = {
  value() {
    const { [inspect.custom]: _, ...members } = this;
    return Object.assign(Object.create(Object.getPrototypeOf(this) as object | null) as object, members);
  },
  enumerable: false,
  configurable: true,
  writable: true,
};
