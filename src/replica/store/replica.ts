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
import { NONE } from './columns.ts';
import { Difference } from './deliveries.ts';
import type { EntryTable } from './entry-table.ts';
import { EntryFlag } from './entry.ts';
import { RecentMap } from './extracted-fields.ts';
import type { Identity } from './extracted-fields.ts';
import { ReplicaState } from './replica-state.ts';
import type { IndexSet, IndexValues } from './replica-state.ts';

/** Receives committed changes; appends them only and runs no user code. */
export interface ReplicaListener {
  /** @param oldRow `NONE` for an added object @param newRow `NONE` for a deleted one */
  changed(oldRow: number, newRow: number): void;
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
  /** The next slot to be emptied, or `NONE`. */
  slot: number;
}

const DISPOSED_PER_CALL = 512;
/** A server that repeats an event repeats one of the latest. */
const DELETIONS_MIN = 256;

export class Replica {
  readonly table: EntryTable;
  readonly #shards: number;
  readonly #indexes: IndexSet;
  readonly #listener: ReplicaListener;
  #disposals: Disposal[] = [];
  #live: ReplicaState;
  #shadow: Shadow | undefined;
  #hasSynced = false;
  /**
   * Versions of the latest deletions by key: a repeated DELETED event is dropped instead of delivered
   * as the deletion of an object that was never seen. The replica keeps nothing else about deleted objects.
   */
  readonly #deletions: RecentMap<number | string> = new RecentMap(DELETIONS_MIN);

  constructor(table: EntryTable, shards: number, indexes: IndexSet, listener: ReplicaListener) {
    this.table = table;
    this.#shards = shards;
    this.#indexes = indexes;
    this.#listener = listener;
    this.#live = this.#newState();
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
    const [live, shadow] = [this.#live, this.#shadow?.state];
    const rowOf = (state: ReplicaState | undefined, id: number): number =>
      state?.rowAt(state.at(shard, id)) ?? NONE;
    for (let id = 0; id < Math.max(live.idEnd, shadow?.idEnd ?? 0); id++) {
      const [cached, listed] = [rowOf(live, id), rowOf(shadow, id)];
      const row = cached === NONE ? listed : cached;
      if (row === NONE) continue;
      const version = (of: number): number | string | undefined =>
        of === NONE ? undefined : this.table.versionOf(of);
      yield { id, identity: this.table.factsOf(row), live: version(cached), listed: version(listed) };
    }
  }

  /** Returns the state of the object with this id that records change now, or `NONE`. */
  rowOf(shard: number, id: number): number {
    const shadow = this.#shadow?.state;
    const slot = shadow?.at(shard, id) ?? NONE;
    return shadow && slot !== NONE ? shadow.rowAt(slot) : this.#live.rowAt(this.#live.at(shard, id));
  }

  /** Returns the state of the object with this key in the cache, or `NONE`. */
  rowByKey(key: string): number {
    return this.#live.rowAt(this.#live.get(key));
  }

  /** Adds or replaces an object. The row has its bytes; index values are evaluated here. */
  upsert(shard: number, id: number, row: number): void {
    const { table } = this;
    const target = this.#shadow?.state ?? this.#live;
    const slot = target.at(shard, id);
    const isKnown = slot !== NONE;
    const state = isKnown ? target : this.#live;
    const previousSlot = isKnown || !this.#shadow ? slot : this.#live.get(table.keyOf(row));
    const previous = state.rowAt(previousSlot);
    const facts = table.factsOf(row);
    const before = previous === NONE ? undefined : table.factsOf(previous);
    assert(!before || before === facts || before.key === facts.key, 'the id is of another object', facts.key);
    const values = this.#indexes.valuesOf(row, before?.equals(facts) ?? false, state, previousSlot);
    if (previous !== NONE && !table.hasFlag(row, EntryFlag.Packed))
      table.setDictionary(row, table.dictionaryOf(previous));
    table.addReference(row);
    if (this.#shadow) {
      const known = values ?? state.valuesAt(previousSlot);
      this.#upsertShadow(this.#shadow, shard, id, row, isKnown ? values : known);
      return;
    }
    if (isKnown) this.#live.update(slot, row, values);
    else this.#live.insert(shard, id, row, values ?? []);
    this.#live.version = table.versionOf(row);
    this.#listener.changed(previous, row);
    if (isKnown) table.dropReference(previous);
  }

  /** Keeps the state of a relisted object that did not change. @param slot in the cache */
  keep(shard: number, id: number, slot: number): void {
    const shadow = this.#shadow;
    if (!shadow) return;
    const row = this.#live.rowAt(slot);
    this.table.addReference(row);
    this.#upsertShadow(shadow, shard, id, row, this.#live.valuesAt(slot));
  }

  /** Removes an object; `last` is the state that the server sent with the deletion. */
  remove(last: number): void {
    this.table.addReference(last);
    if (this.#shadow) this.#removeShadow(this.#shadow, this.table.keyOf(last));
    else this.#removeLive(last);
    this.table.dropReference(last);
  }

  swept(shard: number, id: number): void {
    const slot = this.#live.at(shard, id);
    if (slot !== NONE && this.#shadow) this.#delete(this.#shadow, slot);
  }

  control(kind: DeltaKind, epoch: number, resourceVersion: string): void {
    switch (kind) {
      case DeltaKind.ReplaceBegin:
        this.#abort();
        this.#shadow = {
          epoch,
          state: this.#newState(),
          difference: new Difference(this.table, !this.#hasSynced),
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
      state.addIndices(names, (slot) => {
        return this.#indexes.completed(state.rowAt(slot), state.valuesAt(slot));
      });
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
      for (; left > 0 && disposal.slot !== NONE; left--) {
        this.table.dropReference(disposal.state.rowAt(disposal.slot));
        disposal.slot = disposal.state.after(disposal.slot);
      }
      if (disposal.slot !== NONE) hasMore = true;
    }
    this.#disposals = this.#disposals.filter(
      ({ slot, difference }) => slot !== NONE || !difference.isReleased,
    );
    return hasMore;
  }

  /** @param values undefined when they did not change since the shadow's state of the object */
  #upsertShadow(
    shadow: Shadow,
    shard: number,
    id: number,
    row: number,
    values: IndexValues | undefined,
  ): void {
    const slot = shadow.state.at(shard, id);
    if (slot !== NONE) {
      const superseded = shadow.state.rowAt(slot);
      shadow.state.update(slot, row, values);
      shadow.difference.replaceChange(shadow.state.differenceAt(slot), row);
      this.table.dropReference(superseded);
      return;
    }
    const key = this.table.keyOf(row);
    // The last state of this key that handlers have received when the difference reaches it.
    const isDeleted = shadow.deleted.size > 0 && shadow.deleted.has(key);
    const oldRow = isDeleted ? NONE : this.rowByKey(key);
    const added = shadow.state.insert(shard, id, row, values ?? []);
    shadow.state.setDifferenceAt(added, shadow.difference.addChange(oldRow, row));
  }

  #delete(shadow: Shadow, slot: number): void {
    const row = this.#live.rowAt(slot);
    const key = this.table.keyOf(row);
    if (shadow.deleted.has(key)) return;
    shadow.deleted.add(key);
    shadow.difference.addDeletion(row);
  }

  #removeLive(last: number): void {
    const key = this.table.keyOf(last);
    const version = this.table.versionOf(last);
    const slot = this.#live.get(key);
    if (slot === NONE && isRepeated(version, this.#deletions.get(key))) return;
    this.#deletions.set(key, version);
    const row = this.#live.rowAt(slot);
    if (slot !== NONE) this.#live.remove(slot);
    // Handlers are also called for the deletion of an object that was never seen, as in client-go.
    this.#listener.changed(last, NONE);
    if (slot !== NONE) this.table.dropReference(row);
    this.#live.version = version;
  }

  #removeShadow(shadow: Shadow, key: string): void {
    const slot = shadow.state.get(key);
    if (slot !== NONE) {
      const row = shadow.state.rowAt(slot);
      shadow.state.remove(slot);
      shadow.difference.replaceChange(shadow.state.differenceAt(slot), NONE);
      this.table.dropReference(row);
    }
    const live = this.#live.get(key);
    if (live !== NONE) this.#delete(shadow, live);
  }

  #swap(shadow: Shadow, resourceVersion: string): void {
    const old = this.#live;
    const { difference, deleted } = shadow;
    assert(
      difference.oldCount + deleted.size === old.size,
      'a relist neither contains nor deletes an object',
    );
    shadow.state.version = resourceVersion;
    difference.version = resourceVersion;
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
    this.#disposals.push({ state, difference, slot: state.first });
  }

  #newState(): ReplicaState {
    return new ReplicaState(this.table, this.#shards, this.#indexes.names);
  }
}

/** Returns whether a deletion with this version, or a later one of the same key, was recorded. */
function isRepeated(version: number | string, recorded: number | string | undefined): boolean {
  if (recorded === undefined || recorded === version) return recorded !== undefined;
  return isOlderResourceVersion(String(version), String(recorded));
}
