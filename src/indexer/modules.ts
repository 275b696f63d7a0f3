/**
 * Loading of the functions that an informer's transform and indexes name as exports of modules. An import cannot be
 * cancelled, so it has a deadline.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import type { ShardSpec } from '../shared/protocol.ts';

export type ModuleFunction = (object: unknown) => unknown;

export interface ModuleIndexFunction {
  readonly index: string;
  readonly valuesOf: ModuleFunction;
}

export interface LoadedModules {
  readonly transform: ModuleFunction | undefined;
  readonly indexes: readonly ModuleIndexFunction[];
}

/** Deadline of an import. */
export const MODULE_TIMEOUT_MS = 30_000;

interface ModuleExport {
  readonly url: string;
  readonly name: string;
}

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

async function loadFunction(module: ModuleExport, role: string, clock: Clock): Promise<ModuleFunction> {
  const { url, name } = module;
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = await importedInTime(url, clock);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KubeloomError(
      'ERR_KUBELOOM_MODULE',
      `cannot load ${url}, which should export ${role} as ${JSON.stringify(name)}: ${reason}`,
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
