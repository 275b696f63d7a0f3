/** A store that pushes its whole content after every change, for consumers that process states, not changes. */
import { IndexedStore } from './indexed-store.ts';
import type { KeyFunction } from '../../kube/store.ts';
import type { Transaction, TransactionError } from './transaction.ts';

export class UndeltaStore<Item> extends IndexedStore<Item> {
  readonly #push: (items: Item[]) => void;

  /** @param push called after every add, update, delete, replace and transaction, with a new array */
  constructor(push: (items: Item[]) => void, keyFunction: KeyFunction<Item>) {
    super(keyFunction, {}, {});
    this.#push = push;
  }

  override add(item: Item): void {
    super.add(item);
    this.#push(this.list());
  }

  override update(item: Item): void {
    super.update(item);
    this.#push(this.list());
  }

  override delete(item: Item): void {
    super.delete(item);
    this.#push(this.list());
  }

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
