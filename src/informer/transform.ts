/**
 * Transforms: what is stored instead of what the server sent. Indexes, fields and bytes see only the result;
 * key, uid and resourceVersion may not change. Where it runs decides what it costs (docs/architecture.md).
 */
import { refuse } from '../options.ts';

/** Dotted paths cut out of the bytes on the shards; nothing is parsed. */
export interface DropTransform {
  readonly transform: 'drop';
  readonly paths: readonly string[];
}

/** A function exported by a module, run on the shards on the parsed object. */
export interface ModuleTransform {
  readonly transform: 'module';
  /** Absolute URL: `new URL('./trim.js', import.meta.url).href`. */
  readonly url: string;
  readonly name: string;
}

/** A function on the main thread: parses and serialises every object there. */
export type PlainTransform<T> = (object: T) => T;

export type Transform<T> = DropTransform | ModuleTransform | PlainTransform<T>;

/** Cuts these paths out: `drop('metadata.managedFields')`. */
export function drop(...paths: readonly string[]): DropTransform {
  return { transform: 'drop', paths };
}

export function transformModule(url: string, name = 'default'): ModuleTransform {
  return { transform: 'module', url, name };
}

/** @throws ERR_KUBELOOM_OPTION for what is none of the three */
export function wantTransform(transform: unknown): void {
  if (transform === undefined || typeof transform === 'function' || isDeclared(transform)) return;
  refuse('transform', transform, 'a function, drop() or transformModule()');
}

function isDeclared(transform: unknown): boolean {
  if (typeof transform !== 'object' || transform === null) return false;
  const { transform: kind, paths, url, name } = transform as Readonly<Record<string, unknown>>;
  if (kind === 'drop') return Array.isArray(paths) && paths.every((path) => typeof path === 'string');
  return kind === 'module' && typeof url === 'string' && typeof name === 'string';
}

export interface SplitTransform {
  readonly drop: readonly string[];
  readonly module: { readonly url: string; readonly name: string } | undefined;
  readonly plain: PlainTransform<unknown> | undefined;
}

export function splitTransform<T>(transform: Transform<T> | undefined): SplitTransform {
  const nothing = { drop: [], module: undefined, plain: undefined };
  if (transform === undefined) return nothing;
  if (typeof transform === 'function') return { ...nothing, plain: transform as PlainTransform<unknown> };
  if (transform.transform === 'drop') return { ...nothing, drop: transform.paths };
  return { ...nothing, module: { url: transform.url, name: transform.name } };
}
