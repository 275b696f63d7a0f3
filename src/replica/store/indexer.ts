/**
 * The read side of a replica that users hold: client-go's Store and Indexer, read-only. Every query reads a single
 * state (contract C5) and returns a new array of entries, readable for as long as you keep them.
 */
import type { IndexerReader, StoreReader } from '../../kube/store.ts';
import { realClock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { isEntry, isFinalStateUnknown, isRecord } from '../../kube/meta-shape.ts';
import type { LabelSelector } from '../../kube/label-selector.ts';
import { NO_ORDINAL } from './columns.ts';
import type { Entry } from './entry.ts';
import type { Borrowed, CachedObject } from './cached-object.ts';
import type { ObjectFacts } from './extracted-fields.ts';
import type { NAMESPACE_INDEX, Indexers } from './index-functions.ts';
import type { OrdinalIndex } from './ordinals-by-namespace.ts';
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

/** Reads the cache of an informer by key. */
export interface InformerStore<T> extends StoreReader<CachedObject<T>> {
  /** Returns the cached object with the same key as this entry or plain object. */
  get(object: Keyed): CachedObject<T> | undefined;
}

/** The queries of listers. */
export interface SelectableStore<T> {
  /** Returns the object with this key, `namespace/name`; undefined if it is not in the cache. */
  getByKey(key: string): CachedObject<T> | undefined;
  /** Selects in a namespace, or in all for ''. Reads extracted labels: no object is parsed. */
  select(selector: LabelSelector, namespace: string): CachedObject<T>[];
  /** Selects in the same way over a snapshot, and lets the event loop run in between. */
  scan(selector: LabelSelector, namespace: string): AsyncGenerator<Borrowed<T>, void, undefined>;
  /**
   * @internal
   * @throws ERR_KUBELOOM_NOT_STARTED while the informer was never started, because an empty result would be wrong
   */
  checkStarted?(): void;
}

/**
 * Reads the cache of an informer, by key, by index and by selector.
 *
 * @typeParam Name names of the indexes, which queries accept; `string` accepts all
 */
export interface InformerIndexer<T, Name extends string = string>
  extends
    InformerStore<T>,
    SelectableStore<T>,
    IndexerReader<CachedObject<T>, Indexers<T, Name | typeof NAMESPACE_INDEX>> {
  /** Returns the object with this key, `namespace/name`; undefined if it is not in the cache. */
  getByKey(key: string): CachedObject<T> | undefined;
  /** Returns the cached object with the key of this entry or plain object; undefined if it is not in the cache. */
  get(object: Keyed): CachedObject<T> | undefined;
  /** Returns the number of objects that `byIndex` would find, without reading them. */
  countByIndex(indexName: Name | typeof NAMESPACE_INDEX, value: string): number;
  /** Adds indexes as `addIndexers` of the informer. Returns this indexer, for queries of the added indexes. */
  addIndexers<Added extends string>(indexers: Indexers<T, Added>): InformerIndexer<T, Added>;
}

/** @internal */
export class ReplicaIndexer<T> implements InformerIndexer<T> {
  readonly #replica: Replica;
  readonly #indexes: IndexSet;
  readonly #pace: ScanPace;
  readonly #admit: (indexers: Indexers<T>) => void;
  readonly checkStarted: () => void;

  /** @param admit throws when they cannot be added now @param checkStarted throws when the informer was never started */
  constructor(
    replica: Replica,
    indexes: IndexSet,
    admit: (indexers: Indexers<T>) => void = () => undefined,
    checkStarted: () => void = () => undefined,
    pace: ScanPace = { clock: realClock, budgetMs: 1 },
  ) {
    this.#replica = replica;
    this.#indexes = indexes;
    this.#pace = pace;
    this.#admit = admit;
    this.checkStarted = checkStarted;
  }

  list(): CachedObject<T>[] {
    const entries: CachedObject<T>[] = [];
    for (const ordinal of this.#replica.live.ordinals()) entries.push(this.#handOut(ordinal));
    return entries;
  }

  select(selector: LabelSelector, namespace: string): CachedObject<T>[] {
    const entries: CachedObject<T>[] = [];
    const { isEverything } = selector;
    for (const ordinal of this.#ordinalsIn(namespace)) {
      if (isEverything || selector.matches(this.#factsOf(ordinal).fields.labels)) {
        entries.push(this.#handOut(ordinal));
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
    const ordinal = this.#replica.live.get(key);
    return ordinal === NO_ORDINAL ? undefined : this.#handOut(ordinal);
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
      for (const ordinal of index.get(value) ?? []) found.add(ordinal);
    }
    return Array.from(found, (ordinal) => this.#handOut(ordinal));
  }

  indexKeys(indexName: string, value: string): string[] {
    const ordinals = this.#require(indexName).get(value) ?? [];
    return Array.from(ordinals, (ordinal) => this.#factsOf(ordinal).key).sort();
  }

  listIndexFuncValues(indexName: string): string[] {
    return [...(this.#replica.live.index(indexName)?.keys() ?? [])];
  }

  byIndex(indexName: string, value: string): CachedObject<T>[] {
    return Array.from(this.#require(indexName).get(value) ?? [], (ordinal) => this.#handOut(ordinal));
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

  #ordinalsIn(namespace: string): Iterable<number> {
    if (namespace === '') return this.#replica.live.ordinals();
    return this.#replica.live.inNamespace(namespace);
  }

  #require(indexName: string): OrdinalIndex {
    const index = this.#replica.live.index(indexName);
    if (index) return index;
    throw new KubeloomError(
      'ERR_KUBELOOM_NO_INDEX',
      `index ${indexName} does not exist: add it with addIndexers()`,
    );
  }

  #factsOf(ordinal: number): ObjectFacts {
    return this.#replica.table.factsOf(this.#replica.live.rowAt(ordinal));
  }

  #handOut(ordinal: number): CachedObject<T> {
    const { live, table } = this.#replica;
    return table.handOut(live.rowAt(ordinal)) as unknown as CachedObject<T>;
  }
}

/**
 * Returns the key of an entry, or of an object by the metadata. An object of a server may also contain a member `key`.
 */
function keyOf(object: Keyed): string {
  const { key, metadata }: KeyParts = isOurs(object) ? { key: object.key } : object;
  if (!isRecord(metadata)) return key ?? '';
  const { namespace = '', name = '' } = metadata;
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Returns whether `key` is the object's key. The metadata of an expired entry may be unreadable. */
function isOurs(object: Keyed): object is { readonly key: string } {
  return isEntry(object) || isFinalStateUnknown(object);
}
