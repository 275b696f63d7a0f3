/**
 * Indices of a store: from the name of an index to its values to the keys of the items that have them.
 *
 * The values of every stored item are remembered. So an index function is called once for each state of an
 * item, never when it is taken out, and an item that somebody wrote to after it was stored still leaves every
 * index.
 */
import { KubeloomError } from '../errors.ts';
import type { IndexValuesFunction, IndexValuesFunctions } from './store.ts';

/** The values of one item: one array for each index, in the order of the indices. */
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

  /** The same indices without keys. */
  emptied(): Indices<Item> {
    return new Indices(this.indexers);
  }

  /**
   * Runs the index functions, and nothing else.
   *
   * @throws ERR_KUBELOOM_INDEX_FUNCTION
   */
  evaluate(key: string, item: Item): ItemValues {
    return this.#indices.map((index) => evaluated(index, item, key));
  }

  /** Brings one item from its old values to its new ones; undefined where it was not, or will not be. */
  move(key: string, from: ItemValues | undefined, to: ItemValues | undefined): void {
    for (const [position, { keysByValue }] of this.#indices.entries()) {
      const before = from?.[position] ?? NO_VALUES;
      const after = to?.[position] ?? NO_VALUES;
      // By far the most frequent: one value, and it stayed.
      if (before.length === 1 && after.length === 1 && before[0] === after[0]) continue;
      for (const value of before) removeKey(keysByValue, value, key);
      for (const value of after) addKey(keysByValue, value, key);
    }
  }

  /** @throws ERR_KUBELOOM_INDEXER_CONFLICT when a name is taken, and then nothing was added */
  wantNew(indexers: IndexValuesFunctions<Item>): void {
    const taken = new Set(this.#indices.map(({ name }) => name));
    const conflicts = Object.keys(indexers).filter((name) => taken.has(name));
    if (conflicts.length === 0) return;
    const verb = conflicts.length > 1 ? 'exist' : 'exists';
    throw new KubeloomError(
      'ERR_KUBELOOM_INDEXER_CONFLICT',
      `indexer conflict: ${conflicts.join(', ')} ${verb} already; nothing was added`,
    );
  }

  /** Takes over indices that were filled apart. */
  append(added: Indices<Item>): void {
    this.#indices.push(...added.#indices);
  }

  /** Keys with this value; of an unknown index it throws ERR_KUBELOOM_NO_INDEX. */
  keys(indexName: string, value: string): ReadonlySet<string> {
    return this.#require(indexName).keysByValue.get(value) ?? NO_KEYS;
  }

  /** Keys that share a value with this item, each once. */
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
    throw new KubeloomError('ERR_KUBELOOM_NO_INDEX', `Index with name ${indexName} does not exist`);
  }
}

function evaluated<Item>(index: Index<Item>, item: Item, key: string | undefined): readonly string[] {
  try {
    // A copy: the function may give the same array again, with other values in it.
    return [...index.valuesOf(item)];
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const about = key === undefined ? 'the item asked about' : `key ${JSON.stringify(key)}`;
    throw new KubeloomError(
      'ERR_KUBELOOM_INDEX_FUNCTION',
      `index ${JSON.stringify(index.name)} has no values for ${about}, nothing was written: ${reason}`,
      { cause },
    );
  }
}

function addKey(keysByValue: Map<string, Set<string>>, value: string, key: string): void {
  const keys = keysByValue.get(value);
  if (keys) keys.add(key);
  else keysByValue.set(value, new Set([key]));
}

/** An empty set goes with its last key: values that never come back must not pile up. */
function removeKey(keysByValue: Map<string, Set<string>>, value: string, key: string): void {
  const keys = keysByValue.get(value);
  if (keys?.delete(key) && keys.size === 0) keysByValue.delete(value);
}
