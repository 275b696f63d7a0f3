/**
 * client-go's Store and Indexer. The readers are what informers give to everybody; the writing halves are
 * generic and hold what you put in. A query is answered from one state; arrays are the caller's own.
 */

/** From an item to the key it is stored under. Throws ERR_KUBELOOM_KEY when it has none. */
export type KeyFunction<Item> = (item: Item) => string;

/** From an item to the values under which an index finds it. */
export type IndexValuesFunction<Item> = (item: Item) => readonly string[];

export interface StoreReader<Item> {
  list(): Item[];
  listKeys(): string[];
  /** The stored item with the key of this one. */
  get(item: Item): Item | undefined;
  getByKey(key: string): Item | undefined;
  readonly size: number;
  /** resourceVersion of the last write that is in the store, '' before the first: for read-your-writes. */
  lastStoreSyncResourceVersion(): string;
}

/** What a reflector writes into: a store, or a queue that feeds one. */
export interface ReflectorStore<Item> {
  add(item: Item): void;
  update(item: Item): void;
  delete(item: Item): void;
  /** All at once; what is not among the items is gone. */
  replace(items: readonly Item[], resourceVersion: string): void;
  resync(): void;
  /** A server's word that nothing up to this version is missing. */
  bookmark?(resourceVersion: string): void;
}

export interface Store<Item> extends StoreReader<Item>, ReflectorStore<Item> {
  bookmark(resourceVersion: string): void;
}

export interface IndexerReader<Item, Indexers> extends StoreReader<Item> {
  /** Items that share a value of this index with the given one. */
  index(indexName: string, item: Item): Item[];
  /** Keys of the items with this value, sorted. */
  indexKeys(indexName: string, value: string): string[];
  /** All values of this index; empty for an unknown one, as in client-go. */
  listIndexFuncValues(indexName: string): string[];
  byIndex(indexName: string, value: string): Item[];
  /** A copy. */
  getIndexers(): Indexers;
  /** Also with data present: existing items are indexed before it returns. A name that is taken rejects all. */
  addIndexers(indexers: Indexers): void;
}

export type IndexValuesFunctions<Item> = Readonly<Record<string, IndexValuesFunction<Item>>>;

export interface Indexer<Item> extends Store<Item>, IndexerReader<Item, IndexValuesFunctions<Item>> {}
