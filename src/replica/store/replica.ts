/**
 * The replica of an informer: the live state, and during a relist the shadow that will replace it.
 *
 * Every change is prepared first (decode, user functions, memory), which may throw or report. It is then committed in a
 * step without user code: state, indexes and listeners change together. So a notification is never ahead of the cache
 * (contract C6), and no query sees half a change (C5).
 */
import { assert } from '../../base/errors.ts';
import { isOlderResourceVersion } from '../../kube/resource-version.ts';
import { DeltaKind } from '../../shared/record/delta.ts';
import { NO_ORDINAL, NO_ROW } from './columns.ts';
import { Difference } from './deliveries.ts';
import type { EntryTable } from './entry-table.ts';
import { EntryFlag } from './entry.ts';
import { RecentMap } from './extracted-fields.ts';
import { OrdinalSet } from './ordinal-set.ts';
import { ReplicaState } from './replica-state.ts';
import type { IndexSet, IndexValues } from './replica-state.ts';

/** Receives committed changes; only appends them, and runs no user code. */
export interface ReplicaListener {
  /**
   * @param oldRow `NO_ROW` for an added object
   * @param newRow `NO_ROW` for a deleted object
   */
  changed(oldRow: number, newRow: number): void;
  replaced(difference: Difference): void;
}

interface Shadow {
  readonly epoch: number;
  readonly state: ReplicaState;
  readonly difference: Difference;
  /** Ordinals of the live state that occurred in the relist: their changes or deletions are in the difference. */
  readonly seen: OrdinalSet;
  /** At the end of the relist: the next ordinal of the live state to look at. */
  searchAt: number;
}

/** A state that was swapped out or aborted, with the difference; both are emptied within the drain budget. */
interface Disposal {
  readonly state: ReplicaState;
  readonly difference: Difference;
  /** The next ordinal to be emptied, or `NO_ORDINAL`. */
  ordinal: number;
}

const DISPOSED_PER_CALL = 512;
/** Ordinals that `control` looks at in a call, which counts as a record: some microseconds if all of them are missing. */
const SEARCHED_PER_CALL = 64;
/** A server that repeats an event repeats a recent event. */
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
  /** Whether the next list is for new threads only, which no failure requires. */
  #isContinuing = false;
  /**
   * Versions of the latest deletions by key: a repeated DELETED event is dropped instead of delivered as the deletion
   * of an unknown object. The replica keeps no other data of deleted objects.
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

  /** The state that records now change: during a list, the state that will replace the live one. */
  get changing(): ReplicaState {
    return this.#shadow?.state ?? this.#live;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Returns the row of the object with this id in the state that records now change, or `NO_ROW`. */
  rowOf(shard: number, id: number): number {
    const state = this.changing;
    return state.rowAt(state.at(shard, id));
  }

  /** Returns the state of the object with this key in the cache, or `NO_ROW`. */
  rowByKey(key: string): number {
    return this.#live.rowAt(this.#live.get(key));
  }

  /** Adds or replaces an object. The row holds the bytes; the index values are evaluated here. */
  upsert(shard: number, id: number, row: number): void {
    const { table } = this;
    const target = this.changing;
    const ordinal = target.at(shard, id);
    const isKnown = ordinal !== NO_ORDINAL;
    const state = isKnown ? target : this.#live;
    const previousOrdinal = isKnown || !this.#shadow ? ordinal : this.#live.get(table.keyOf(row));
    const previous = state.rowAt(previousOrdinal);
    const facts = table.factsOf(row);
    const before = previous === NO_ROW ? undefined : table.factsOf(previous);
    assert(!before || before === facts || before.key === facts.key, 'the id is of another object', facts.key);
    const values = this.#indexes.valuesOf(row, before?.equals(facts) ?? false, state, previousOrdinal);
    if (previous !== NO_ROW && !table.hasFlag(row, EntryFlag.Packed))
      table.setDictionary(row, table.dictionaryOf(previous));
    table.addReference(row);
    if (this.#shadow) {
      if (isKnown) this.#updateShadow(this.#shadow, ordinal, row, values);
      else {
        const known = values ?? state.valuesAt(previousOrdinal);
        this.#insertShadow(this.#shadow, shard, id, row, previousOrdinal, known);
      }
      return;
    }
    if (isKnown) this.#live.update(ordinal, row, values);
    else this.#live.insert(shard, id, row, values ?? []);
    this.#live.version = table.versionOf(row);
    this.#listener.changed(previous, row);
    if (isKnown) table.dropReference(previous);
  }

  /** Keeps the state of a relisted object that did not change. @param ordinal in the cache */
  keep(shard: number, id: number, ordinal: number): void {
    const shadow = this.#shadow;
    if (!shadow) return;
    const row = this.#live.rowAt(ordinal);
    const values = this.#live.valuesAt(ordinal);
    this.table.addReference(row);
    const listed = shadow.state.at(shard, id);
    if (listed === NO_ORDINAL) this.#insertShadow(shadow, shard, id, row, ordinal, values);
    else this.#updateShadow(shadow, listed, row, values);
  }

  /** Removes an object; `last` is the state that the server sent with the deletion. */
  remove(last: number): void {
    this.table.addReference(last);
    if (this.#shadow) this.#removeShadow(this.#shadow, this.table.keyOf(last));
    else this.#removeLive(last);
    this.table.dropReference(last);
  }

  /**
   * Applies a control record. Returns false while there is more to do for it: call again. At the end of a relist a call
   * finds some of the objects that the relist lacks.
   */
  control(kind: DeltaKind, epoch: number, resourceVersion: string): boolean {
    switch (kind) {
      case DeltaKind.ReplaceBegin:
        this.abort();
        this.#shadow = {
          epoch,
          state: this.#newState(),
          difference: new Difference(this.table, !this.#hasSynced, !this.#isContinuing),
          seen: new OrdinalSet(this.#live.ordinalEnd),
          searchAt: 0,
        };
        break;
      case DeltaKind.ReplaceAbort:
        if (this.#shadow?.epoch === epoch) this.abort();
        break;
      case DeltaKind.ReplaceEnd:
        if (this.#shadow?.epoch !== epoch) break;
        if (!this.#addMissing(this.#shadow)) return false;
        this.#swap(this.#shadow, resourceVersion);
        break;
      case DeltaKind.Bookmark:
        this.changing.version = resourceVersion;
        break;
    }
    return true;
  }

  /** Ends an incomplete list before the next one. @param isFailure false when new threads begin without a failure */
  restart(isFailure: boolean): void {
    this.abort();
    this.#isContinuing = !isFailure;
  }

  /** Ends an incomplete list. */
  abort(): void {
    const shadow = this.#shadow;
    if (!shadow) return;
    this.#shadow = undefined;
    this.#disposeLater(shadow.state, shadow.difference);
  }

  /** Adds indexes over the cached objects; user functions run here, synchronously. */
  addIndexers(indexers: Parameters<IndexSet['add']>[0]): void {
    this.#indexes.add(indexers);
    const names = Object.keys(indexers);
    const states = this.#shadow ? [this.#live, this.#shadow.state] : [this.#live];
    for (const state of states) {
      state.addIndices(names, (ordinal) => {
        return this.#indexes.completed(state.rowAt(ordinal), state.valuesAt(ordinal));
      });
    }
  }

  /** Releases a few entries of replaced states and ended differences; returns true while there is more to do. */
  dispose(): boolean {
    if (this.#disposals.length === 0) return false;
    let hasMore = false;
    let left = DISPOSED_PER_CALL;
    for (const disposal of this.#disposals) {
      hasMore = disposal.difference.releasePassed(DISPOSED_PER_CALL) || hasMore;
      // A state that a slow handler still walks over must not block the others.
      if (disposal.state.cursors.size > 0) continue;
      for (; left > 0 && disposal.ordinal !== NO_ORDINAL; left--) {
        this.table.dropReference(disposal.state.rowAt(disposal.ordinal));
        disposal.ordinal = disposal.state.after(disposal.ordinal);
      }
      if (disposal.ordinal !== NO_ORDINAL) hasMore = true;
    }
    this.#disposals = this.#disposals.filter(
      ({ ordinal, difference }) => ordinal !== NO_ORDINAL || !difference.isReleased,
    );
    return hasMore;
  }

  /** @param values undefined when they did not change since the shadow's state of the object */
  #updateShadow(shadow: Shadow, ordinal: number, row: number, values: IndexValues | undefined): void {
    const superseded = shadow.state.rowAt(ordinal);
    shadow.state.update(ordinal, row, values);
    shadow.difference.replaceChange(shadow.state.differenceAt(ordinal), row);
    this.table.dropReference(superseded);
  }

  /** @param live the object's ordinal in the live state, or `NO_ORDINAL` */
  #insertShadow(
    { state, seen, difference }: Shadow,
    shard: number,
    id: number,
    row: number,
    live: number,
    values: IndexValues,
  ): void {
    // The state that handlers hold when the difference reaches the change: none after a deletion in the difference.
    const isFirst = live !== NO_ORDINAL && seen.add(live);
    const added = state.insert(shard, id, row, values);
    state.setDifferenceAt(added, difference.addChange(isFirst ? this.#live.rowAt(live) : NO_ROW, row));
  }

  #removeLive(last: number): void {
    const key = this.table.keyOf(last);
    const version = this.table.versionOf(last);
    const ordinal = this.#live.get(key);
    if (ordinal === NO_ORDINAL && isRepeated(version, this.#deletions.get(key))) return;
    this.#deletions.set(key, version);
    const row = this.#live.rowAt(ordinal);
    if (ordinal !== NO_ORDINAL) this.#live.remove(ordinal);
    else this.table.setFlag(last, EntryFlag.NeverCached);
    // Handlers are also called for the deletion of an object that was never seen, as in client-go.
    this.#listener.changed(last, NO_ROW);
    if (ordinal !== NO_ORDINAL) this.table.dropReference(row);
    this.#live.version = version;
  }

  #removeShadow({ state, seen, difference }: Shadow, key: string): void {
    const ordinal = state.get(key);
    if (ordinal !== NO_ORDINAL) {
      const row = state.rowAt(ordinal);
      state.remove(ordinal);
      difference.removeChange(state.differenceAt(ordinal));
      this.table.dropReference(row);
      return;
    }
    const live = this.#live.get(key);
    if (live !== NO_ORDINAL && seen.add(live)) difference.addDeletion(this.#live.rowAt(live));
  }

  /** Adds the deletions of objects that the relist lacks, in the order of their ordinals; false while there are more. */
  #addMissing(shadow: Shadow): boolean {
    const { seen, difference } = shadow;
    for (let left = SEARCHED_PER_CALL; difference.oldCount < this.#live.size; left--) {
      if (left === 0) return false;
      const ordinal = seen.absentFrom(shadow.searchAt);
      assert(ordinal < this.#live.ordinalEnd, 'a relist neither contains nor deletes an object');
      shadow.searchAt = ordinal + 1;
      const row = this.#live.rowAt(ordinal);
      if (row !== NO_ROW) difference.addDeletion(row);
    }
    return true;
  }

  #swap(shadow: Shadow, resourceVersion: string): void {
    const old = this.#live;
    const { difference } = shadow;
    shadow.state.version = resourceVersion;
    difference.version = resourceVersion;
    this.#live = shadow.state;
    this.#shadow = undefined;
    this.#hasSynced = true;
    this.#isContinuing = false;
    this.#listener.replaced(difference);
    this.#disposeLater(old, difference);
  }

  #disposeLater(state: ReplicaState, difference: Difference): void {
    this.#disposals.push({ state, difference, ordinal: state.first });
  }

  #newState(): ReplicaState {
    return new ReplicaState(this.table, this.#shards, this.#indexes.names);
  }
}

/** Returns whether a deletion with this version, or a later deletion of the same key, was recorded. */
function isRepeated(version: number | string, recorded: number | string | undefined): boolean {
  if (recorded === undefined || recorded === version) return recorded !== undefined;
  return isOlderResourceVersion(String(version), String(recorded));
}
