/**
 * The read side of a replica that users hold: client-go's Store and Indexer, read-only. Every query is answered from
 * one state (contract C5) and returns a new array of entries, readable for as long as you keep them.
 */
import type { IndexerReader, StoreReader } from '../../kube/store.ts';
import { realClock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { isEntry, isFinalStateUnknown, isRecord } from '../../kube/meta-shape.ts';
import type { LabelSelector } from '../../kube/label-selector.ts';
import { NONE } from './columns.ts';
import type { Entry } from './entry.ts';
import type { Borrowed, CachedObject } from './cached-object.ts';
import type { ObjectFacts } from './extracted-fields.ts';
import type { NAMESPACE_INDEX, Indexers } from './index-functions.ts';
import type { SlotIndex } from './slots-by-namespace.ts';
import type { IndexSet } from './replica-state.ts';
import type { Replica } from './replica.ts';
import { scan } from './scan.ts';
import type { ScanPace } from './scan.ts';

/** An entry of any type, or an object as the server sends it. */
export type Keyed =
  | { readonly key: string }
  | { readonly metadata?: { readonly namespace?: string | undefined; readonly name?: string | undefined } };

interface KeyParts {
  readonly key?: string;
  readonly metadata?: { readonly namespace?: string | undefined; readonly name?: string | undefined };
}

export interface InformerStore<T> extends StoreReader<CachedObject<T>> {
  /** Returns the cached object with the same key as this entry or plain object. */
  get(object: Keyed): CachedObject<T> | undefined;
}

/** The queries of listers. */
export interface SelectableStore<T> {
  getByKey(key: string): CachedObject<T> | undefined;
  /** Selects in one namespace, or in all for ''. Reads extracted labels: no object is parsed. */
  select(selector: LabelSelector, namespace: string): CachedObject<T>[];
  /** Selects in the same way over one snapshot, and lets the event loop run in between. */
  scan(selector: LabelSelector, namespace: string): AsyncGenerator<Borrowed<T>, void, undefined>;
  /**
   * @internal
   * @throws ERR_KUBELOOM_NOT_STARTED while the informer was never started, because an empty result would be wrong
   */
  wantStarted?(): void;
}

/** @typeParam Name names of its indexes, which queries accept; `string` accepts all */
export interface InformerIndexer<T, Name extends string = string>
  extends
    InformerStore<T>,
    SelectableStore<T>,
    IndexerReader<CachedObject<T>, Indexers<T, Name | typeof NAMESPACE_INDEX>> {
  getByKey(key: string): CachedObject<T> | undefined;
  get(object: Keyed): CachedObject<T> | undefined;
  /** Returns the number of objects that `byIndex` would find, without reading them. */
  countByIndex(indexName: Name | typeof NAMESPACE_INDEX, value: string): number;
  /** Adds indexes as `addIndexers` of the informer. Returns this indexer, for queries of the added ones. */
  addIndexers<Added extends string>(indexers: Indexers<T, Added>): InformerIndexer<T, Added>;
}

/** @internal */
export class ReplicaIndexer<T> implements InformerIndexer<T> {
  readonly #replica: Replica;
  readonly #indexes: IndexSet;
  readonly #pace: ScanPace;
  readonly #admit: (indexers: Indexers<T>) => void;
  readonly wantStarted: () => void;

  /** @param admit throws when they cannot be added now @param wantStarted throws when the informer was never started */
  constructor(
    replica: Replica,
    indexes: IndexSet,
    admit: (indexers: Indexers<T>) => void = () => undefined,
    wantStarted: () => void = () => undefined,
    pace: ScanPace = { clock: realClock, budgetMs: 1 },
  ) {
    this.#replica = replica;
    this.#indexes = indexes;
    this.#pace = pace;
    this.#admit = admit;
    this.wantStarted = wantStarted;
  }

  list(): CachedObject<T>[] {
    const entries: CachedObject<T>[] = [];
    for (const slot of this.#replica.live.slots()) entries.push(this.#handOut(slot));
    return entries;
  }

  select(selector: LabelSelector, namespace: string): CachedObject<T>[] {
    const entries: CachedObject<T>[] = [];
    for (const slot of this.#slotsIn(namespace)) {
      if (selector.isEverything || selector.matches(this.#factsOf(slot).fields.labels)) {
        entries.push(this.#handOut(slot));
      }
    }
    return entries;
  }

  scan(selector: LabelSelector, namespace: string): AsyncGenerator<Borrowed<T>, void, undefined> {
    const matches = (entry: Entry): boolean =>
      (namespace === '' || entry.namespace === namespace) &&
      (selector.isEverything || selector.matches(entry.labels));
    const scanned = scan(this.#replica, this.#pace, matches);
    return scanned as AsyncGenerator<unknown, void, undefined> as AsyncGenerator<
      Borrowed<T>,
      void,
      undefined
    >;
  }

  listKeys(): string[] {
    return [...this.#replica.live.keys()];
  }

  get(object: Keyed): CachedObject<T> | undefined {
    return this.getByKey(keyOf(object));
  }

  getByKey(key: string): CachedObject<T> | undefined {
    const slot = this.#replica.live.get(key);
    return slot === NONE ? undefined : this.#handOut(slot);
  }

  get size(): number {
    return this.#replica.live.size;
  }

  lastStoreSyncResourceVersion(): string {
    return this.#replica.live.resourceVersion;
  }

  index(indexName: string, object: CachedObject<T>): CachedObject<T>[] {
    const index = this.#require(indexName);
    const values = this.#indexes.valuesIn(indexName, object as unknown as Entry);
    const found = new Set<number>();
    for (const value of values) {
      for (const slot of index.get(value) ?? []) found.add(slot);
    }
    return Array.from(found, (slot) => this.#handOut(slot));
  }

  indexKeys(indexName: string, value: string): string[] {
    const slots = this.#require(indexName).get(value) ?? [];
    return Array.from(slots, (slot) => this.#factsOf(slot).key).sort();
  }

  listIndexFuncValues(indexName: string): string[] {
    return [...(this.#replica.live.index(indexName)?.keys() ?? [])];
  }

  byIndex(indexName: string, value: string): CachedObject<T>[] {
    return Array.from(this.#require(indexName).get(value) ?? [], (slot) => this.#handOut(slot));
  }

  countByIndex(indexName: string, value: string): number {
    return this.#require(indexName).get(value)?.size ?? 0;
  }

  getIndexers(): Indexers<T> {
    return this.#indexes.indexers;
  }

  addIndexers(indexers: Indexers<T>): this {
    this.#admit(indexers);
    this.#replica.addIndexers(indexers as Indexers);
    return this;
  }

  #slotsIn(namespace: string): Iterable<number> {
    if (namespace === '') return this.#replica.live.slots();
    return this.#replica.live.inNamespace(namespace);
  }

  #require(indexName: string): SlotIndex {
    const index = this.#replica.live.index(indexName);
    if (index) return index;
    throw new KubeloomError(
      'ERR_KUBELOOM_NO_INDEX',
      `index ${indexName} does not exist: add it with addIndexers()`,
    );
  }

  #factsOf(slot: number): ObjectFacts {
    return this.#replica.table.factsOf(this.#replica.live.rowAt(slot));
  }

  #handOut(slot: number): CachedObject<T> {
    const entry = this.#replica.live.entryAt(slot);
    entry.owner.keep(entry);
    return entry as unknown as CachedObject<T>;
  }
}

/** Returns the key of an entry, or of an object by its metadata. An object of a server may have a member `key`, too. */
function keyOf(object: Keyed): string {
  const { key, metadata }: KeyParts = isOurs(object) ? { key: object.key } : object;
  if (!isRecord(metadata)) return key ?? '';
  const { namespace = '', name = '' } = metadata;
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Returns whether `key` is its key. Its metadata may be of an expired entry. */
function isOurs(object: Keyed): object is { readonly key: string } {
  return isEntry(object) || isFinalStateUnknown(object);
}
