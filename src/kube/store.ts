/**
 * client-go's Store and Indexer. Informers provide the readers; the writing halves are generic and store any
 * item. A query reads a single state; returned arrays are copies.
 */

/** Returns the key of an item. Throws ERR_KUBELOOM_KEY for an item without a key. */
export type KeyFunction<Item> = (item: Item) => string;

/** Returns the values under which an index finds an item. */
export type IndexValuesFunction<Item> = (item: Item) => readonly string[];

/** Reads a store. */
export interface StoreReader<Item> {
  /** Returns all items in a new array. */
  list(): Item[];
  /** Returns all keys in a new array. */
  listKeys(): string[];
  /** Returns the stored item with the key of this item. */
  get(item: Item): Item | undefined;
  /** Returns the item of this key; undefined if the store does not contain the key. */
  getByKey(key: string): Item | undefined;
  /** Number of items. */
  readonly size: number;
  /** Returns the resourceVersion of the last write in the store, '' before the first: for read-your-writes. */
  lastStoreSyncResourceVersion(): string;
}

/** The target of a reflector: a store, or a queue that feeds a store. */
export interface ReflectorStore<Item> {
  /** Receives the object of an `ADDED` event. */
  add(item: Item): void;
  /** Receives the object of a `MODIFIED` event. */
  update(item: Item): void;
  /** Receives the object of a `DELETED` event. */
  delete(item: Item): void;
  /** Replaces everything at once; objects that are not among the items are removed. */
  replace(items: readonly Item[], resourceVersion: string): void;
  /** Called at every resync period: a queue delivers the known objects again; other stores do no work. */
  resync(): void;
  /** Records that the server has sent every change up to this version. */
  bookmark?(resourceVersion: string): void;
}

/** A store of objects by key. */
export interface Store<Item> extends StoreReader<Item>, ReflectorStore<Item> {
  /** Records that the server has sent every change up to this version. */
  bookmark(resourceVersion: string): void;
}

/** Queries by index. @typeParam Indexers index functions by the names that queries accept */
export interface IndexerReader<Item, Indexers> extends StoreReader<Item> {
  /** Returns the items that share a value of this index with the given item. */
  index(indexName: keyof Indexers & string, item: Item): Item[];
  /** Returns the keys of the items with this value, sorted. */
  indexKeys(indexName: keyof Indexers & string, value: string): string[];
  /** Returns all values of this index; empty for an unknown index, as in client-go. */
  listIndexFuncValues(indexName: keyof Indexers & string): string[];
  /** Returns the items with this value, in a new array. */
  byIndex(indexName: keyof Indexers & string, value: string): Item[];
  /** Returns a copy. */
  getIndexers(): Indexers;
  /** Adds indexers, at any time: existing items are indexed before it returns. If a name is taken, none is added. */
  addIndexers(indexers: Readonly<Record<string, Indexers[keyof Indexers]>>): void;
}

/** Index functions by name. */
export type IndexValuesFunctions<Item> = Readonly<Record<string, IndexValuesFunction<Item>>>;

/** A store with indexes. */
export interface Indexer<Item> extends Store<Item>, IndexerReader<Item, IndexValuesFunctions<Item>> {}
