/**
 * A complete state of an informer's collection: objects by key and by shard id, and the indexes over them.
 *
 * The live state changes with every merged event. A relist fills a second state, the shadow, over many tasks, and a
 * single assignment puts the shadow in the live state's place.
 */
import { disown } from '../../base/thenable.ts';
import { KubeloomError, assert } from '../../base/errors.ts';
import { NO_ORDINAL, NO_ROW, NumberColumns, ObjectColumn } from './columns.ts';
import type { EntryTable } from './entry-table.ts';
import type { Entry } from './entry.ts';
import { NAMESPACE_INDEX, isExtracted, namespaceIndex, extractedValues } from './index-functions.ts';
import type { IndexFunction, Indexers } from './index-functions.ts';
import { ArrivalList } from './arrival-list.ts';
import { OrdinalsByKey } from './ordinals-by-key.ts';
import { OrdinalsByNamespace } from './ordinals-by-namespace.ts';
import type { OrdinalIndex } from './ordinals-by-namespace.ts';

/** Values of an object by index, in the order of the index names, without the index by namespace. */
export type IndexValues = readonly (readonly string[])[];

const NO_VALUES: IndexValues = [];

/** Receives an ordinal before it changes, to keep a row that is not delivered yet. */
export interface StateObserver {
  beforeChange(ordinal: number): void;
  beforeRemove(ordinal: number): void;
}

/** Columns by ordinal that events and walks read. */
const OrdinalColumn = {
  /** The object's current state in the table of entries, plus 1, so that 0 means `NO_ROW`. */
  Row: 0,
  /** The object's place in the difference of the relist in progress. */
  DifferenceAt: 1,
  /** Two columns. */
  Order: 2,
} as const;
const ORDINAL_COLUMNS = 4;

/**
 * Columns by ordinal that change only when an object is added or removed. They are kept apart, so that an event finds
 * the row in less memory.
 */
const LinkColumn = {
  /** See `ListColumns`: the list of all ordinals. */
  Previous: 0,
  Next: 1,
  /** As above, in the list of the namespace. */
  NamespacePrevious: 2,
  NamespaceNext: 3,
  /** See `KeyColumns`. */
  KeyHash: 4,
  KeyNext: 5,
} as const;
const LINK_COLUMNS = 6;

/**
 * Each object gets an ordinal, which stays the same while the object's states change. The ordinal follows from the id
 * that a shard gave to the key, so no search is needed.
 */
export class ReplicaState {
  readonly #table: EntryTable;
  readonly #shards: number;
  readonly #ordinals: NumberColumns = new NumberColumns(ORDINAL_COLUMNS);
  readonly #links: NumberColumns = new NumberColumns(LINK_COLUMNS);
  readonly #byKey: OrdinalsByKey;
  readonly #byNamespace: OrdinalsByNamespace;
  /** Values by ordinal; empty while the only index is by namespace. */
  readonly #values: ObjectColumn<IndexValues> = new ObjectColumn();
  /** The ordinals in order of arrival, which is the order of every delivery of the whole state. */
  readonly #all: ArrivalList;
  /** Order of the next ordinal: it grows with every new ordinal, and cursors compare it with their position. */
  orderEnd = 0;
  readonly #indices: Map<string, Map<string, Set<number>>> = new Map();
  /** The server's version of this state: a string if it is not a number below 2^53. */
  version: number | string = '';
  readonly cursors: Set<StateObserver> = new Set();

  constructor(table: EntryTable, shards: number, indexNames: readonly string[]) {
    this.#table = table;
    this.#shards = shards;
    const links = this.#links;
    const { KeyHash, KeyNext, Previous, Next, NamespacePrevious, NamespaceNext } = LinkColumn;
    const keyOf = (ordinal: number): string => table.keyOf(this.rowAt(ordinal));
    this.#byKey = new OrdinalsByKey({ links, hash: KeyHash, next: KeyNext }, keyOf);
    this.#all = new ArrivalList({ links, previous: Previous, next: Next });
    this.#byNamespace = new OrdinalsByNamespace({ links, previous: NamespacePrevious, next: NamespaceNext });
    for (const name of indexNames) this.#indices.set(name, new Map());
  }

  get resourceVersion(): string {
    return String(this.version);
  }

  get size(): number {
    return this.#all.size;
  }

  /** Returns the ordinal with this key, or `NO_ORDINAL`. */
  get(key: string): number {
    return this.#byKey.get(key);
  }

  /** Returns the ordinal of the object with a shard's id, or `NO_ORDINAL`. */
  at(shard: number, id: number): number {
    const ordinal = id * this.#shards + shard;
    return this.rowAt(ordinal) === NO_ROW ? NO_ORDINAL : ordinal;
  }

  /** Returns the current state of the object with this ordinal, or `NO_ROW` without an object. */
  rowAt(ordinal: number): number {
    return ordinal === NO_ORDINAL ? NO_ROW : this.#ordinals.get(ordinal, OrdinalColumn.Row) - 1;
  }

  valuesAt(ordinal: number): IndexValues {
    return this.#values.get(ordinal) ?? NO_VALUES;
  }

  orderAt(ordinal: number): number {
    return this.#ordinals.getWide(ordinal, OrdinalColumn.Order);
  }

  /** Returns the ordinal that arrived first, or `NO_ORDINAL`. */
  get first(): number {
    return this.#all.first;
  }

  /** Returns the ordinal that arrived next, or `NO_ORDINAL`. */
  after(ordinal: number): number {
    return this.#all.after(ordinal);
  }

  differenceAt(ordinal: number): number {
    return this.#ordinals.get(ordinal, OrdinalColumn.DifferenceAt);
  }

  setDifferenceAt(ordinal: number, place: number): void {
    this.#ordinals.set(ordinal, OrdinalColumn.DifferenceAt, place);
  }

  /** Returns an upper bound of the ordinals, used or not. */
  get ordinalEnd(): number {
    return this.#ordinals.end;
  }

  *keys(): Generator<string> {
    for (const ordinal of this.ordinals()) yield this.#table.keyOf(this.rowAt(ordinal));
  }

  /** Returns all ordinals in order of arrival. No ordinal may be removed during a walk. */
  ordinals(): Iterable<number> {
    return this.#all;
  }

  insert(shard: number, id: number, row: number, values: IndexValues): number {
    const { key, namespace } = this.#table.factsOf(row);
    const ordinal = id * this.#shards + shard;
    assert(this.#byKey.get(key) === NO_ORDINAL, 'the key is in the state already', key);
    const ordinals = this.#ordinals;
    ordinals.reserve(ordinal);
    this.#links.reserve(ordinal);
    this.#byKey.add(key, ordinal);
    this.#byNamespace.add(namespace, ordinal);
    ordinals.set(ordinal, OrdinalColumn.Row, row + 1);
    ordinals.setWide(ordinal, OrdinalColumn.Order, this.orderEnd++);
    this.#all.append(ordinal);
    this.#index(ordinal, values);
    return ordinal;
  }

  /** @param values undefined when they did not change */
  update(ordinal: number, row: number, values: IndexValues | undefined): void {
    for (const observer of this.cursors) observer.beforeChange(ordinal);
    this.#ordinals.set(ordinal, OrdinalColumn.Row, row + 1);
    if (!values) return;
    this.#removeFromIndices(ordinal);
    this.#index(ordinal, values);
  }

  remove(ordinal: number): void {
    for (const observer of this.cursors) observer.beforeRemove(ordinal);
    this.#byKey.remove(ordinal);
    this.#byNamespace.remove(this.#table.factsOf(this.rowAt(ordinal)).namespace, ordinal);
    this.#removeFromIndices(ordinal);
    this.#all.remove(ordinal);
    this.#ordinals.set(ordinal, OrdinalColumn.Row, 0);
  }

  index(name: string): OrdinalIndex | undefined {
    return this.#indices.get(name) ?? (name === NAMESPACE_INDEX ? this.#byNamespace : undefined);
  }

  /** Returns the ordinals of a namespace, whatever index the program declares under the name `namespace`. */
  inNamespace(namespace: string): Iterable<number> {
    return this.#byNamespace.get(namespace) ?? [];
  }

  /** Adds indexes over the present ordinals; `valuesOf` returns an ordinal's values of all indexes, the added last. */
  addIndices(names: readonly string[], valuesOf: (ordinal: number) => IndexValues): void {
    for (const name of names) this.#indices.set(name, new Map());
    for (const ordinal of this.ordinals()) {
      // The ordinal is already in the other indexes, under the same values.
      this.#index(ordinal, valuesOf(ordinal));
    }
  }

  #index(ordinal: number, values: IndexValues): void {
    if (this.#indices.size === 0) return;
    this.#values.set(ordinal, values);
    let at = 0;
    for (const index of this.#indices.values()) {
      for (const value of values[at] ?? []) addTo(index, value, ordinal);
      at++;
    }
  }

  #removeFromIndices(ordinal: number): void {
    if (this.#indices.size === 0) return;
    const values = this.valuesAt(ordinal);
    this.#values.set(ordinal, undefined);
    let at = 0;
    for (const index of this.#indices.values()) {
      for (const value of values[at] ?? []) removeFrom(index, value, ordinal);
      at++;
    }
  }
}

function addTo(index: Map<string, Set<number>>, value: string, ordinal: number): void {
  const ordinals = index.get(value);
  if (ordinals) ordinals.add(ordinal);
  else index.set(value, new Set([ordinal]));
}

function removeFrom(index: Map<string, Set<number>>, value: string, ordinal: number): void {
  const ordinals = index.get(value);
  ordinals?.delete(ordinal);
  if (ordinals?.size === 0) index.delete(value);
}

/** The indexers of an informer. They reuse the values of the previous entry if these cannot have changed. */
export class IndexSet {
  readonly #table: EntryTable;
  readonly #indexers: Map<string, IndexFunction> = new Map();
  readonly #onError: (error: KubeloomError, key: string) => void;
  /** Number of declared fields; the extracted fields after them are the values of index modules. */
  fieldCount: number;
  #hasPlain = false;

  constructor(
    table: EntryTable,
    indexers: Indexers,
    fieldCount: number,
    onError: (error: KubeloomError, key: string) => void,
  ) {
    this.#table = table;
    this.#onError = onError;
    this.fieldCount = fieldCount;
    this.#set(indexers);
  }

  get names(): readonly string[] {
    return [...this.#indexers.keys()];
  }

  get indexers(): Indexers {
    return { [NAMESPACE_INDEX]: namespaceIndex(), ...Object.fromEntries(this.#indexers) };
  }

  /** Adds all indexers or none: an existing name rejects the whole call (client-go: "indexer conflict"). */
  add(indexers: Indexers): void {
    const present = this.indexers;
    const conflicts = Object.keys(indexers).filter((name) => Object.hasOwn(present, name));
    if (conflicts.length > 0) {
      throw new KubeloomError(
        'ERR_KUBELOOM_INDEXER_CONFLICT',
        `indexer conflict: ${conflicts.join(', ')} exist${conflicts.length > 1 ? '' : 's'} already; nothing was added`,
      );
    }
    this.#set(indexers);
  }

  /**
   * Returns the values of a state; undefined if they equal the values of the object's previous state. Runs user
   * functions, so call it before any change.
   *
   * @param isUnchanged true when both states have the same facts
   * @param ordinal of the previous state, in `state`; `NO_ORDINAL` for a new object
   */
  valuesOf(row: number, isUnchanged: boolean, state: ReplicaState, ordinal: number): IndexValues | undefined {
    if (this.#indexers.size === 0) return ordinal === NO_ORDINAL ? NO_VALUES : undefined;
    const table = this.#table;
    if (ordinal === NO_ORDINAL) return this.#evaluate(table.open(row), () => undefined);
    if (isUnchanged && !this.#hasPlain) return undefined;
    const before = state.valuesAt(ordinal);
    const values = this.#evaluate(table.open(row), (at, indexer) =>
      isUnchanged && isExtracted(indexer) ? before[at] : undefined,
    );
    return isEqual(before, values) ? undefined : values;
  }

  /** Returns the index values of a row; the values of the first indexes are already known. */
  completed(row: number, known: IndexValues): IndexValues {
    return this.#evaluate(this.#table.open(row), (at) => known[at]);
  }

  /** Returns the values of an entry in an index, whether the entry is in the cache or not. */
  valuesIn(indexName: string, entry: Entry): readonly string[] {
    const indexer = this.#indexers.get(indexName) ?? namespaceIndex();
    const values = this.#valuesOf(indexName, indexer, entry);
    entry.owner.table.closeEntry(entry);
    return values;
  }

  #evaluate(
    entry: Entry,
    known: (at: number, indexer: IndexFunction) => readonly string[] | undefined,
  ): IndexValues {
    // A growing array reserves room for 17 values, and these arrays are kept.
    const values = Array.from(
      this.#indexers,
      ([name, indexer], at) => known(at, indexer) ?? this.#valuesOf(name, indexer, entry),
    );
    entry.owner.table.closeEntry(entry);
    return values;
  }

  #valuesOf(name: string, indexer: IndexFunction, entry: Entry): readonly string[] {
    return isExtracted(indexer)
      ? extractedValues(name, indexer, entry, this.fieldCount)
      : this.#plainValues(name, indexer, entry);
  }

  #plainValues(name: string, indexer: (entry: Entry) => readonly string[], entry: Entry): readonly string[] {
    entry.owner.table.borrow(entry);
    try {
      return [...new Set(checkTexts(indexer(entry)))];
    } catch (cause) {
      const message = `index function ${name} threw for ${entry.key}; the object has no values in this index`;
      this.#onError(new KubeloomError('ERR_KUBELOOM_INDEX_FUNCTION', message, { cause }), entry.key);
      return [];
    } finally {
      entry.owner.table.endBorrow(entry, `index function ${name}`);
    }
  }

  #set(indexers: Indexers): void {
    for (const [name, indexer] of Object.entries(indexers)) {
      this.#indexers.set(name, indexer);
      if (!isExtracted(indexer)) this.#hasPlain = true;
    }
  }
}

function isEqual(a: IndexValues, b: IndexValues): boolean {
  return (
    a.length === b.length &&
    a.every((values, index) => {
      const others = b[index];
      return others?.length === values.length && values.every((value, place) => value === others[place]);
    })
  );
}

/** Checks the result of an index function: a string would count as a list of letters. */
function checkTexts(values: unknown): readonly string[] {
  disown(values);
  if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values;
  throw new TypeError('it returned no array of strings');
}
