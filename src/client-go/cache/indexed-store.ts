/**
 * client-go's Store and Indexer: a store whose keys come from the items. It stores the objects themselves, not copies.
 * A write that throws leaves the store unchanged.
 */
import { callback } from '../../base/option-checks.ts';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { keyOf } from '../../kube/keys.ts';
import type { IndexValuesFunctions, Indexer, KeyFunction, Store } from '../../kube/store.ts';
import { IndexedItems } from './thread-safe-store.ts';
import type {
  ThreadSafeStoreOptions,
  Transaction,
  TransactionError,
  TransactionStore,
} from './thread-safe-store.ts';

/** Options of a store. */
export interface StoreOptions<Item> extends ThreadSafeStoreOptions {
  /** Returns the value to store in place of an item. The key is computed from the original item. */
  readonly transformer?: (item: Item) => Item;
}

/** Creates a store. @param keyFunction `metaNamespaceKeyFunc` for Kubernetes objects */
export function newStore<Item>(
  keyFunction: KeyFunction<Item>,
  options: StoreOptions<Item> = {},
): Store<Item> & TransactionStore<Item> {
  return new IndexedStore(keyFunction, {}, options);
}

/** Creates a store with indexes. @param keyFunction `metaNamespaceKeyFunc` for Kubernetes objects */
export function newIndexer<Item>(
  keyFunction: KeyFunction<Item>,
  indexers: IndexValuesFunctions<Item>,
  options: StoreOptions<Item> = {},
): Indexer<Item> & TransactionStore<Item> {
  return new IndexedStore(keyFunction, indexers, options);
}

class IndexedStore<Item> extends IndexedItems<Item> implements Indexer<Item>, TransactionStore<Item> {
  readonly #keyFunction: KeyFunction<Item>;
  readonly #transformer: ((item: Item) => Item) | undefined;

  constructor(
    keyFunction: KeyFunction<Item>,
    indexers: IndexValuesFunctions<Item>,
    options: StoreOptions<Item>,
  ) {
    super(indexers, options);
    callback('keyFunction', keyFunction);
    if (options.transformer !== undefined) callback('transformer', options.transformer);
    this.#keyFunction = keyFunction;
    this.#transformer = options.transformer;
  }

  add(item: Item): void {
    this.write(keyOf(this.#keyFunction, item), this.#transformed(item));
  }

  update(item: Item): void {
    this.write(keyOf(this.#keyFunction, item), this.#transformed(item));
  }

  delete(item: Item): void {
    this.remove(keyOf(this.#keyFunction, item), item);
  }

  /** Replaces all items, or none if an item has no key. If two items share a key, the last item counts. */
  replace(items: readonly Item[], resourceVersion: string): void {
    const keyed = items.map((item) => [keyOf(this.#keyFunction, item), this.#transformed(item)] as const);
    this.replaceAll(keyed, resourceVersion);
  }

  /** No effect: only queues resync. */
  resync(): void {}

  transaction(transactions: readonly Transaction<Item>[]): TransactionError | undefined {
    return this.transactionOf(transactions, ({ type, object }) => {
      const key = keyOf(this.#keyFunction, object);
      return { type, key, object: type === 'delete' ? object : this.#transformed(object) };
    });
  }

  get(item: Item): Item | undefined {
    return this.item(keyOf(this.#keyFunction, item));
  }

  getByKey(key: string): Item | undefined {
    return this.item(key);
  }

  #transformed(item: Item): Item {
    if (!this.#transformer) return item;
    try {
      return this.#transformer(item);
    } catch (cause) {
      const reason = messageOf(cause);
      throw new KubeloomError('ERR_KUBELOOM_TRANSFORM', `transforming: ${reason}`, { cause });
    }
  }
}

/** A store that pushes the whole content after every change, for consumers that process states, not changes. */
export class UndeltaStore<Item> extends IndexedStore<Item> {
  readonly #push: (items: Item[]) => void;

  /** @param push called after every add, update, delete, replace and transaction, with a new array */
  constructor(push: (items: Item[]) => void, keyFunction: KeyFunction<Item>) {
    super(keyFunction, {}, {});
    this.#push = push;
  }

  /** Adds or replaces the item and calls `push`. @throws ERR_KUBELOOM_KEY without a call of `push` */
  override add(item: Item): void {
    super.add(item);
    this.#push(this.list());
  }

  /** Adds or replaces the item, as `add` does. @throws ERR_KUBELOOM_KEY without a call of `push` */
  override update(item: Item): void {
    super.update(item);
    this.#push(this.list());
  }

  /**
   * Deletes the item and calls `push`, also for an item that is not stored.
   *
   * @throws ERR_KUBELOOM_KEY without a call of `push`
   */
  override delete(item: Item): void {
    super.delete(item);
    this.#push(this.list());
  }

  /**
   * Replaces all items and calls `push` once.
   *
   * @throws ERR_KUBELOOM_KEY without a call of `push`; the store is unchanged
   */
  override replace(items: readonly Item[], resourceVersion: string): void {
    super.replace(items, resourceVersion);
    this.#push(this.list());
  }

  /** Calls `push` once for all writes. */
  override transaction(transactions: readonly Transaction<Item>[]): TransactionError | undefined {
    const error = super.transaction(transactions);
    this.#push(this.list());
    return error;
  }
}
