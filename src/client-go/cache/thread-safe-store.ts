/**
 * client-go's ThreadSafeStore: items under keys that the caller gives, with indices.
 *
 * The name is client-go's; a JavaScript store needs no lock. The guarantees of the lock remain: every query reads one
 * state, `replace` and transactions are atomic, and returned arrays are copies. Beyond client-go: all index functions
 * run before the write, so a function that throws leaves the store and every index unchanged. (client-go panics with
 * the item stored and some indices updated.) Items are listed in the order in which their keys were added.
 */
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { anArray, anObject, checkFinite } from '../../base/option-checks.ts';
import { resourceVersionOf } from '../../kube/meta-shape.ts';
import { Indices } from './indices.ts';
import type { ItemValues } from './indices.ts';
import type { IndexValuesFunctions } from '../../kube/store.ts';

/** A gauge. The store calls it after every write that changed the store's resourceVersion. */
export interface StoreMetrics {
  /** Sets the last 15 digits as a number: more would lose precision. Not called for a version that is not decimal. */
  setResourceVersion(resourceVersion: number): void;
}

/** Options of an indexed store. */
export interface ThreadSafeStoreOptions {
  /** Gauge of the store's resourceVersion. Default: none. */
  readonly metrics?: StoreMetrics;
}

/**
 * A write of a transaction: no reader sees only a part of the transaction. A write that fails (no key, a transform or
 * an index function that throws) is left out and reported; the others are done.
 */
export interface Transaction<Item> {
  /** `add` and `update` both add the object or replace the object of the key. */
  readonly type: 'add' | 'update' | 'delete';
  /** The object to store; of a `delete`, the deleted object. */
  readonly object: Item;
}

/** A transaction with a computed key. */
export interface KeyedTransaction<Item> extends Transaction<Item> {
  /** Key of the object in the store. */
  readonly key: string;
}

/** A store that takes several changes at once. */
export interface TransactionStore<Item> {
  /**
   * Does all writes at once: no reader sees only a part of them. Leaves out a write that fails.
   *
   * @returns which writes were left out and why; undefined when all were done
   */
  transaction(transactions: readonly Transaction<Item>[]): TransactionError | undefined;
}

/** Some writes of a transaction were left out. `cause` is the first of `errors`. */
export class TransactionError extends KubeloomError {
  /** Always `TransactionError`. */
  override readonly name: string = 'TransactionError';
  /** Positions of the writes that were done. */
  readonly successfulIndices: readonly number[];
  /** Number of writes in the transaction, done or left out. */
  readonly totalTransactions: number;
  /** Errors of the writes that were left out, in order. */
  readonly errors: readonly Error[];

  constructor(successfulIndices: readonly number[], totalTransactions: number, errors: readonly Error[]) {
    anArray('successfulIndices', successfulIndices);
    checkFinite('totalTransactions', totalTransactions);
    anArray('errors', errors);
    const failed = `${totalTransactions - successfulIndices.length}/${totalTransactions}`;
    const reasons = [...new Set(errors.map(messageOf))].join('; ');
    super('ERR_KUBELOOM_TRANSACTION', `failed to execute (${failed}) transactions: ${reasons}`, {
      cause: errors[0],
    });
    this.successfulIndices = successfulIndices;
    this.totalTransactions = totalTransactions;
    this.errors = errors;
  }
}

interface Stored<Item> {
  readonly item: Item;
  readonly values: ItemValues;
}

const METRIC_DIGITS_MAX = 15;

/** Stored items and their indices: the common part of stores with given keys and stores with a key function. */
export abstract class IndexedItems<Item> {
  #items: Map<string, Stored<Item>> = new Map();
  #indices: Indices<Item>;
  #resourceVersion = '';
  readonly #metrics: StoreMetrics | undefined;

  constructor(indexers: IndexValuesFunctions<Item> = {}, options: ThreadSafeStoreOptions = {}) {
    anObject('indexers', indexers);
    anObject('options of a store', options);
    this.#indices = new Indices(indexers);
    this.#metrics = options.metrics;
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

  /** Returns the items that share a value of this index with the given item, each item once. */
  index(indexName: string, item: Item): Item[] {
    return this.#itemsOf(this.#indices.keysLike(indexName, item));
  }

  /** Returns the keys of the items with this value, sorted. */
  indexKeys(indexName: string, value: string): string[] {
    return [...this.#indices.keys(indexName, value)].sort();
  }

  /** Returns all values of this index; empty for an unknown index, as in client-go. */
  listIndexFuncValues(indexName: string): string[] {
    return this.#indices.values(indexName);
  }

  byIndex(indexName: string, value: string): Item[] {
    return this.#itemsOf(this.#indices.keys(indexName, value));
  }

  /** Returns a copy. (client-go returns the internal map, unlocked.) */
  getIndexers(): IndexValuesFunctions<Item> {
    return this.#indices.indexers;
  }

  /**
   * Adds indexers and indexes the present items before it returns.
   *
   * @throws ERR_KUBELOOM_INDEXER_CONFLICT, ERR_KUBELOOM_INDEX_FUNCTION; the indexers are unchanged
   */
  addIndexers(indexers: IndexValuesFunctions<Item>): void {
    this.#indices.requireNew(indexers);
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

  /** Records that the server sent every change up to this version. */
  bookmark(resourceVersion: string): void {
    this.#moveTo(resourceVersion);
  }

  /**
   * Returns the version of the last write or bookmark, which may be lower than an earlier version; '' before the first.
   */
  lastStoreSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  protected item(key: string): Item | undefined {
    return this.#items.get(key)?.item;
  }

  protected write(key: string, item: Item): void {
    const values = this.#indices.evaluate(key, item);
    this.#put(key, item, values);
    this.#moveTo(resourceVersionOf(item));
  }

  protected remove(key: string, object: unknown): void {
    this.#remove(key);
    this.#moveTo(resourceVersionOf(object));
  }

  protected replaceAll(items: Iterable<readonly [key: string, item: Item]>, resourceVersion: string): void {
    const stored = new Map<string, Stored<Item>>();
    for (const [key, item] of items) stored.set(key, { item, values: this.#indices.evaluate(key, item) });
    const indices = this.#indices.emptied();
    for (const [key, { values }] of stored) indices.move(key, undefined, values);
    this.#items = stored;
    this.#indices = indices;
    this.#moveTo(resourceVersion);
  }

  /**
   * Does all writes in a synchronous step. Leaves out and reports a write for which `keyed` or an index function
   * throws.
   */
  protected transactionOf<Write>(
    writes: readonly Write[],
    keyed: (write: Write) => KeyedTransaction<Item>,
  ): TransactionError | undefined {
    const prepared: [write: KeyedTransaction<Item>, values: ItemValues | undefined][] = [];
    const successfulIndices: number[] = [];
    const errors: Error[] = [];
    for (const [position, unkeyed] of writes.entries()) {
      try {
        const write = keyed(unkeyed);
        const { type, key, object } = write;
        prepared.push([write, type === 'delete' ? undefined : this.#indices.evaluate(key, object)]);
        successfulIndices.push(position);
      } catch (error) {
        errors.push(error as Error);
      }
    }
    for (const [{ key, object }, values] of prepared) {
      if (values) this.#put(key, object, values);
      else this.#remove(key);
    }
    this.#moveTo(resourceVersionOf(prepared.at(-1)?.[0].object));
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

  /** Sets the store's resourceVersion; undefined leaves it unchanged. */
  #moveTo(resourceVersion: string | undefined): void {
    if (resourceVersion === undefined) return;
    this.#resourceVersion = resourceVersion;
    if (!this.#metrics || !/^[0-9]*$/.test(resourceVersion)) return;
    this.#metrics.setResourceVersion(Number(resourceVersion.slice(-METRIC_DIGITS_MAX)));
  }
}

/** client-go's indexed store. */
export class ThreadSafeStore<Item> extends IndexedItems<Item> {
  /**
   * Stores the item under the key, in the place of an earlier item, and takes over the item's resourceVersion.
   *
   * @throws ERR_KUBELOOM_INDEX_FUNCTION; the store is unchanged
   */
  add(key: string, item: Item): void {
    this.write(key, item);
  }

  /**
   * Stores the item as `add` does; an unknown key is added.
   *
   * @throws ERR_KUBELOOM_INDEX_FUNCTION; the store is unchanged
   */
  update(key: string, item: Item): void {
    this.write(key, item);
  }

  /** Deletes as `deleteWithObject` does without an object: the store's resourceVersion does not change. */
  delete(key: string): void {
    this.remove(key, undefined);
  }

  /**
   * Deletes the item of the key, if it is stored.
   *
   * @param object the deleted object: the store takes over the object's resourceVersion
   */
  deleteWithObject(key: string, object: unknown): void {
    this.remove(key, object);
  }

  /** Returns the stored item itself, not a copy; undefined for an unknown key. */
  get(key: string): Item | undefined {
    return this.item(key);
  }

  /**
   * Replaces all items at once.
   *
   * @throws ERR_KUBELOOM_INDEX_FUNCTION; the store is unchanged
   */
  replace(items: Iterable<readonly [key: string, item: Item]>, resourceVersion: string): void {
    this.replaceAll(items, resourceVersion);
  }

  /**
   * Does all writes at once. Leaves out and reports a write whose index function throws. The store takes over the
   * resourceVersion of the last write done.
   */
  transaction(transactions: readonly KeyedTransaction<Item>[]): TransactionError | undefined {
    return this.transactionOf(transactions, (transaction) => transaction);
  }

  /** Does the same for writes without keys; also leaves out a write for which `keyed` throws. */
  override transactionOf<Write>(
    writes: readonly Write[],
    keyed: (write: Write) => KeyedTransaction<Item>,
  ): TransactionError | undefined {
    return super.transactionOf(writes, keyed);
  }
}
