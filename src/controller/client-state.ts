/** The store that a process loop keeps: any `newStore` or `newIndexer` whose key function takes tombstones. */
import type { StoreReader } from '../cache/store.ts';
import type { Transaction, TransactionError } from '../cache/transaction.ts';
import type { MaybeTombstone } from '../queue/delta.ts';

export interface ClientState<Item> extends StoreReader<Item> {
  add(item: Item): void;
  update(item: Item): void;
  delete(item: MaybeTombstone<Item>): void;
  replace(items: readonly Item[], resourceVersion: string): void;
  bookmark(resourceVersion: string): void;
  /** Several changes at once, where the store can. */
  transaction?(transactions: readonly Transaction<MaybeTombstone<Item>>[]): TransactionError | undefined;
}
