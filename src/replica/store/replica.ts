/**
 * The replica of one informer: the live state, and during a relist the shadow that will replace it.
 *
 * Every change is prepared first (decode, user functions, memory), which may throw or report. It is then committed in a
 * step without user code: state, indexes and listeners change together. So a notification is never ahead of the
 * cache (contract C6), and no query sees half a change (C5).
 */
import { assert } from '../../base/errors.ts';
import { isOlderResourceVersion } from '../../kube/resource-version.ts';
import { DeltaKind } from '../../shared/record/delta.ts';
import { Difference } from './deliveries.ts';
import type { Entry, Identity } from './entry.ts';
import { ReplicaState } from './replica-state.ts';
import type { IndexSet, IndexValues, Slot } from './replica-state.ts';

/** Receives committed changes; appends them only and runs no user code. */
export interface ReplicaListener {
  changed(oldEntry: Entry | undefined, newEntry: Entry | undefined): void;
  replaced(difference: Difference): void;
}

/** An id that a shard has assigned, and the states in which it is in use. */
export interface UsedId {
  readonly id: number;
  readonly identity: Identity;
  /** The object's version in the live state; undefined when it is not there. */
  readonly live: number | string | undefined;
  /** The object's version in the open relist; undefined when it was not listed yet. */
  readonly listed: number | string | undefined;
}

interface Shadow {
  readonly epoch: number;
  readonly state: ReplicaState;
  readonly difference: Difference;
  /** Live keys whose deletion is in the difference. A key that returns within the epoch is an add. */
  readonly deleted: Set<string>;
}

/** A state that was swapped out or aborted, and its difference; they are emptied within the drain budget. */
interface Disposal {
  readonly state: ReplicaState;
  readonly difference: Difference;
  readonly slots: IterableIterator<Slot>;
  isEmpty: boolean;
}

const DISPOSED_PER_CALL = 512;
/** A server that repeats an event repeats one of the latest. */
const DELETIONS_MAX = 256;

export class Replica {
  readonly #shards: number;
  readonly #indexes: IndexSet;
  readonly #listener: ReplicaListener;
  #disposals: Disposal[] = [];
  #live: ReplicaState;
  #shadow: Shadow | undefined;
  #hasSynced = false;
  /**
   * Versions of the latest deletions by key, the oldest first: a repeated DELETED event is dropped instead of delivered
   * as the deletion of an object that was never seen. The replica keeps nothing else about deleted objects.
   */
  readonly #deletions: Map<string, number | string> = new Map();

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

  get epoch(): number | undefined {
    return this.#shadow?.epoch;
  }

  /** Yields the shard's ids that are in use, which its successor needs. */
  *idsOf(shard: number): Generator<UsedId> {
    const live = this.#live.ofShard(shard);
    const shadow = this.#shadow?.state.ofShard(shard) ?? [];
    for (let id = 0; id < Math.max(live.length, shadow.length); id++) {
      const [cached, listed] = [live[id]?.entry, shadow[id]?.entry];
      const identity = (cached ?? listed)?.identity;
      if (identity) yield { id, identity, live: cached?.version, listed: listed?.version };
    }
  }

  /** Returns the slot of the record with this id, in the state that records change now. */
  slotOf(shard: number, id: number): Slot | undefined {
    return this.#shadow?.state.at(shard, id) ?? this.#live.at(shard, id);
  }

  /** Adds or replaces an object. `entry` has its bytes; index values are evaluated here. */
  upsert(shard: number, id: number, entry: Entry): void {
    const target = this.#shadow?.state ?? this.#live;
    const slot = target.at(shard, id);
    const previous = slot ?? (this.#shadow && this.#live.get(entry.key));
    assert(!slot || slot.entry.identity === entry.identity, 'the id is of another object', entry.key);
    const values = this.#indexes.valuesOf(entry, previous);
    const dictionary = previous?.entry.dictionary;
    // A dissolved dictionary gets no new entries.
    if (!dictionary?.isDissolved) entry.dictionary = dictionary;
    entry.addReference();
    if (this.#shadow) {
      this.#upsertShadow(this.#shadow, shard, id, entry, values);
      return;
    }
    const oldEntry = slot?.entry;
    if (slot) this.#live.update(slot, entry, values);
    else this.#live.insert(shard, id, entry, values);
    this.#live.version = entry.version;
    this.#listener.changed(oldEntry, entry);
    oldEntry?.dropReference();
  }

  /** Keeps the entry of a relisted object that did not change. */
  keep(shard: number, id: number, { entry, values }: Slot): void {
    const shadow = this.#shadow;
    if (!shadow) return;
    entry.addReference();
    this.#upsertShadow(shadow, shard, id, entry, values);
  }

  /** Removes an object; `last` is the state that the server sent with the deletion. */
  remove(last: Entry): void {
    last.addReference();
    if (this.#shadow) this.#removeShadow(this.#shadow, last.key);
    else this.#removeLive(last);
    last.dropReference();
  }

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

  /** Adds indexes over the cached objects; user functions run here, synchronously. */
  addIndexers(indexers: Parameters<IndexSet['add']>[0]): void {
    this.#indexes.add(indexers);
    const names = Object.keys(indexers);
    const states = this.#shadow ? [this.#live, this.#shadow.state] : [this.#live];
    for (const state of states) {
      state.addIndices(names, (slot) => this.#indexes.valuesOf(slot.entry, slot));
    }
  }

  /** Releases a few entries of replaced states and ended differences; true while there is more to do. */
  dispose(): boolean {
    if (this.#disposals.length === 0) return false;
    let hasMore = false;
    let left = DISPOSED_PER_CALL;
    for (const disposal of this.#disposals) {
      hasMore = disposal.difference.releasePassed(DISPOSED_PER_CALL) || hasMore;
      // A state that a slow handler still walks over must not block the others.
      if (disposal.state.cursors.size > 0) continue;
      for (; left > 0 && !disposal.isEmpty; left--) {
        const { value: slot, done } = disposal.slots.next();
        if (done) disposal.isEmpty = true;
        else slot.entry.dropReference();
      }
      if (!disposal.isEmpty) hasMore = true;
    }
    this.#disposals = this.#disposals.filter(({ isEmpty, difference }) => !isEmpty || !difference.isReleased);
    return hasMore;
  }

  #upsertShadow(shadow: Shadow, shard: number, id: number, entry: Entry, values: IndexValues): void {
    const slot = shadow.state.at(shard, id);
    if (slot) {
      const superseded = slot.entry;
      shadow.state.update(slot, entry, values);
      shadow.difference.replaceChange(slot.differenceAt, entry);
      superseded.dropReference();
      return;
    }
    // The last state of this key that handlers have received when the difference reaches it.
    const oldEntry = shadow.deleted.has(entry.key) ? undefined : this.#live.get(entry.key)?.entry;
    const added = shadow.state.insert(shard, id, entry, values);
    added.differenceAt = shadow.difference.addChange(oldEntry, entry);
  }

  #delete(shadow: Shadow, live: Slot): void {
    const { key } = live.entry;
    if (shadow.deleted.has(key)) return;
    shadow.deleted.add(key);
    shadow.difference.addDeletion(live.entry);
  }

  #removeLive(last: Entry): void {
    const { key, version } = last;
    const slot = this.#live.get(key);
    if (!slot && isRepeated(version, this.#deletions.get(key))) return;
    this.#deletions.delete(key);
    this.#deletions.set(key, version);
    if (this.#deletions.size > DELETIONS_MAX)
      this.#deletions.delete(this.#deletions.keys().next().value ?? '');
    if (slot) this.#live.remove(slot);
    // Handlers are also called for the deletion of an object that was never seen, as in client-go.
    this.#listener.changed(last, undefined);
    slot?.entry.dropReference();
    this.#live.version = version;
  }

  #removeShadow(shadow: Shadow, key: string): void {
    const slot = shadow.state.get(key);
    if (slot) {
      shadow.state.remove(slot);
      shadow.difference.replaceChange(slot.differenceAt, undefined);
      slot.entry.dropReference();
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
    this.#disposals.push({ state, difference, slots: state.slots(), isEmpty: false });
  }
}

/** Returns whether a deletion with this version, or a later one of the same key, was recorded. */
function isRepeated(version: number | string, recorded: number | string | undefined): boolean {
  if (recorded === undefined || recorded === version) return recorded !== undefined;
  return isOlderResourceVersion(String(version), String(recorded));
}
