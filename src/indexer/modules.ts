/**
 * Loads the functions that an informer's transform and indexes name as exports of modules.
 */
import { KubeloomError } from '../errors.ts';
import type { ShardSpec } from '../threads/protocol.ts';

export type ModuleFunction = (object: unknown) => unknown;

export interface ModuleIndexFunction {
  readonly index: string;
  readonly valuesOf: ModuleFunction;
}

export interface LoadedModules {
  readonly transform: ModuleFunction | undefined;
  readonly indexes: readonly ModuleIndexFunction[];
}

/** Throws ERR_KUBELOOM_MODULE, which says what is missing. */
export async function loadModules(spec: ShardSpec): Promise<LoadedModules> {
  const { transformModule, indexModules } = spec;
  return {
    transform: transformModule && (await loadFunction(transformModule, 'a transform')),
    indexes: await Promise.all(
      indexModules.map(async (module) => ({
        index: module.index,
        valuesOf: await loadFunction(module, `the index function of ${module.index}`),
      })),
    ),
  };
}

async function loadFunction(
  module: { readonly url: string; readonly name: string },
  role: string,
): Promise<ModuleFunction> {
  const { url, name } = module;
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = (await import(url)) as Readonly<Record<string, unknown>>;
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
