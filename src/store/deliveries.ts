/**
 * Long deliveries as cursors: a late handler, a resync and the difference of a relist are one record in a
 * listener's ring, from which notifications are produced within the drain budget. A million objects never
 * block the loop, and nothing is copied up front.
 */
import type { Entry } from './entry.ts';
import type { ReplicaState, Slot, StateObserver } from './replica-state.ts';

/** One notification: an add has no `oldEntry`, a delete no `newEntry`. */
export interface Delivery {
  oldEntry: Entry | undefined;
  newEntry: Entry | undefined;
  /** Says something of adds only. */
  isInInitialList: boolean;
  /** The deletion was found by a relist: nobody saw the last state. */
  isFinalStateUnknown: boolean;
}

export interface DeliveryCursor {
  /**
   * Fills `out` with the next one, held for the reader; false at the end. Leaves both entries undefined when
   * there was much to skip and the reader should look at the clock first.
   */
  next(out: Delivery): boolean;
  /** The reader goes away before the end. */
  close(): void;
  /** Notifications still to come, at most. */
  readonly remaining: number;
  /** Bytes of superseded objects that it may still need, at most. */
  readonly heldBytes: number;
  /** The same, where what several cursors hold together counts once. */
  readonly heldShareBytes: number;
}

/**
 * Walks over the state as it was when the cursor was made: before a slot that it has not reached changes,
 * the state hands it the old entry. So a join is exact: every change before the cut is in the walk, every
 * change after it is a notification of its own behind it.
 */
export class SnapshotCursor implements DeliveryCursor, StateObserver {
  readonly #state: ReplicaState;
  readonly #kind: 'join' | 'resync';
  readonly #slots: IterableIterator<Slot>;
  readonly #orderEnd: number;
  #lastOrder = -1;
  /** Entries of slots that changed before the walk reached them. */
  readonly #saved: Map<Slot, Entry> = new Map();
  /** Entries of slots that were removed before the walk reached them; delivered last. */
  readonly #removed: (Entry | undefined)[] = [];
  #removedDelivered = 0;
  #heldBytes = 0;
  #remaining: number;

  constructor(state: ReplicaState, kind: 'join' | 'resync') {
    this.#state = state;
    this.#kind = kind;
    this.#slots = state.slots();
    this.#orderEnd = state.orderEnd;
    this.#remaining = state.size;
    state.cursors.add(this);
  }

  get remaining(): number {
    return this.#remaining;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get heldShareBytes(): number {
    return this.#heldBytes;
  }

  beforeChange(slot: Slot): void {
    if (!this.#isAhead(slot) || this.#saved.has(slot)) return;
    this.#saved.set(slot, this.#keep(slot.entry));
  }

  beforeRemove(slot: Slot): void {
    if (!this.#isAhead(slot)) return;
    const saved = this.#saved.get(slot);
    this.#saved.delete(slot);
    if (this.#kind === 'join') {
      this.#removed.push(saved ?? this.#keep(slot.entry));
      return;
    }
    // A resync never tells of an object whose deletion is already queued behind it (contract C13).
    this.#remaining--;
    if (saved) this.#handOver(saved).letGo();
  }

  next(out: Delivery): boolean {
    const entry = this.#nextEntry();
    if (!entry) {
      this.close();
      return false;
    }
    this.#remaining--;
    out.newEntry = entry;
    out.oldEntry = this.#kind === 'resync' ? entry : undefined;
    if (out.oldEntry) out.oldEntry.hold();
    out.isInInitialList = this.#kind === 'join';
    out.isFinalStateUnknown = false;
    return true;
  }

  close(): void {
    this.#state.cursors.delete(this);
    for (const entry of this.#saved.values()) entry.letGo();
    this.#saved.clear();
    for (const entry of this.#removed) entry?.letGo();
    this.#removed.length = 0;
    this.#remaining = 0;
    this.#heldBytes = 0;
  }

  /** The next entry, with a hold for the reader. */
  #nextEntry(): Entry | undefined {
    const { value: slot, done } = this.#slots.next();
    if (done || slot.order >= this.#orderEnd) return this.#nextRemoved();
    this.#lastOrder = slot.order;
    const saved = this.#saved.get(slot);
    if (saved) {
      this.#saved.delete(slot);
      return this.#handOver(saved);
    }
    slot.entry.hold();
    return slot.entry;
  }

  #nextRemoved(): Entry | undefined {
    const entry = this.#removed[this.#removedDelivered];
    if (!entry) return undefined;
    this.#removed[this.#removedDelivered++] = undefined;
    return this.#handOver(entry);
  }

  #keep(entry: Entry): Entry {
    entry.hold();
    this.#heldBytes += entry.length;
    return entry;
  }

  /** What was kept goes to the reader, its hold with it. */
  #handOver(entry: Entry): Entry {
    this.#heldBytes -= entry.length;
    return entry;
  }

  #isAhead(slot: Slot): boolean {
    return slot.order > this.#lastOrder && slot.order < this.#orderEnd;
  }
}

/**
 * What a relist changed, built while the shadow fills and frozen at the swap: deletions first, then updates
 * and adds in list order. All listeners read the same one; entries are let go as the slowest passes them.
 */
export class Difference {
  readonly isInitial: boolean;
  readonly #deletions: Entry[] = [];
  readonly #olds: (Entry | undefined)[] = [];
  readonly #news: (Entry | undefined)[] = [];
  /** Changes of objects that were there before. */
  oldCount = 0;
  readonly #readers: Set<DifferenceCursor> = new Set();
  #released = 0;
  #supersededBytes = 0;

  constructor(isInitial: boolean) {
    this.isInitial = isInitial;
  }

  addDeletion(entry: Entry): void {
    entry.hold();
    this.#supersededBytes += entry.length;
    this.#deletions.push(entry);
  }

  /** The place of the new change, for `replaceChange`. */
  addChange(oldEntry: Entry | undefined, newEntry: Entry): number {
    if (oldEntry) this.oldCount++;
    oldEntry?.hold();
    newEntry.hold();
    this.#supersededBytes += bytesOfOld(oldEntry, newEntry);
    this.#olds.push(oldEntry);
    return this.#news.push(newEntry) - 1;
  }

  /** A later state of the same object within the same relist; undefined when it was deleted again. */
  replaceChange(place: number, newEntry: Entry | undefined): void {
    const oldEntry = this.#olds[place];
    const replaced = this.#news[place];
    this.#supersededBytes += bytesOfOld(oldEntry, newEntry) - bytesOfOld(oldEntry, replaced);
    replaced?.letGo();
    newEntry?.hold();
    this.#news[place] = newEntry;
    if (newEntry === undefined && oldEntry) this.oldCount--;
  }

  /** That have not come to its end. */
  get readers(): number {
    return this.#readers.size;
  }

  get length(): number {
    return this.#deletions.length + this.#news.length;
  }

  /** Of objects that were deleted or replaced. */
  get supersededBytes(): number {
    return this.#supersededBytes;
  }

  cursor(isSyncing: () => boolean): DifferenceCursor {
    const cursor = new DifferenceCursor(this, isSyncing, (closed) => this.#readers.delete(closed));
    this.#readers.add(cursor);
    return cursor;
  }

  /** Fills `out`; false when there is nothing to tell at this position. */
  read(position: number, out: Delivery): boolean {
    const isDeletion = position < this.#deletions.length;
    const place = position - this.#deletions.length;
    out.newEntry = isDeletion ? undefined : this.#news[place];
    out.oldEntry = isDeletion ? this.#deletions[position] : this.#olds[place];
    out.isInInitialList = this.isInitial;
    out.isFinalStateUnknown = isDeletion;
    return out.newEntry !== undefined || isDeletion;
  }

  /**
   * Lets go of what the slowest reader has passed, and with no reader of everything, up to `count` places at
   * once. True when there is more to do now.
   */
  releasePassed(count: number = Infinity): boolean {
    let slowest = this.length;
    for (const reader of this.#readers) slowest = Math.min(slowest, reader.position);
    const deletions = this.#deletions.length;
    const end = Math.min(slowest, this.#released + count);
    for (; this.#released < end; this.#released++) {
      if (this.#released < deletions) this.#deletions[this.#released]?.letGo();
      else {
        this.#olds[this.#released - deletions]?.letGo();
        this.#news[this.#released - deletions]?.letGo();
      }
    }
    return end < slowest;
  }

  /** Nothing is held any more. */
  get isReleased(): boolean {
    return this.#released === this.length;
  }
}

/** Of a state that was there before, if a change has superseded it. */
function bytesOfOld(oldEntry: Entry | undefined, newEntry: Entry | undefined): number {
  return oldEntry === undefined || oldEntry === newEntry ? 0 : oldEntry.length;
}

/** Places of a difference that say nothing to a reader, passed over in one call. */
const SKIP_MAX = 256;

export class DifferenceCursor implements DeliveryCursor {
  position = 0;
  readonly #difference: Difference;
  readonly #isSyncing: () => boolean;
  readonly #onClose: (cursor: DifferenceCursor) => void;

  constructor(difference: Difference, isSyncing: () => boolean, onClose: (cursor: DifferenceCursor) => void) {
    this.#difference = difference;
    this.#isSyncing = isSyncing;
    this.#onClose = onClose;
  }

  get remaining(): number {
    return this.#difference.length - this.position;
  }

  get heldBytes(): number {
    return this.remaining === 0 ? 0 : this.#difference.supersededBytes;
  }

  get heldShareBytes(): number {
    return this.heldBytes / this.#difference.readers;
  }

  next(out: Delivery): boolean {
    const { length } = this.#difference;
    const pauseAt = Math.min(length, this.position + SKIP_MAX);
    while (this.position < pauseAt) {
      const found = this.#difference.read(this.position, out);
      this.position++;
      if (found && !this.#isUnwantedSync(out)) {
        out.oldEntry?.hold();
        out.newEntry?.hold();
        return true;
      }
    }
    out.oldEntry = undefined;
    out.newEntry = undefined;
    if (this.position < length) return true;
    this.close();
    return false;
  }

  close(): void {
    this.#onClose(this);
  }

  /** An update without a change goes only to listeners whose resync is due (contract C12). */
  #isUnwantedSync(delivery: Delivery): boolean {
    const { oldEntry, newEntry } = delivery;
    if (!oldEntry || !newEntry || oldEntry.version !== newEntry.version) return false;
    return !this.#isSyncing();
  }
}
