/**
 * The read side of a replica, as users hold it: client-go's Store and Indexer, read-only. Every query is
 * answered from one state (contract C5) and returns a new array of entries that are good for as long as
 * you hold them.
 */
import { KubeloomError } from '../errors.ts';
import { EntryFlag } from './entry.ts';
import type { CachedObject, Entry } from './entry.ts';
import type { Indexers } from './index-functions.ts';
import type { IndexSet } from './index-values.ts';
import type { Replica } from './replica.ts';
import type { Slot } from './replica-state.ts';

export interface Store<T> {
  /** All objects, in the order in which the server first listed them. */
  list(): CachedObject<T>[];
  listKeys(): string[];
  /** The cached object with the key of this one. */
  get(object: { readonly key: string }): CachedObject<T> | undefined;
  getByKey(key: string): CachedObject<T> | undefined;
  readonly size: number;
  /** resourceVersion of the last event that is in the store: for read-your-writes. */
  lastStoreSyncResourceVersion(): string;
}

export interface Indexer<T> extends Store<T> {
  /** Objects that share a value of this index with the given one. */
  index(indexName: string, object: CachedObject<T>): CachedObject<T>[];
  /** Keys of the objects with this value, sorted. */
  indexKeys(indexName: string, value: string): string[];
  /** All values of this index; empty for an unknown one, as in client-go. */
  listIndexFuncValues(indexName: string): string[];
  byIndex(indexName: string, value: string): CachedObject<T>[];
  getIndexers(): Indexers<T>;
  /** Also with data present: existing objects are indexed before it returns. */
  addIndexers(indexers: Indexers<T>): void;
}

export class ReplicaIndexer<T> implements Indexer<T> {
  readonly #replica: Replica;
  readonly #indexes: IndexSet;
  readonly #admit: (indexers: Indexers<T>) => void;

  /** @param admit throws when these indexers cannot be added now */
  constructor(replica: Replica, indexes: IndexSet, admit: (indexers: Indexers<T>) => void = () => undefined) {
    this.#replica = replica;
    this.#indexes = indexes;
    this.#admit = admit;
  }

  list(): CachedObject<T>[] {
    const entries: CachedObject<T>[] = [];
    for (const slot of this.#replica.live.slots()) entries.push(this.#handOut(slot));
    return entries;
  }

  listKeys(): string[] {
    return [...this.#replica.live.keys()];
  }

  get(object: { readonly key: string }): CachedObject<T> | undefined {
    return this.getByKey(object.key);
  }

  getByKey(key: string): CachedObject<T> | undefined {
    const slot = this.#replica.live.get(key);
    return slot && this.#handOut(slot);
  }

  get size(): number {
    return this.#replica.live.size;
  }

  lastStoreSyncResourceVersion(): string {
    return this.#replica.live.resourceVersion;
  }

  index(indexName: string, object: CachedObject<T>): CachedObject<T>[] {
    const index = this.#require(indexName);
    const values = this.#indexes.valuesOf(object as unknown as Entry, undefined);
    const found = new Set<Slot>();
    for (const value of values[this.#indexes.names.indexOf(indexName)] ?? []) {
      for (const slot of index.get(value) ?? []) found.add(slot);
    }
    return Array.from(found, (slot) => this.#handOut(slot));
  }

  indexKeys(indexName: string, value: string): string[] {
    const slots = this.#require(indexName).get(value) ?? [];
    return Array.from(slots, (slot) => slot.identity.key).sort();
  }

  listIndexFuncValues(indexName: string): string[] {
    return [...(this.#replica.live.index(indexName)?.keys() ?? [])];
  }

  byIndex(indexName: string, value: string): CachedObject<T>[] {
    return Array.from(this.#require(indexName).get(value) ?? [], (slot) => this.#handOut(slot));
  }

  getIndexers(): Indexers<T> {
    return this.#indexes.indexers;
  }

  addIndexers(indexers: Indexers<T>): void {
    this.#admit(indexers);
    this.#replica.addIndexers(indexers as Indexers);
  }

  #require(indexName: string): ReadonlyMap<string, ReadonlySet<Slot>> {
    const index = this.#replica.live.index(indexName);
    if (index) return index;
    throw new KubeloomError('ERR_KUBELOOM_NO_INDEX', `Index with name ${indexName} does not exist`);
  }

  #handOut(slot: Slot): CachedObject<T> {
    slot.entry.flags |= EntryFlag.Kept;
    return slot.entry as unknown as CachedObject<T>;
  }
}
