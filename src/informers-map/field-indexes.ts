/**
 * The fields of one kind that lists can select by: name, dotted path or function, and the index that each becomes
 * in the informers. Only fields of `metadata` can be found where nothing but metadata is followed.
 */
import { KubeloomError } from '../errors.ts';
import { splitPath } from '../json/path.ts';
import type { KubeObject } from '../kube/wire.ts';
import { refuse } from '../options.ts';
import type { CachedObject } from '../store/entry.ts';
import type { Indexers, PlainIndexFunction } from '../store/index-functions.ts';

/** A dotted path (`spec.nodeName`; a dot within a key is `\.`), or a function from an object to its values. */
export type FieldExtractor = string | PlainIndexFunction<KubeObject>;

/** What is followed of a kind. */
export type Depth = 'object' | 'metadata';

const METADATA = 'metadata.';

interface FieldIndex {
  readonly extractor: FieldExtractor;
  readonly depth: Depth;
}

export class FieldIndexes {
  readonly #byName: Map<string, FieldIndex> = new Map();

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Whether it is one more; the same a second time is not. @throws ERR_KUBELOOM_INDEXER_CONFLICT for another */
  add(name: string, extractor: FieldExtractor): boolean {
    if (typeof name !== 'string' || !/^[^=!,\\]+$/.test(name)) {
      refuse('the name of a field', name, "text without '=', '!', ',' and '\\'");
    }
    if (typeof extractor === 'string') splitPath(extractor);
    else if (typeof extractor !== 'function') refuse(`field ${name}`, extractor, 'a path or a function');
    const known = this.#byName.get(name);
    if (known?.extractor === extractor) return false;
    if (known || name === 'metadata.name' || name === 'metadata.namespace') {
      throw new KubeloomError('ERR_KUBELOOM_INDEXER_CONFLICT', `field ${name} is indexed already`);
    }
    const isOfMetadata = typeof extractor === 'string' && extractor.startsWith(METADATA);
    this.#byName.set(name, { extractor, depth: isOfMetadata ? 'metadata' : 'object' });
    return true;
  }

  /** Whether lists of this depth can select by it. */
  has(name: string, depth: Depth): boolean {
    const index = this.#byName.get(name);
    return index !== undefined && (depth === 'object' || index.depth === 'metadata');
  }

  /** Paths that an informer should project. */
  paths(depth: Depth): readonly string[] {
    return this.#of(depth).flatMap(([, { extractor }]) => (typeof extractor === 'string' ? [extractor] : []));
  }

  /** @param declared the paths that the informer projects */
  indexers(depth: Depth, declared: ReadonlySet<string>): Indexers<KubeObject> {
    return Object.fromEntries(
      this.#of(depth).map(([name, { extractor }]) => [indexNameOf(name), functionOf(extractor, declared)]),
    );
  }

  #of(depth: Depth): [string, FieldIndex][] {
    return [...this.#byName].filter(([name]) => this.has(name, depth));
  }
}

/** Other indexes of an informer have other names. */
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
  // Came after the informer had started: what is read is parsed.
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

/** As servers have it, a field that an object does not have is empty. */
function valuesOf(value: unknown): readonly string[] {
  const values = scalarsOf(value);
  return values.length === 0 ? [''] : values;
}

function scalarsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  return Array.isArray(value) ? [...new Set(value.flatMap(scalarsOf))] : [];
}

/** What one object has in one index; nothing where its function throws, which was reported when it was indexed. */
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
