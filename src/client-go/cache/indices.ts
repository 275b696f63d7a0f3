/**
 * Index functions of client-go, for stores that hold objects, and the indices of such a store: for each index, a map
 * from values to the keys of the items with that value. The indices of informers are in src/replica/store.
 *
 * The indices keep the values of every stored item. So they call an index function once for each state of an item,
 * never on removal. An item that was changed in place after it was stored still leaves every index.
 */
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { accessor } from '../../kube/meta.ts';
import type { IndexValuesFunction, IndexValuesFunctions, KeyFunction } from '../../kube/store.ts';

/** The values of an item: an array for each index, in the order of the indices. */
export type ItemValues = readonly (readonly string[])[];

interface Index<Item> {
  readonly name: string;
  readonly valuesOf: IndexValuesFunction<Item>;
  readonly keysByValue: Map<string, Set<string>>;
}

const NO_KEYS: ReadonlySet<string> = new Set();
const NO_VALUES: readonly string[] = [];

export class Indices<Item> {
  readonly #indices: Index<Item>[] = [];

  constructor(indexers: IndexValuesFunctions<Item> = {}) {
    for (const [name, valuesOf] of Object.entries(indexers)) {
      this.#indices.push({ name, valuesOf, keysByValue: new Map() });
    }
  }

  get indexers(): IndexValuesFunctions<Item> {
    return Object.fromEntries(this.#indices.map(({ name, valuesOf }) => [name, valuesOf]));
  }

  /** Returns the same indices without keys. */
  emptied(): Indices<Item> {
    return new Indices(this.indexers);
  }

  /**
   * Calls the index functions; leaves the indices unchanged.
   *
   * @throws ERR_KUBELOOM_INDEX_FUNCTION
   */
  evaluate(key: string, item: Item): ItemValues {
    return this.#indices.map((index) => evaluated(index, item, key));
  }

  /** Moves a key from the old values of the item to the new values; undefined means that the item is absent. */
  move(key: string, from: ItemValues | undefined, to: ItemValues | undefined): void {
    for (const [position, { keysByValue }] of this.#indices.entries()) {
      const before = from?.[position] ?? NO_VALUES;
      const after = to?.[position] ?? NO_VALUES;
      // By far the most frequent case: a single value that did not change.
      if (before.length === 1 && after.length === 1 && before[0] === after[0]) continue;
      for (const value of before) removeKey(keysByValue, value, key);
      for (const value of after) addKey(keysByValue, value, key);
    }
  }

  /** @throws ERR_KUBELOOM_INDEXER_CONFLICT if a name is taken; the indices are unchanged */
  requireNew(indexers: IndexValuesFunctions<Item>): void {
    const taken = new Set(this.#indices.map(({ name }) => name));
    const conflicts = Object.keys(indexers).filter((name) => taken.has(name));
    if (conflicts.length === 0) return;
    const verb = conflicts.length > 1 ? 'exist' : 'exists';
    const message = `indexer conflict: ${conflicts.join(', ')} ${verb} already; no index was added`;
    throw new KubeloomError('ERR_KUBELOOM_INDEXER_CONFLICT', message);
  }

  /** Adds indices that were filled separately. */
  append(added: Indices<Item>): void {
    this.#indices.push(...added.#indices);
  }

  /** Returns the keys with this value. @throws ERR_KUBELOOM_NO_INDEX for an unknown index */
  keys(indexName: string, value: string): ReadonlySet<string> {
    return this.#require(indexName).keysByValue.get(value) ?? NO_KEYS;
  }

  /** Returns the keys that share a value with this item, each once. */
  keysLike(indexName: string, item: Item): ReadonlySet<string> {
    const index = this.#require(indexName);
    const keys = new Set<string>();
    for (const value of evaluated(index, item, undefined)) {
      for (const key of index.keysByValue.get(value) ?? NO_KEYS) keys.add(key);
    }
    return keys;
  }

  values(indexName: string): string[] {
    const index = this.#indices.find(({ name }) => name === indexName);
    return index ? [...index.keysByValue.keys()] : [];
  }

  #require(indexName: string): Index<Item> {
    const index = this.#indices.find(({ name }) => name === indexName);
    if (index) return index;
    throw new KubeloomError(
      'ERR_KUBELOOM_NO_INDEX',
      `index ${indexName} does not exist: add it with addIndexers()`,
    );
  }
}

function evaluated<Item>(index: Index<Item>, item: Item, key: string | undefined): readonly string[] {
  try {
    // A copy: the function may return the same array again with other values in it.
    return [...index.valuesOf(item)];
  } catch (cause) {
    const reason = messageOf(cause);
    const about = key === undefined ? 'the given item' : `key ${JSON.stringify(key)}`;
    const name = JSON.stringify(index.name);
    const message = `index ${name} has no values for ${about}, and the store is unchanged: ${reason}`;
    throw new KubeloomError('ERR_KUBELOOM_INDEX_FUNCTION', message, { cause });
  }
}

function addKey(keysByValue: Map<string, Set<string>>, value: string, key: string): void {
  const keys = keysByValue.get(value);
  if (keys) keys.add(key);
  else keysByValue.set(value, new Set([key]));
}

/** Removes a key. Also removes an empty set, because sets of values that never return would accumulate. */
function removeKey(keysByValue: Map<string, Set<string>>, value: string, key: string): void {
  const keys = keysByValue.get(value);
  if (keys?.delete(key) && keys.size === 0) keysByValue.delete(value);
}

/** Returns the namespace, '' for an object without a namespace. Every informer uses it for `NAMESPACE_INDEX`. */
export function metaNamespaceIndexFunc(object: unknown): string[] {
  return [accessor(object).namespace];
}

/**
 * Returns a key function made from an index function that gives each item a single, unique value.
 *
 * @returns a function that throws ERR_KUBELOOM_KEY for an item with no value or several values
 */
export function indexFuncToKeyFuncAdapter<Item>(indexFunction: IndexValuesFunction<Item>): KeyFunction<Item> {
  return (item) => {
    const [value, ...others] = indexFunction(item);
    if (value !== undefined && others.length === 0) return value;
    const count = value === undefined ? 'no value' : `${others.length + 1} values`;
    throw new KubeloomError('ERR_KUBELOOM_KEY', `a key needs exactly one index value: it has ${count}`);
  };
}
