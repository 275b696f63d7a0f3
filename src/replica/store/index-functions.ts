/**
 * Index functions: from an object to the values under which `byIndex` finds the object.
 *
 * Declarative functions (`label`, `field`, `ownerUid`, `namespaceIndex`) read extracted fields and never parse the
 * object; they are evaluated again only when those fields change. Module functions run on the shards on parsed objects.
 * Plain functions run on the main thread for every change, at the cost of the members that they read.
 */
import { splitPath } from '../../kube/json/read.ts';
import { moduleUrl, naming, invalidOption } from '../../base/option-checks.ts';
import type { Entry } from './entry.ts';
import type { CachedObject } from './cached-object.ts';

/** Name of the index by namespace, which every informer maintains; the name is client-go's. */
export const NAMESPACE_INDEX = 'namespace';

/** Returns the values of an object in an index, on the main thread. */
export type PlainIndexFunction<T = unknown> = (entry: CachedObject<T>) => readonly string[];

/** An index over fields that the indexer threads extract: a field, a label, the namespace or the owner. */
export type DeclarativeIndex =
  | { readonly index: 'namespace' }
  | { readonly index: 'label'; readonly label: string }
  | { readonly index: 'field'; readonly path: string }
  | { readonly index: 'ownerUid' };

/** A function exported by a module, loaded by the shards. */
export interface ModuleIndex {
  /** Distinguishes a module from a declarative index. */
  readonly index: 'module';
  /** Absolute URL of an ES module, e.g. `new URL('./by-image.js', import.meta.url).href`. */
  readonly url: string;
  /** Name of the export: the default of `indexModule` is `default`. */
  readonly name: string;
}

/** An index: a function, a declared field, or a module that the indexer threads load. */
export type IndexFunction<T = unknown> = PlainIndexFunction<T> | DeclarativeIndex | ModuleIndex;
/** Index functions by the names of their indexes. */
export type Indexers<T = unknown, Name extends string = string> = Readonly<Record<Name, IndexFunction<T>>>;

/** Indexes objects by their namespace. */
export function namespaceIndex(): DeclarativeIndex {
  return { index: 'namespace' };
}

/** Indexes objects by the value of a label; objects without the label are not in the index. */
export function label(name: string): DeclarativeIndex {
  return { index: 'label', label: name };
}

/** Indexes objects by the value at a dotted path, which becomes a declared field. */
export function field(path: string): DeclarativeIndex {
  return { index: 'field', path };
}

/** Indexes objects by the uid of their controller. */
export function ownerUid(): DeclarativeIndex {
  return { index: 'ownerUid' };
}

/** Indexes objects by the values that an exported function returns for the parsed object. It runs on the shards. */
export function indexModule(url: string, name = 'default'): ModuleIndex {
  return { index: 'module', url, name };
}

const DECLARED: Readonly<Record<DeclarativeIndex['index'] | 'module', readonly string[]>> = {
  namespace: [],
  label: ['label'],
  field: ['path'],
  ownerUid: [],
  module: ['url', 'name'],
};

/** @throws ERR_KUBELOOM_OPTION for an indexer whose index would silently stay empty */
export function checkIndexers(indexers: unknown): void {
  if (typeof indexers !== 'object' || indexers === null)
    invalidOption('indexers', indexers, 'functions by name');
  for (const [name, indexer] of Object.entries(indexers)) {
    if (typeof indexer === 'function') continue;
    const option = `indexers.${name}`;
    if (!isDeclared(indexer))
      invalidOption(option, indexer, 'a function, or the result of label(), field() and the like');
    if (indexer.index === 'field') naming(splitPath)(option, indexer.path);
    if (indexer.index === 'module') moduleUrl(`${option}.url`, indexer.url);
    if (indexer.index === 'label' && indexer.label === '')
      invalidOption(`${option}.label`, '', 'the name of a label');
  }
}

function isDeclared(indexer: unknown): indexer is DeclarativeIndex | ModuleIndex {
  if (typeof indexer !== 'object' || indexer === null) return false;
  const { index, ...others } = indexer as Readonly<Record<string, unknown>>;
  const wanted = typeof index === 'string' && Object.hasOwn(DECLARED, index);
  return wanted && DECLARED[index as keyof typeof DECLARED].every((name) => typeof others[name] === 'string');
}

/** Returns the paths that these indexers need as declared fields. */
export function declaredFields(indexers: Indexers): readonly string[] {
  return Object.values(indexers).flatMap((indexer) =>
    typeof indexer === 'object' && indexer.index === 'field' ? [indexer.path] : [],
  );
}

/** Returns whether the values depend only on extracted fields and identity. */
export function isExtracted<T>(indexer: IndexFunction<T>): indexer is DeclarativeIndex | ModuleIndex {
  return typeof indexer === 'object';
}

const NO_VALUES: readonly string[] = [];

/**
 * Returns the values of the index with this name. Parses the extracted fields only for an index that needs them.
 *
 * @internal
 */
export function extractedValues(
  name: string,
  indexer: DeclarativeIndex | ModuleIndex,
  entry: Entry,
  fieldCount: number,
): readonly string[] {
  switch (indexer.index) {
    case 'namespace':
      return entry.namespace === '' ? NO_VALUES : [entry.namespace];
    case 'label': {
      const value = Object.hasOwn(entry.labels, indexer.label) ? entry.labels[indexer.label] : undefined;
      return value === undefined ? NO_VALUES : [value];
    }
    case 'field':
      return fieldValues(entry.fields[indexer.path]);
    case 'ownerUid':
      return entry.controllerUid === undefined ? NO_VALUES : [entry.controllerUid];
    default:
      return entry.facts.fields.moduleValues(fieldCount)?.[name] ?? NO_VALUES;
  }
}

/** Returns the value of a scalar, or the values of an array of scalars; other values are not indexed. */
function fieldValues(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  if (Array.isArray(value)) return [...new Set(value.flatMap(fieldValues))];
  return NO_VALUES;
}
