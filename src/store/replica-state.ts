/**
 * One complete state of an informer's collection: objects by key and by shard id, and the indices over them.
 *
 * The live state changes with every merged event; a relist fills a second one, the shadow, over many tasks,
 * and then takes its place by one assignment.
 */
import { assert } from '../errors.ts';
import type { Entry, Identity } from './entry.ts';

/** The place of one object; it stays while the object's states come and go. */
export interface Slot {
  readonly identity: Identity;
  readonly shard: number;
  readonly id: number;
  /** Grows with every new slot of a state: cursors tell by it what they have passed. */
  readonly order: number;
  entry: Entry;
  /** Current values by index, in the order of the index names. */
  values: readonly (readonly string[])[];
  /** Its place in the difference of the relist that is being prepared. */
  differenceAt: number;
}

export class ReplicaState {
  /** In order of arrival, which is the order of every delivery of the whole. */
  readonly #byKey: Map<string, Slot> = new Map();
  readonly #byId: (Slot | undefined)[][];
  #nextOrder = 0;
  readonly #indices: Map<string, Map<string, Set<Slot>>> = new Map();
  /** The server's version that this state is: a string only where it is none of ours to count with. */
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

  /** By id. */
  ofShard(shard: number): readonly (Slot | undefined)[] {
    return this.#byId[shard] ?? [];
  }

  keys(): IterableIterator<string> {
    return this.#byKey.keys();
  }

  /** Live: what is removed meanwhile is skipped, what is added comes last. */
  slots(): IterableIterator<Slot> {
    return this.#byKey.values();
  }

  /** Orders are below this now. */
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
    assert(!this.#byKey.has(identity.key), 'it is here already', identity.key);
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

  /** Adds indices over what is here; `valuesOf` gives each slot's values of all indices, new ones last. */
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

/** Told before a slot changes, so that it can keep the state it has not delivered yet. */
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
