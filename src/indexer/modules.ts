/**
 * Functions that an informer's transform and indexes name as exports of modules. The import has a deadline, because it
 * cannot be cancelled.
 */
import { disown, isThenable } from '../base/thenable.ts';
import type { Clock } from '../base/clock.ts';
import { KubeloomError, messageOf } from '../base/errors.ts';
import { jsonText } from '../base/json-text.ts';
import { changedIdentity } from '../kube/json/key-spans.ts';
import type { ShardSpec } from '../shared/protocol.ts';
import type { Warning } from './notification-writer.ts';

type ModuleExport = NonNullable<ShardSpec['transformModule']>;
export type ModuleFunction = (object: unknown) => unknown;

export interface LoadedModules {
  readonly transform: ModuleFunction | undefined;
  readonly indexes: readonly { readonly index: string; readonly valuesOf: ModuleFunction }[];
}

export const MODULE_TIMEOUT_MS = 30_000;

/**
 * Loads all functions of an informer.
 *
 * @throws ERR_KUBELOOM_MODULE with the module or export that is missing
 */
export async function loadModules(spec: ShardSpec, clock: Clock): Promise<LoadedModules> {
  const { transformModule, indexModules } = spec;
  const [transform, ...indexes] = await Promise.all([
    transformModule && loadFunction(transformModule, 'a transform', clock),
    ...indexModules.map(async (module) => ({
      index: module.index,
      valuesOf: await loadFunction(module, `the index function of ${module.index}`, clock),
    })),
  ]);
  return { transform, indexes };
}

async function loadFunction(
  { url, name }: ModuleExport,
  role: string,
  clock: Clock,
): Promise<ModuleFunction> {
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = await importedInTime(url, clock);
  } catch (cause) {
    throw new KubeloomError(
      'ERR_KUBELOOM_MODULE',
      `cannot load ${url}, which should export ${role} as ${JSON.stringify(name)}: ${messageOf(cause)}`,
      { cause },
    );
  }
  const found = exports[name];
  if (typeof found === 'function') return found as ModuleFunction;
  const what =
    name in exports
      ? `exports no function as ${JSON.stringify(name)}`
      : `has no export ${JSON.stringify(name)}`;
  throw new KubeloomError(
    'ERR_KUBELOOM_MODULE',
    `${url} ${what}, which should be ${role}; it exports ${Object.keys(exports).join(', ') || 'nothing'}`,
  );
}

function importedInTime(url: string, clock: Clock): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(MODULE_TIMEOUT_MS, () => {
      const message =
        `its import did not end within ${MODULE_TIMEOUT_MS} ms; look for an await at its top level, or at the top level ` +
        'of a module that it imports';
      reject(new Error(message));
    });
    const imported = import(url) as Promise<Readonly<Record<string, unknown>>>;
    void imported.then(resolve, reject).finally(cancel);
  });
}

/**
 * Calls a transform once; returns the result as JSON. The transform may change the object in place, but its JSON not the key,
 * the uid or the resourceVersion: every later stage relies on the values that the reflector read.
 *
 * @throws the function's error, or a TypeError about its result
 */
export function callTransform(transform: ModuleFunction, object: object): Buffer {
  const before = { ...(object as { readonly metadata?: object }).metadata };
  const result = transform(object);
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    throw new TypeError(`it returned ${result === null ? 'null' : typeof result}, not an object`);
  }
  if (isThenable(result)) {
    disown(result);
    throw new TypeError('it returned a promise: transforms are synchronous');
  }
  const json = Buffer.from(jsonText(result));
  const changed = changedIdentity(json, before);
  if (changed.length > 0) throw new TypeError(`it changed metadata.${changed.join(' and metadata.')}`);
  return json;
}

/**
 * Calls the index functions. If a function throws, that index gets no values of the object, and a warning is added.
 *
 * @returns JSON: an object from index names to values, without duplicates
 */
export function callIndexes(indexes: LoadedModules['indexes'], object: object, warnings: Warning[]): string {
  const values: [string, readonly string[]][] = [];
  for (const { index, valuesOf } of indexes) {
    try {
      values.push([index, checkedValues(valuesOf(object))]);
    } catch (cause) {
      values.push([index, []]);
      const message = `index function ${index} failed; the object has no values in this index: ${messageOf(cause)}`;
      warnings.push({ code: 'ERR_KUBELOOM_INDEX_FUNCTION', message });
    }
  }
  return JSON.stringify(Object.fromEntries(values));
}

function checkedValues(values: unknown): readonly string[] {
  disown(values);
  if (!Array.isArray(values)) throw new TypeError(`it returned ${typeof values}, not an array of strings`);
  for (const value of values as readonly unknown[]) {
    if (typeof value !== 'string') throw new TypeError(`it returned an array with a ${typeof value}`);
  }
  return [...new Set(values as readonly string[])];
}
