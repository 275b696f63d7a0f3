/**
 * One complete state of an informer's collection: objects by key and by shard id, and the indexes over them.
 *
 * The live state changes with every merged event. A relist fills a second one, the shadow, over many tasks, and one
 * assignment puts it in the live state's place.
 */
import { assert } from '../../base/errors.ts';
import type { Entry, Identity } from './entry.ts';

/** The place of one object; it stays the same while the object's states change. */
export interface Slot {
  readonly identity: Identity;
  readonly shard: number;
  readonly id: number;
  /** A number that grows with every new slot of a state: cursors compare it with their position. */
  readonly order: number;
  entry: Entry;
  /** Current values by index, in the order of the index names. */
  values: readonly (readonly string[])[];
  /** The slot's place in the difference of the relist in progress. */
  differenceAt: number;
}

export class ReplicaState {
  /** Slots in order of arrival, which is the order of every delivery of the whole state. */
  readonly #byKey: Map<string, Slot> = new Map();
  readonly #byId: (Slot | undefined)[][];
  #nextOrder = 0;
  readonly #indices: Map<string, Map<string, Set<Slot>>> = new Map();
  /** The server's version of this state: a string where it is not a number that kubeloom can compare. */
  version: number | string = '';
  /** Cursors that still walk over this state. */
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

  /** Slots by id. */
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

  /** Upper bound (exclusive) of all orders. */
  get orderEnd(): number {
    return this.#nextOrder;
  }

  insert(
    identity: Identity,
    shard: number,
    id: number,
    entry: Entry,
    values: readonly (readonly string[])[],
  ): Slot {
    assert(!this.#byKey.has(identity.key), 'the key is in the state already', identity.key);
    const order = this.#nextOrder++;
    const slot: Slot = { identity, shard, id, order, entry, values, differenceAt: -1 };
    this.#byKey.set(identity.key, slot);
    const ids = this.#byId[shard];
    if (ids) ids[id] = slot;
    this.#addToIndices(slot, values);
    return slot;
  }

  update(slot: Slot, entry: Entry, values: readonly (readonly string[])[]): void {
    for (const observer of this.cursors) observer.beforeChange(slot);
    slot.entry = entry;
    if (values === slot.values) return;
    this.#removeFromIndices(slot);
    slot.values = values;
    this.#addToIndices(slot, values);
  }

  remove(slot: Slot): void {
    for (const observer of this.cursors) observer.beforeRemove(slot);
    this.#byKey.delete(slot.identity.key);
    const ids = this.#byId[slot.shard];
    if (ids) ids[slot.id] = undefined;
    this.#removeFromIndices(slot);
    slot.values = [];
  }

  index(name: string): ReadonlyMap<string, ReadonlySet<Slot>> | undefined {
    return this.#indices.get(name);
  }

  /** Adds indexes over the present slots; `valuesOf` returns a slot's values of all indexes, new ones last. */
  addIndices(names: readonly string[], valuesOf: (slot: Slot) => readonly (readonly string[])[]): void {
    const added = names.map((name) => {
      const index = new Map<string, Set<Slot>>();
      this.#indices.set(name, index);
      return index;
    });
    const firstAt = this.#indices.size - added.length;
    for (const slot of this.slots()) {
      slot.values = valuesOf(slot);
      for (const [at, index] of added.entries()) {
        for (const value of slot.values[firstAt + at] ?? []) addTo(index, value, slot);
      }
    }
  }

  #addToIndices(slot: Slot, values: readonly (readonly string[])[]): void {
    let at = 0;
    for (const index of this.#indices.values()) {
      for (const value of values[at] ?? []) addTo(index, value, slot);
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

/** Receives a slot before it changes, to keep the entry that it has not delivered yet. */
export interface StateObserver {
  beforeChange(slot: Slot): void;
  beforeRemove(slot: Slot): void;
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
