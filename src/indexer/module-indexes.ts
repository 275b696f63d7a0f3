/**
 * Index functions that modules export; each returns an object's values in one index. If a function throws, the object
 * has no values in that index, and the error is reported.
 */
import type { ModuleIndexFunction } from './modules.ts';
import type { Warning } from './warning.ts';

const CODE = 'ERR_KUBELOOM_INDEX_FUNCTION';

export class ModuleIndexes {
  readonly #functions: readonly ModuleIndexFunction[];

  constructor(functions: readonly ModuleIndexFunction[]) {
    this.#functions = functions;
  }

  /** Returns JSON: an object from index names to values, without duplicates. */
  valuesOf(object: object, warnings: Warning[]): string {
    const values: [string, readonly string[]][] = [];
    for (const { index, valuesOf } of this.#functions) {
      try {
        values.push([index, checkedValues(valuesOf(object))]);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        const message = `index function ${index} failed, the object has no values in this index: ${reason}`;
        warnings.push({ code: CODE, message });
      }
    }
    return JSON.stringify(Object.fromEntries(values));
  }
}

function checkedValues(values: unknown): readonly string[] {
  if (!Array.isArray(values)) throw new TypeError(`it returned ${typeof values}, not an array of strings`);
  for (const value of values as readonly unknown[]) {
    if (typeof value !== 'string') throw new TypeError(`it returned an array with a ${typeof value}`);
  }
  return [...new Set(values as readonly string[])];
}
