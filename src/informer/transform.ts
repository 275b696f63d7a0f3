/**
 * Transforms change an object before the cache stores it. Indexes, fields and bytes contain only the result. A
 * transform must not change key, uid or resourceVersion. The cost depends on the transform's thread
 * (docs/architecture.md).
 */
import { splitPath } from '../kube/json/read.ts';
import { moduleUrl, naming, invalidOption } from '../base/option-checks.ts';

/** Dotted paths that the shards remove from the bytes, without parsing the object. */
export interface DropTransform {
  /** Distinguishes the two declared transforms. */
  readonly transform: 'drop';
  /**
   * Dotted paths: `metadata.managedFields`. ERR_KUBELOOM_OPTION for a path to name, namespace, uid or
   * resourceVersion in the metadata, or to the metadata as a whole.
   */
  readonly paths: readonly string[];
}

/** A function exported by a module. The shards call it with the parsed object. */
export interface ModuleTransform {
  /** Distinguishes the two declared transforms. */
  readonly transform: 'module';
  /** Absolute URL: `new URL('./trim.js', import.meta.url).href`. */
  readonly url: string;
  /** Name of the export: the default of `transformModule` is `default`. */
  readonly name: string;
}

/** A function on the main thread, at the cost of parsing and serialising every object on that thread. */
export type PlainTransform<T> = (object: T) => T;

/**
 * Changes objects before they are cached: drops fields, or calls a function on the main thread or in the indexer
 * threads.
 */
export type Transform<T> = DropTransform | ModuleTransform | PlainTransform<T>;

/** Removes these paths: `drop('metadata.managedFields')`. */
export function drop(...paths: readonly string[]): DropTransform {
  return { transform: 'drop', paths };
}

/** Runs an exported function of a module on the shards. */
export function transformModule(url: string, name = 'default'): ModuleTransform {
  return { transform: 'module', url, name };
}

/**
 * Checks a transform.
 *
 * @throws ERR_KUBELOOM_OPTION for a transform of an unknown form, a malformed path, a path that identifies an object,
 *   or a module without a URL
 */
export function checkTransform(transform: unknown): void {
  if (transform === undefined || typeof transform === 'function') return;
  if (!isDeclared(transform))
    invalidOption('transform', transform, 'a function, drop() or transformModule()');
  if (transform.transform === 'module') moduleUrl('transform.url', transform.url);
  else for (const path of transform.paths) checkDroppable(path);
}

const IDENTITY_KEYS = ['name', 'namespace', 'uid', 'resourceVersion'];

/** Rejects a path to a member that identifies an object, or to a parent of such a member. */
function checkDroppable(path: string): void {
  naming(splitPath)('transform', path);
  const keys = splitPath(path);
  const cutsIdentity = IDENTITY_KEYS.some((identity) =>
    keys.every((key, depth) => key === ['metadata', identity][depth]),
  );
  if (!cutsIdentity) return;
  const kept = `metadata.${IDENTITY_KEYS.join(', metadata.')}`;
  invalidOption('transform', `drop('${path}')`, `a drop() that leaves ${kept}`);
}

function isDeclared(transform: unknown): transform is DropTransform | ModuleTransform {
  if (typeof transform !== 'object' || transform === null) return false;
  const { transform: kind, paths, url, name } = transform as Readonly<Record<string, unknown>>;
  if (kind === 'drop') return Array.isArray(paths) && paths.every((path) => typeof path === 'string');
  return kind === 'module' && typeof url === 'string' && typeof name === 'string';
}

/** The parts of a transform by the place where they run; at most one part is present. */
export interface SplitTransform {
  readonly drop: readonly string[];
  readonly module?: { readonly url: string; readonly name: string };
  readonly plain?: PlainTransform<unknown>;
}

/** The field of an object's metadata that records who wrote which field; often half of the bytes of a small object. */
export const MANAGED_FIELDS = 'metadata.managedFields';

/** @param view view of the informer: `metadata` also drops managedFields, unless a function may read them */
export function splitTransform<T>(
  transform: Transform<T> | undefined,
  view: 'object' | 'metadata' = 'object',
): SplitTransform {
  const split = splitOf(transform);
  if (view === 'object' || split.module || split.plain || split.drop.includes(MANAGED_FIELDS)) return split;
  return { drop: [...split.drop, MANAGED_FIELDS] };
}

function splitOf<T>(transform: Transform<T> | undefined): SplitTransform {
  if (transform === undefined) return { drop: [] };
  if (typeof transform === 'function') return { drop: [], plain: transform as PlainTransform<unknown> };
  if (transform.transform === 'drop') return { drop: transform.paths };
  return { drop: [], module: { url: transform.url, name: transform.name } };
}
