/**
 * The replica of one informer: the live state, and during a relist the shadow that will take its place.
 *
 * Every change is prepared first (decode, user functions, memory: may throw or report) and then committed in
 * a step that runs no user code: state, indices and listeners move together, so a notification is never
 * ahead of the cache (contract C6) and no query sees half a change (C5).
 */
import { assert } from '../errors.ts';
import { DeltaKind } from '../record/delta.ts';
import { Difference } from './deliveries.ts';
import type { Entry, Identity } from './entry.ts';
import type { IndexSet, IndexValues } from './index-values.ts';
import { RecentDeletions } from './recent-deletions.ts';
import { ReplicaState } from './replica-state.ts';
import type { Slot } from './replica-state.ts';

/** Who is told of committed changes; pushes only, runs no user code. */
export interface ReplicaListener {
  changed(oldEntry: Entry | undefined, newEntry: Entry | undefined): void;
  replaced(difference: Difference): void;
}

/** An id of a shard, and in which of the two states it is in use. */
export interface UsedId {
  readonly id: number;
  readonly identity: Identity;
  readonly isLive: boolean;
  readonly isListed: boolean;
  /** In the live state; 0 when it is not there. */
  readonly version: number | string;
}

interface Shadow {
  readonly epoch: number;
  readonly state: ReplicaState;
  readonly difference: Difference;
  /** Live keys whose deletion is in the difference. One that comes back within the epoch is an add. */
  readonly deleted: Set<string>;
}

/** States that were swapped out, emptied within the drain budget. */
interface Disposal {
  readonly state: ReplicaState;
  readonly slots: IterableIterator<Slot>;
}

const DISPOSED_PER_CALL = 512;

export class Replica {
  readonly #shards: number;
  readonly #indexes: IndexSet;
  readonly #listener: ReplicaListener;
  readonly #disposals: Disposal[] = [];
  /** Those of relists that are over, let go as their readers pass them. */
  #differences: Difference[] = [];
  #live: ReplicaState;
  #shadow: Shadow | undefined;
  #hasSynced = false;
  readonly #deletions: RecentDeletions = new RecentDeletions();

  constructor(shards: number, indexes: IndexSet, listener: ReplicaListener) {
    this.#shards = shards;
    this.#indexes = indexes;
    this.#listener = listener;
    this.#live = new ReplicaState(shards, indexes.names);
  }

  get live(): ReplicaState {
    return this.#live;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** The relist whose items are arriving. */
  get epoch(): number | undefined {
    return this.#shadow?.epoch;
  }

  /** The ids that a shard has given out and that are in use: what its successor must know. */
  *idsOf(shard: number): Generator<UsedId> {
    const live = this.#live.ofShard(shard);
    const shadow = this.#shadow?.state.ofShard(shard) ?? [];
    for (let id = 0; id < Math.max(live.length, shadow.length); id++) {
      const slot = live[id] ?? shadow[id];
      if (!slot) continue;
      yield {
        id,
        identity: slot.identity,
        isLive: live[id] !== undefined,
        isListed: shadow[id] !== undefined,
        version: live[id]?.entry.version ?? 0,
      };
    }
  }

  /** The slot that a record with this id is about, in the state that records go to now. */
  slotOf(shard: number, id: number): Slot | undefined {
    return this.#shadow?.state.at(shard, id) ?? this.#live.at(shard, id);
  }

  /** Whether the relist in progress has shown this key already. */
  isShadowed(key: string): boolean {
    return this.#shadow?.state.get(key) !== undefined;
  }

  /** The live slot of a key whose id is new. */
  liveSlot(key: string): Slot | undefined {
    return this.#live.get(key);
  }

  /** An object was added, changed or listed. `entry` has its bytes; index values are evaluated here. */
  upsert(shard: number, id: number, entry: Entry): void {
    const target = this.#shadow?.state ?? this.#live;
    const slot = target.at(shard, id);
    const previous = slot ?? (this.#shadow && this.#live.get(entry.key));
    assert(!slot || slot.identity === entry.identity, 'it has the id of another object', entry.key);
    const values = this.#indexes.valuesOf(entry, previous);
    entry.dictionary = previous?.entry.dictionary;
    entry.hold();
    if (this.#shadow) this.#upsertShadow(this.#shadow, slot, shard, id, entry, values);
    else this.#upsertLive(slot, shard, id, entry, values);
  }

  /** A relisted object that did not change keeps its entry. */
  keep(shard: number, id: number, live: Slot): void {
    const shadow = this.#shadow;
    if (!shadow) return;
    live.entry.hold();
    const { entry, values, identity } = live;
    const slot = shadow.state.insert(identity, shard, id, entry, values);
    slot.differenceAt = shadow.difference.addChange(this.#oldEntry(shadow, identity.key), entry);
  }

  /** An object was deleted; `last` is the state that the server sent with the deletion. */
  remove(last: Entry): void {
    if (this.#shadow) {
      this.#removeShadow(this.#shadow, last.key);
      last.hold();
      last.letGo();
      return;
    }
    const slot = this.#live.get(last.key);
    if (!slot && this.#deletions.has(last.key, last.version)) {
      last.hold();
      last.letGo();
      return;
    }
    this.#deletions.add(last.key, last.version);
    last.hold();
    if (slot) {
      this.#live.remove(slot);
      this.#listener.changed(last, undefined);
      slot.entry.letGo();
    } else {
      // Never seen, but deleted: handlers are told, as in client-go.
      this.#listener.changed(last, undefined);
    }
    last.letGo();
    this.#live.version = last.version;
  }

  /** The relist did not contain the object with this id. */
  swept(shard: number, id: number): void {
    const slot = this.#live.at(shard, id);
    if (slot && this.#shadow) this.#delete(this.#shadow, slot);
  }

  control(kind: DeltaKind, epoch: number, resourceVersion: string): void {
    switch (kind) {
      case DeltaKind.ReplaceBegin:
        this.#abort();
        this.#shadow = {
          epoch,
          state: new ReplicaState(this.#shards, this.#indexes.names),
          difference: new Difference(!this.#hasSynced),
          deleted: new Set(),
        };
        break;
      case DeltaKind.ReplaceAbort:
        if (this.#shadow?.epoch === epoch) this.#abort();
        break;
      case DeltaKind.ReplaceEnd:
        if (this.#shadow?.epoch === epoch) this.#swap(this.#shadow, resourceVersion);
        break;
      case DeltaKind.Bookmark:
        (this.#shadow?.state ?? this.#live).version = resourceVersion;
        break;
    }
  }

  /** Adds indexes over what is cached; user functions run here, synchronously. */
  addIndexers(indexers: Parameters<IndexSet['add']>[0]): void {
    this.#indexes.add(indexers);
    const names = Object.keys(indexers);
    const states = this.#shadow ? [this.#live, this.#shadow.state] : [this.#live];
    for (const state of states) {
      state.addIndices(names, (slot) =>
        this.#indexes.valuesOf(slot.entry, { entry: slot.entry, values: slot.values }),
      );
    }
  }

  /** Lets go of a few entries of states and differences that are over; true while there is more to do. */
  dispose(): boolean {
    let hasMore = this.#disposeState();
    if (this.#differences.length === 0) return hasMore;
    for (const difference of this.#differences) {
      hasMore = difference.releasePassed(DISPOSED_PER_CALL) || hasMore;
    }
    this.#differences = this.#differences.filter(({ isReleased }) => !isReleased);
    return hasMore;
  }

  #disposeState(): boolean {
    // One that a slow handler still walks over must not keep the others.
    const at = this.#disposals.findIndex(({ state }) => state.cursors.size === 0);
    const disposal = this.#disposals[at];
    if (!disposal) return false;
    for (let count = 0; count < DISPOSED_PER_CALL; count++) {
      const { value: slot, done } = disposal.slots.next();
      if (done) {
        this.#disposals.splice(at, 1);
        break;
      }
      slot.entry.letGo();
    }
    return this.#disposals.some(({ state }) => state.cursors.size === 0);
  }

  #upsertLive(slot: Slot | undefined, shard: number, id: number, entry: Entry, values: IndexValues): void {
    const oldEntry = slot?.entry;
    if (slot) this.#live.update(slot, entry, values);
    else this.#live.insert(entry.identity, shard, id, entry, values);
    this.#live.version = entry.version;
    this.#listener.changed(oldEntry, entry);
    oldEntry?.letGo();
  }

  #upsertShadow(
    shadow: Shadow,
    slot: Slot | undefined,
    shard: number,
    id: number,
    entry: Entry,
    values: IndexValues,
  ): void {
    if (slot) {
      const superseded = slot.entry;
      shadow.state.update(slot, entry, values);
      shadow.difference.replaceChange(slot.differenceAt, entry);
      superseded.letGo();
      return;
    }
    const added = shadow.state.insert(entry.identity, shard, id, entry, values);
    added.differenceAt = shadow.difference.addChange(this.#oldEntry(shadow, entry.key), entry);
  }

  /** What handlers were last told of this key by the time the difference comes to it. */
  #oldEntry(shadow: Shadow, key: string): Entry | undefined {
    return shadow.deleted.has(key) ? undefined : this.#live.get(key)?.entry;
  }

  #delete(shadow: Shadow, live: Slot): void {
    const { key } = live.identity;
    if (shadow.deleted.has(key)) return;
    shadow.deleted.add(key);
    shadow.difference.addDeletion(live.entry);
  }

  #removeShadow(shadow: Shadow, key: string): void {
    const slot = shadow.state.get(key);
    if (slot) {
      shadow.state.remove(slot);
      shadow.difference.replaceChange(slot.differenceAt, undefined);
      slot.entry.letGo();
    }
    const live = this.#live.get(key);
    if (live) this.#delete(shadow, live);
  }

  #swap(shadow: Shadow, resourceVersion: string): void {
    const old = this.#live;
    const { difference, deleted } = shadow;
    assert(
      difference.oldCount + deleted.size === old.size,
      'a relist neither contains nor deletes an object',
    );
    shadow.state.version = resourceVersion;
    this.#live = shadow.state;
    this.#shadow = undefined;
    this.#hasSynced = true;
    this.#listener.replaced(difference);
    this.#disposeLater(old, difference);
  }

  #abort(): void {
    const shadow = this.#shadow;
    if (!shadow) return;
    this.#shadow = undefined;
    this.#disposeLater(shadow.state, shadow.difference);
  }

  #disposeLater(state: ReplicaState, difference: Difference): void {
    this.#disposals.push({ state, slots: state.slots() });
    this.#differences.push(difference);
  }
}
