/**
 * client-go's ThreadSafeStore: items under keys that the caller gives, with indices.
 *
 * The name is the field's word; JavaScript runs on one thread and needs no lock. What the lock was for is kept:
 * every query is answered from one state, `replace` and a transaction are seen whole or not at all, and arrays
 * are the caller's own. Beyond client-go: all index functions run before anything is written, so one that
 * throws leaves the store and every index as they were; client-go panics with the item stored and some of its
 * indices updated. Items are listed in the order in which their keys came.
 */
import { resourceVersionOf } from '../kube/meta-shape.ts';
import { Indices } from './indices.ts';
import type { ItemValues } from './indices.ts';
import type { IndexValuesFunctions } from './store.ts';
import { TransactionError } from './transaction.ts';
import type { KeyedTransaction } from './transaction.ts';

/** A gauge; called after every write that moved the store's resourceVersion. */
export interface StoreMetrics {
  /** Its last 15 digits as a number: more would lose some. Not called for one that is not decimal. */
  setResourceVersion(resourceVersion: number): void;
}

export interface ThreadSafeStoreOptions {
  readonly metrics?: StoreMetrics;
}

interface Stored<Item> {
  readonly item: Item;
  readonly values: ItemValues;
}

const METRIC_DIGITS_MAX = 15;

export class ThreadSafeStore<Item> {
  #items: Map<string, Stored<Item>> = new Map();
  #indices: Indices<Item>;
  #resourceVersion = '';
  readonly #metrics: StoreMetrics | undefined;

  constructor(indexers: IndexValuesFunctions<Item> = {}, options: ThreadSafeStoreOptions = {}) {
    this.#indices = new Indices(indexers);
    this.#metrics = options.metrics;
  }

  /** @throws ERR_KUBELOOM_INDEX_FUNCTION, and nothing was written */
  add(key: string, item: Item): void {
    this.update(key, item);
  }

  /** @throws ERR_KUBELOOM_INDEX_FUNCTION, and nothing was written */
  update(key: string, item: Item): void {
    const values = this.#indices.evaluate(key, item);
    this.#put(key, item, values);
    this.#moveTo(resourceVersionOf(item));
  }

  /** As `deleteWithObject` without an object: the store's resourceVersion stays behind. */
  delete(key: string): void {
    this.deleteWithObject(key, undefined);
  }

  /** @param object the deleted one: its resourceVersion is then the store's */
  deleteWithObject(key: string, object: unknown): void {
    this.#remove(key);
    this.#moveTo(resourceVersionOf(object));
  }

  get(key: string): Item | undefined {
    return this.#items.get(key)?.item;
  }

  list(): Item[] {
    return Array.from(this.#items.values(), ({ item }) => item);
  }

  listKeys(): string[] {
    return [...this.#items.keys()];
  }

  get size(): number {
    return this.#items.size;
  }

  /**
   * Everything that is there is replaced at once.
   *
   * @throws ERR_KUBELOOM_INDEX_FUNCTION, and everything is as it was
   */
  replace(items: Iterable<readonly [key: string, item: Item]>, resourceVersion: string): void {
    const stored = new Map<string, Stored<Item>>();
    for (const [key, item] of items) stored.set(key, { item, values: this.#indices.evaluate(key, item) });
    const indices = this.#indices.emptied();
    for (const [key, { values }] of stored) indices.move(key, undefined, values);
    this.#items = stored;
    this.#indices = indices;
    this.#moveTo(resourceVersion);
  }

  /** Items that share a value of this index with the given one, each once. */
  index(indexName: string, item: Item): Item[] {
    return this.#itemsOf(this.#indices.keysLike(indexName, item));
  }

  /** Keys of the items with this value, sorted. */
  indexKeys(indexName: string, value: string): string[] {
    return [...this.#indices.keys(indexName, value)].sort();
  }

  /** All values of this index; none of an unknown one, as in client-go. */
  listIndexFuncValues(indexName: string): string[] {
    return this.#indices.values(indexName);
  }

  byIndex(indexName: string, value: string): Item[] {
    return this.#itemsOf(this.#indices.keys(indexName, value));
  }

  /** A copy. (client-go gives its own map, unlocked.) */
  getIndexers(): IndexValuesFunctions<Item> {
    return this.#indices.indexers;
  }

  /**
   * The items that are there are indexed before it returns.
   *
   * @throws ERR_KUBELOOM_INDEXER_CONFLICT, ERR_KUBELOOM_INDEX_FUNCTION, and nothing was added
   */
  addIndexers(indexers: IndexValuesFunctions<Item>): void {
    this.#indices.wantNew(indexers);
    const added = new Indices(indexers);
    const stored = new Map<string, Stored<Item>>();
    for (const [key, { item, values }] of this.#items) {
      const addedValues = added.evaluate(key, item);
      added.move(key, undefined, addedValues);
      stored.set(key, { item, values: [...values, ...addedValues] });
    }
    this.#indices.append(added);
    this.#items = stored;
  }

  /** A server's word that nothing up to this version is missing. */
  bookmark(resourceVersion: string): void {
    this.#moveTo(resourceVersion);
  }

  /** Of the last write or bookmark; '' before the first. The last one wins, not the highest. */
  lastStoreSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  /**
   * All writes at once. One whose index function throws is left out and reported. The store's resourceVersion
   * is then that of the last one that was done.
   */
  transaction(transactions: readonly KeyedTransaction<Item>[]): TransactionError | undefined {
    return this.transactionOf(transactions, (transaction) => transaction);
  }

  /** The same for writes whose keys are yet to be found; one for which `keyed` throws is left out as well. */
  transactionOf<Write>(
    writes: readonly Write[],
    keyed: (write: Write) => KeyedTransaction<Item>,
  ): TransactionError | undefined {
    const prepared: { readonly write: KeyedTransaction<Item>; readonly values: ItemValues | undefined }[] =
      [];
    const successfulIndices: number[] = [];
    const errors: Error[] = [];
    for (const [position, unkeyed] of writes.entries()) {
      try {
        const write = keyed(unkeyed);
        const isDelete = write.type === 'delete';
        prepared.push({
          write,
          values: isDelete ? undefined : this.#indices.evaluate(write.key, write.object),
        });
        successfulIndices.push(position);
      } catch (error) {
        errors.push(error as Error);
      }
    }
    for (const { write, values } of prepared) {
      if (values) this.#put(write.key, write.object, values);
      else this.#remove(write.key);
    }
    this.#moveTo(resourceVersionOf(prepared.at(-1)?.write.object));
    return errors.length > 0 ? new TransactionError(successfulIndices, writes.length, errors) : undefined;
  }

  #put(key: string, item: Item, values: ItemValues): void {
    this.#indices.move(key, this.#items.get(key)?.values, values);
    this.#items.set(key, { item, values });
  }

  #remove(key: string): void {
    this.#indices.move(key, this.#items.get(key)?.values, undefined);
    this.#items.delete(key);
  }

  #itemsOf(keys: Iterable<string>): Item[] {
    const items: Item[] = [];
    for (const key of keys) {
      const stored = this.#items.get(key);
      if (stored) items.push(stored.item);
    }
    return items;
  }

  /** What has no resourceVersion leaves the store's as it is. */
  #moveTo(resourceVersion: string | undefined): void {
    if (resourceVersion === undefined) return;
    this.#resourceVersion = resourceVersion;
    if (!this.#metrics || !/^[0-9]*$/.test(resourceVersion)) return;
    this.#metrics.setResourceVersion(Number(resourceVersion.slice(-METRIC_DIGITS_MAX)));
  }
}
