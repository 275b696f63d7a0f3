/** The text of an object of ours in logs. */
import { inspect } from 'node:util';

/** Defines the text that `console.log` prints. (`isolatedDeclarations` allows no method with a computed name.) */
export function inspectAs<T extends object>(prototype: T, describe: (instance: T) => string): void {
  Object.defineProperty(prototype, inspect.custom, {
    value(this: T): string {
      return describe(this);
    },
  });
}
