/**
 * One complete state of an informer's collection: objects by key and by shard id, and the indexes over them.
 *
 * The live state changes with every merged event. A relist fills a second one, the shadow, over many tasks, and one
 * assignment puts it in the live state's place.
 */
import { KubeloomError, assert } from '../../base/errors.ts';
import type { Entry } from './entry.ts';
import { NAMESPACE_INDEX, isExtracted, namespaceIndex, extractedValues } from './index-functions.ts';
import type { IndexFunction, Indexers } from './index-functions.ts';

/** Values of one object by index, in the order of the index names. */
export type IndexValues = readonly (readonly string[])[];

/** The place of one object; it stays the same while the object's states change. */
export interface Slot {
  readonly shard: number;
  readonly id: number;
  /** A number that grows with every new slot of a state: cursors compare it with their position. */
  readonly order: number;
  entry: Entry;
  values: IndexValues;
  /** The slot's place in the difference of the relist in progress. */
  differenceAt: number;
}

/** Receives a slot before it changes, to keep the entry that it has not delivered yet. */
export interface StateObserver {
  beforeChange(slot: Slot): void;
  beforeRemove(slot: Slot): void;
}

export class ReplicaState {
  /** Slots in order of arrival, which is the order of every delivery of the whole state. */
  readonly #byKey: Map<string, Slot> = new Map();
  readonly #byId: (Slot | undefined)[][];
  /** Order of the next slot. */
  orderEnd = 0;
  readonly #indices: Map<string, Map<string, Set<Slot>>> = new Map();
  /** The server's version of this state: a string where it is not a number that kubeloom can compare. */
  version: number | string = '';
  readonly cursors: Set<StateObserver> = new Set();

  constructor(shards: number, indexNames: readonly string[]) {
    this.#byId = Array.from({ length: shards }, () => []);
    for (const name of indexNames) this.#indices.set(name, new Map());
  }

  get resourceVersion(): string {
    return String(this.version);
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Slot | undefined {
    return this.#byKey.get(key);
  }

  at(shard: number, id: number): Slot | undefined {
    return this.#byId[shard]?.[id];
  }

  ofShard(shard: number): readonly (Slot | undefined)[] {
    return this.#byId[shard] ?? [];
  }

  keys(): IterableIterator<string> {
    return this.#byKey.keys();
  }

  /** Returns a live iterator: it skips slots removed meanwhile and visits added ones last. */
  slots(): IterableIterator<Slot> {
    return this.#byKey.values();
  }

  insert(shard: number, id: number, entry: Entry, values: IndexValues): Slot {
    const { key } = entry;
    assert(!this.#byKey.has(key), 'the key is in the state already', key);
    const order = this.orderEnd++;
    const slot: Slot = { shard, id, order, entry, values, differenceAt: -1 };
    this.#byKey.set(key, slot);
    const ids = this.#byId[shard];
    if (ids) ids[id] = slot;
    this.#addToIndices(slot);
    return slot;
  }

  update(slot: Slot, entry: Entry, values: IndexValues): void {
    for (const observer of this.cursors) observer.beforeChange(slot);
    slot.entry = entry;
    if (values === slot.values) return;
    this.#removeFromIndices(slot);
    slot.values = values;
    this.#addToIndices(slot);
  }

  remove(slot: Slot): void {
    for (const observer of this.cursors) observer.beforeRemove(slot);
    this.#byKey.delete(slot.entry.key);
    const ids = this.#byId[slot.shard];
    if (ids) ids[slot.id] = undefined;
    this.#removeFromIndices(slot);
    slot.values = [];
  }

  index(name: string): ReadonlyMap<string, ReadonlySet<Slot>> | undefined {
    return this.#indices.get(name);
  }

  /** Adds indexes over the present slots; `valuesOf` returns a slot's values of all indexes, new ones last. */
  addIndices(names: readonly string[], valuesOf: (slot: Slot) => IndexValues): void {
    for (const name of names) this.#indices.set(name, new Map());
    for (const slot of this.slots()) {
      slot.values = valuesOf(slot);
      // The slot is in the other indexes already, under the same values.
      this.#addToIndices(slot);
    }
  }

  #addToIndices(slot: Slot): void {
    let at = 0;
    for (const index of this.#indices.values()) {
      for (const value of slot.values[at] ?? []) addTo(index, value, slot);
      at++;
    }
  }

  #removeFromIndices(slot: Slot): void {
    let at = 0;
    for (const index of this.#indices.values()) {
      for (const value of slot.values[at] ?? []) removeFrom(index, value, slot);
      at++;
    }
  }
}

function addTo(index: Map<string, Set<Slot>>, value: string, slot: Slot): void {
  const slots = index.get(value);
  if (slots) slots.add(slot);
  else index.set(value, new Set([slot]));
}

function removeFrom(index: Map<string, Set<Slot>>, value: string, slot: Slot): void {
  const slots = index.get(value);
  slots?.delete(slot);
  if (slots?.size === 0) index.delete(value);
}

/** The indexers of one informer. They reuse the values of the previous entry where these cannot have changed. */
export class IndexSet {
  readonly #indexers: Map<string, IndexFunction> = new Map([[NAMESPACE_INDEX, namespaceIndex()]]);
  readonly #onError: (error: KubeloomError, key: string) => void;
  /** Number of declared fields; the extracted fields after them are the values of index modules. */
  fieldCount: number;
  #hasPlain = false;
  /** True while the only index is the one that every informer has. */
  #hasOnlyNamespace = true;
  /** Values of the latest new object. Listed objects of one namespace come in a row and share them. */
  #ofNamespace: IndexValues = [[]];

  constructor(indexers: Indexers, fieldCount: number, onError: (error: KubeloomError, key: string) => void) {
    this.#onError = onError;
    this.fieldCount = fieldCount;
    this.#set(indexers);
  }

  get names(): readonly string[] {
    return [...this.#indexers.keys()];
  }

  get indexers(): Indexers {
    return Object.fromEntries(this.#indexers);
  }

  /** Adds all or none: one existing name rejects the whole call (client-go: "indexer conflict"). */
  add(indexers: Indexers): void {
    const conflicts = Object.keys(indexers).filter((name) => this.#indexers.has(name));
    if (conflicts.length > 0) {
      throw new KubeloomError(
        'ERR_KUBELOOM_INDEXER_CONFLICT',
        `indexer conflict: ${conflicts.join(', ')} exist${conflicts.length > 1 ? '' : 's'} already; nothing was added`,
      );
    }
    this.#set(indexers);
  }

  /** Returns the values. Runs user functions, so call it before anything changes. */
  valuesOf(entry: Entry, previous: { entry: Entry; values: IndexValues } | undefined): IndexValues {
    const isSame = previous?.entry === entry;
    const isUnchanged = previous !== undefined && previous.entry.extracted.equals(entry.extracted);
    const isComplete = previous?.values.length === this.#indexers.size;
    if (isUnchanged && isComplete && (isSame || !this.#hasPlain)) return previous.values;
    if (this.#hasOnlyNamespace) return previous?.values ?? this.#namespaceValues(entry);
    const values: (readonly string[])[] = [];
    for (const [name, indexer] of this.#indexers) {
      const before = previous?.values[values.length];
      if (before !== undefined && (isSame || (isUnchanged && isExtracted(indexer)))) values.push(before);
      else if (isExtracted(indexer)) values.push(extractedValues(name, indexer, entry, this.fieldCount));
      else values.push(this.#plainValues(name, indexer, entry));
    }
    return previous && isEqual(previous.values, values) ? previous.values : values;
  }

  #namespaceValues({ namespace }: Entry): IndexValues {
    const [values] = this.#ofNamespace;
    if ((values?.[0] ?? '') !== namespace) this.#ofNamespace = [namespace === '' ? [] : [namespace]];
    return this.#ofNamespace;
  }

  #plainValues(name: string, indexer: (entry: Entry) => readonly string[], entry: Entry): readonly string[] {
    entry.owner.borrow(entry);
    try {
      return [...new Set(indexer(entry))];
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
      this.#hasOnlyNamespace = false;
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
