/**
 * One complete state of an informer's collection: objects by key and by shard id, and the indexes over them.
 *
 * The live state changes with every merged event. A relist fills a second one, the shadow, over many tasks, and one
 * assignment puts it in the live state's place.
 */
import { disown } from '../../base/thenable.ts';
import { KubeloomError, assert } from '../../base/errors.ts';
import { NONE, NumberColumns, ObjectColumn } from './columns.ts';
import type { EntryTable } from './entry-table.ts';
import type { Entry } from './entry.ts';
import { NAMESPACE_INDEX, isExtracted, namespaceIndex, extractedValues } from './index-functions.ts';
import type { IndexFunction, Indexers } from './index-functions.ts';
import { SlotList } from './slot-list.ts';
import { SlotsByKey } from './slots-by-key.ts';
import { SlotsByNamespace } from './slots-by-namespace.ts';
import type { SlotIndex } from './slots-by-namespace.ts';

/** Values of one object by index, in the order of the index names. The index that every informer has is not among them. */
export type IndexValues = readonly (readonly string[])[];

const NO_VALUES: IndexValues = [];

/** Receives a slot before it changes, to keep the row that it has not delivered yet. */
export interface StateObserver {
  beforeChange(slot: number): void;
  beforeRemove(slot: number): void;
}

/** Columns of a slot that events and walks read. */
const SlotColumn = {
  /** The object's current state in the table of entries, plus one, so that 0 means `NONE`. */
  Row: 0,
  /** The object's place in the difference of the relist in progress. */
  DifferenceAt: 1,
  /** Two columns. */
  Order: 2,
} as const;
const SLOT_COLUMNS = 4;

/** Columns of a slot that change only when it is added or removed. They are apart, so that an event finds its row in less memory. */
const LinkColumn = {
  /** See `ListColumns`: the list of all slots. */
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
 * Each object has a slot, which stays the same while the object's states change. Its number follows from the id that a
 * shard has given to the key, so it is found without a search.
 */
export class ReplicaState {
  readonly #table: EntryTable;
  readonly #shards: number;
  readonly #slots: NumberColumns = new NumberColumns(SLOT_COLUMNS);
  readonly #links: NumberColumns = new NumberColumns(LINK_COLUMNS);
  readonly #byKey: SlotsByKey;
  readonly #byNamespace: SlotsByNamespace;
  /** Values by slot; none while there is no index but the namespaces. */
  readonly #values: ObjectColumn<IndexValues> = new ObjectColumn();
  /** The slots in order of arrival, which is the order of every delivery of the whole state. */
  readonly #all: SlotList;
  /** Order of the next slot: it grows with every new one, and cursors compare it with their position. */
  orderEnd = 0;
  readonly #indices: Map<string, Map<string, Set<number>>> = new Map();
  /** The server's version of this state: a string where it is not a number that kubeloom can compare. */
  version: number | string = '';
  readonly cursors: Set<StateObserver> = new Set();

  constructor(table: EntryTable, shards: number, indexNames: readonly string[]) {
    this.#table = table;
    this.#shards = shards;
    const links = this.#links;
    const { KeyHash, KeyNext, Previous, Next, NamespacePrevious, NamespaceNext } = LinkColumn;
    const keyOf = (slot: number): string => table.keyOf(this.rowAt(slot));
    this.#byKey = new SlotsByKey({ links, hash: KeyHash, next: KeyNext }, keyOf);
    this.#all = new SlotList({ links, previous: Previous, next: Next });
    this.#byNamespace = new SlotsByNamespace({ links, previous: NamespacePrevious, next: NamespaceNext });
    for (const name of indexNames) this.#indices.set(name, new Map());
  }

  get resourceVersion(): string {
    return String(this.version);
  }

  get size(): number {
    return this.#all.size;
  }

  /** Returns the slot with this key, or `NONE`. */
  get(key: string): number {
    return this.#byKey.get(key);
  }

  /** Returns the slot of the object with a shard's id, or `NONE`. */
  at(shard: number, id: number): number {
    const slot = id * this.#shards + shard;
    return this.rowAt(slot) === NONE ? NONE : slot;
  }

  /** Returns the current state of a slot, or `NONE` when the slot is empty. */
  rowAt(slot: number): number {
    return slot === NONE ? NONE : this.#slots.get(slot, SlotColumn.Row) - 1;
  }

  entryAt(slot: number): Entry {
    return this.#table.open(this.rowAt(slot));
  }

  valuesAt(slot: number): IndexValues {
    return this.#values.get(slot) ?? NO_VALUES;
  }

  orderAt(slot: number): number {
    return this.#slots.getWide(slot, SlotColumn.Order);
  }

  /** Returns the slot that arrived first, or `NONE`. */
  get first(): number {
    return this.#all.first;
  }

  /** Returns the slot that arrived next, or `NONE`. */
  after(slot: number): number {
    return this.#all.after(slot);
  }

  differenceAt(slot: number): number {
    return this.#slots.get(slot, SlotColumn.DifferenceAt);
  }

  setDifferenceAt(slot: number, place: number): void {
    this.#slots.set(slot, SlotColumn.DifferenceAt, place);
  }

  /** Returns the number of ids, used or not, that a shard has in this state at most. */
  get idEnd(): number {
    return Math.ceil(this.#slots.end / this.#shards);
  }

  *keys(): Generator<string> {
    for (const slot of this.slots()) yield this.#table.keyOf(this.rowAt(slot));
  }

  /** Returns all slots in order of arrival. None may be removed during a walk. */
  slots(): Iterable<number> {
    return this.#all;
  }

  insert(shard: number, id: number, row: number, values: IndexValues): number {
    const { key, namespace } = this.#table.factsOf(row);
    const slot = id * this.#shards + shard;
    assert(this.#byKey.get(key) === NONE, 'the key is in the state already', key);
    const slots = this.#slots;
    slots.reserve(slot);
    this.#links.reserve(slot);
    this.#byKey.add(key, slot);
    this.#byNamespace.add(namespace, slot);
    slots.set(slot, SlotColumn.Row, row + 1);
    slots.setWide(slot, SlotColumn.Order, this.orderEnd++);
    this.#all.append(slot);
    this.#index(slot, values);
    return slot;
  }

  /** @param values undefined when they did not change */
  update(slot: number, row: number, values: IndexValues | undefined): void {
    for (const observer of this.cursors) observer.beforeChange(slot);
    this.#slots.set(slot, SlotColumn.Row, row + 1);
    if (!values) return;
    this.#removeFromIndices(slot);
    this.#index(slot, values);
  }

  remove(slot: number): void {
    for (const observer of this.cursors) observer.beforeRemove(slot);
    this.#byKey.remove(slot);
    this.#byNamespace.remove(this.#table.factsOf(this.rowAt(slot)).namespace, slot);
    this.#removeFromIndices(slot);
    this.#all.remove(slot);
    this.#slots.set(slot, SlotColumn.Row, 0);
  }

  index(name: string): SlotIndex | undefined {
    return this.#indices.get(name) ?? (name === NAMESPACE_INDEX ? this.#byNamespace : undefined);
  }

  /** Returns the slots of a namespace, also where the index of that name is another one. */
  inNamespace(namespace: string): Iterable<number> {
    return this.#byNamespace.get(namespace) ?? [];
  }

  /** Adds indexes over the present slots; `valuesOf` returns a slot's values of all indexes, new ones last. */
  addIndices(names: readonly string[], valuesOf: (slot: number) => IndexValues): void {
    for (const name of names) this.#indices.set(name, new Map());
    for (const slot of this.slots()) {
      // The slot is in the other indexes already, under the same values.
      this.#index(slot, valuesOf(slot));
    }
  }

  #index(slot: number, values: IndexValues): void {
    if (this.#indices.size === 0) return;
    this.#values.set(slot, values);
    let at = 0;
    for (const index of this.#indices.values()) {
      for (const value of values[at] ?? []) addTo(index, value, slot);
      at++;
    }
  }

  #removeFromIndices(slot: number): void {
    if (this.#indices.size === 0) return;
    const values = this.valuesAt(slot);
    this.#values.set(slot, undefined);
    let at = 0;
    for (const index of this.#indices.values()) {
      for (const value of values[at] ?? []) removeFrom(index, value, slot);
      at++;
    }
  }
}

function addTo(index: Map<string, Set<number>>, value: string, slot: number): void {
  const slots = index.get(value);
  if (slots) slots.add(slot);
  else index.set(value, new Set([slot]));
}

function removeFrom(index: Map<string, Set<number>>, value: string, slot: number): void {
  const slots = index.get(value);
  slots?.delete(slot);
  if (slots?.size === 0) index.delete(value);
}

/** The indexers of one informer. They reuse the values of the previous entry where these cannot have changed. */
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

  /** Adds all or none: one existing name rejects the whole call (client-go: "indexer conflict"). */
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
   * Returns the values of a state; undefined when they are those of the object's previous state. Runs user functions, so
   * call it before anything changes.
   *
   * @param isUnchanged true when both states have the same facts
   * @param slot of the previous state, in `state`; `NONE` for a new object
   */
  valuesOf(row: number, isUnchanged: boolean, state: ReplicaState, slot: number): IndexValues | undefined {
    if (this.#indexers.size === 0) return slot === NONE ? NO_VALUES : undefined;
    const table = this.#table;
    if (slot === NONE) return this.#evaluate(table.open(row), () => undefined);
    if (isUnchanged && !this.#hasPlain) return undefined;
    const before = state.valuesAt(slot);
    const values = this.#evaluate(table.open(row), (at, indexer) =>
      isUnchanged && isExtracted(indexer) ? before[at] : undefined,
    );
    return isEqual(before, values) ? undefined : values;
  }

  /** Returns the index values of a row; the values of the first indexes are already known. */
  completed(row: number, known: IndexValues): IndexValues {
    return this.#evaluate(this.#table.open(row), (at) => known[at]);
  }

  /** Returns the values of an entry in one index, whether the entry is in the cache or not. */
  valuesIn(indexName: string, entry: Entry): readonly string[] {
    const indexer = this.#indexers.get(indexName) ?? namespaceIndex();
    const values = this.#valuesOf(indexName, indexer, entry);
    entry.owner.settle(entry);
    return values;
  }

  #evaluate(
    entry: Entry,
    known: (at: number, indexer: IndexFunction) => readonly string[] | undefined,
  ): IndexValues {
    // An array that grows has room for 17 values, and these arrays are kept.
    const values = Array.from(
      this.#indexers,
      ([name, indexer], at) => known(at, indexer) ?? this.#valuesOf(name, indexer, entry),
    );
    entry.owner.settle(entry);
    return values;
  }

  #valuesOf(name: string, indexer: IndexFunction, entry: Entry): readonly string[] {
    return isExtracted(indexer)
      ? extractedValues(name, indexer, entry, this.fieldCount)
      : this.#plainValues(name, indexer, entry);
  }

  #plainValues(name: string, indexer: (entry: Entry) => readonly string[], entry: Entry): readonly string[] {
    entry.owner.borrow(entry);
    try {
      return [...new Set(wantTexts(indexer(entry)))];
    } catch (cause) {
      const message = `index function ${name} threw for ${entry.key}; the object has no values in this index`;
      this.#onError(new KubeloomError('ERR_KUBELOOM_INDEX_FUNCTION', message, { cause }), entry.key);
      return [];
    } finally {
      entry.owner.endBorrow(entry, `index function ${name}`);
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

/** Checks what an index function returned: a text would count as a list of its letters. */
function wantTexts(values: unknown): readonly string[] {
  disown(values);
  if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values;
  throw new TypeError('it returned no array of strings');
}
