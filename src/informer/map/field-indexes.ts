/**
 * The indexed fields of a kind, by which lists can select. Each field consists of a name and a dotted path or a
 * function, and becomes an index of the informers. In the metadata view, only fields of `metadata` are available.
 */
import { KubeloomError } from '../../base/errors.ts';
import { splitPath } from '../../kube/json/read.ts';
import type { KubeObject } from '../../kube/wire.ts';
import { invalidOption } from '../../base/option-checks.ts';
import type { InformerView } from '../informer-options.ts';
import type { CachedObject } from '../../replica/store/cached-object.ts';
import type { Indexers, PlainIndexFunction } from '../../replica/store/index-functions.ts';

/** A dotted path (`spec.nodeName`; a dot within a key is `\.`), or a function from an object to the values. */
export type FieldExtractor = string | PlainIndexFunction<KubeObject>;

const METADATA = 'metadata.';

interface FieldIndex {
  readonly extractor: FieldExtractor;
  readonly view: InformerView;
}

/** @internal */
export class FieldIndexes {
  readonly #byName: Map<string, FieldIndex> = new Map();

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /**
   * Adds a field; returns false if it exists with the same extractor.
   *
   * @throws ERR_KUBELOOM_INDEXER_CONFLICT if it exists with another extractor
   */
  add(name: string, extractor: FieldExtractor): boolean {
    if (typeof name !== 'string' || !/^[^=!,\\]+$/.test(name)) {
      invalidOption('the name of a field', name, "text without '=', '!', ',' and '\\'");
    }
    if (typeof extractor === 'string') splitPath(extractor);
    else if (typeof extractor !== 'function')
      invalidOption(`field ${name}`, extractor, 'a path or a function');
    const known = this.#byName.get(name);
    if (known?.extractor === extractor) return false;
    if (known || name === 'metadata.name' || name === 'metadata.namespace') {
      throw new KubeloomError('ERR_KUBELOOM_INDEXER_CONFLICT', `field ${name} is already indexed`);
    }
    const isOfMetadata = typeof extractor === 'string' && extractor.startsWith(METADATA);
    this.#byName.set(name, { extractor, view: isOfMetadata ? 'metadata' : 'object' });
    return true;
  }

  /** Returns whether lists of this view can select by a field. */
  has(name: string, view: InformerView): boolean {
    const index = this.#byName.get(name);
    return index !== undefined && (view === 'object' || index.view === 'metadata');
  }

  /** Returns the paths that an informer of this view must extract. */
  paths(view: InformerView): readonly string[] {
    return this.#of(view).flatMap(([, { extractor }]) => (typeof extractor === 'string' ? [extractor] : []));
  }

  /** Returns the indexes of an informer. @param declared the paths that the informer extracts */
  indexers(view: InformerView, declared: ReadonlySet<string>): Indexers<KubeObject> {
    return Object.fromEntries(
      this.#of(view).map(([name, { extractor }]) => [indexNameOf(name), functionOf(extractor, declared)]),
    );
  }

  #of(view: InformerView): [string, FieldIndex][] {
    return [...this.#byName].filter(([name]) => this.has(name, view));
  }
}

/** Returns the index of a field; the prefix separates it from other indexes of the informer. */
export function indexNameOf(field: string): string {
  return `field:${field}`;
}

function functionOf(
  extractor: FieldExtractor,
  declared: ReadonlySet<string>,
): PlainIndexFunction<KubeObject> {
  if (typeof extractor === 'function') return extractor;
  const keys = splitPath(extractor);
  if (declared.has(extractor)) return ({ fields }) => valuesOf(fields[extractor]);
  // The index was added after start: the shards do not extract the path, so it is read from the parsed object.
  if (extractor.startsWith(METADATA)) return ({ metadata }) => valuesOf(walk(metadata, keys.slice(1)));
  return ({ object }) => valuesOf(walk(object, keys));
}

function walk(value: unknown, keys: readonly string[]): unknown {
  let at = value;
  for (const key of keys) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, key))
      return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

/** Returns the values of a field; a single empty value if the object lacks the field, as on servers. */
function valuesOf(value: unknown): readonly string[] {
  const values = scalarsOf(value);
  return values.length === 0 ? [''] : values;
}

function scalarsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  return Array.isArray(value) ? [...new Set(value.flatMap(scalarsOf))] : [];
}

/** Returns the values of an object in an index; none if the function throws, which was reported at indexing. */
export function fieldValues(
  index: PlainIndexFunction<KubeObject>,
  entry: CachedObject<KubeObject>,
): readonly string[] {
  try {
    return index(entry);
  } catch {
    return [];
  }
}
