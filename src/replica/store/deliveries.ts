/**
 * Long deliveries as cursors: a late handler's initial list, a resync and the difference of a relist are one record
 * each in a listener's queue, which produces notifications within the drain budget. A million objects never block the
 * event loop, and nothing is copied in advance.
 */
import type { Entry } from './entry.ts';
import type { ReplicaState, Slot, StateObserver } from './replica-state.ts';

/** One notification: an add has no `oldEntry`, a delete no `newEntry`. */
export interface Delivery {
  oldEntry: Entry | undefined;
  newEntry: Entry | undefined;
  /** Meaningful for an add only. */
  isInInitialList: boolean;
  /** True when a relist found the deletion, so that the last state is unknown. */
  isFinalStateUnknown: boolean;
}

export function emptyDelivery(): Delivery {
  return { oldEntry: undefined, newEntry: undefined, isInInitialList: false, isFinalStateUnknown: false };
}

export interface DeliveryCursor {
  /**
   * Fills `out` with the next notification, with references for the reader; false at the end. Leaves both entries
   * undefined after skipping many, so that the reader can look at the clock.
   */
  next(out: Delivery): boolean;
  /** Ends the cursor early. Each call releases some of the entries kept for the reader; true while there are more. */
  close(): boolean;
  /** Upper bound of the notifications still to come. */
  readonly remaining: number;
  /** Upper bound of the bytes of superseded objects that it may still need. */
  readonly heldBytes: number;
  /** The same, with the bytes that several cursors share divided among them. */
  readonly heldShareBytes: number;
}

const RELEASED_PER_CALL = 1024;

/**
 * Walks over the state as it was when the cursor was made. Before the state changes a slot that the walk has not
 * reached, it passes the old entry to the cursor. So a handler joins exactly: every change before the join is in the
 * walk, every later change is a notification behind it.
 */
export class SnapshotCursor implements DeliveryCursor, StateObserver {
  readonly #state: ReplicaState;
  readonly #kind: 'join' | 'resync';
  readonly #slots: IterableIterator<Slot>;
  readonly #orderEnd: number;
  #lastOrder = -1;
  /** Entries of slots that changed or were removed before the walk reached them. */
  readonly #saved: Map<Slot, Entry> = new Map();
  /** Slots that were removed before the walk reached them; delivered last. */
  readonly #removed: Slot[] = [];
  #removedDelivered = 0;
  heldBytes = 0;
  remaining: number;
  #dropped: IterableIterator<Entry> | undefined;

  constructor(state: ReplicaState, kind: 'join' | 'resync') {
    this.#state = state;
    this.#kind = kind;
    this.#slots = state.slots();
    this.#orderEnd = state.orderEnd;
    this.remaining = state.size;
    state.cursors.add(this);
  }

  get heldShareBytes(): number {
    return this.heldBytes;
  }

  beforeChange(slot: Slot): void {
    if (!this.#isAhead(slot) || this.#saved.has(slot)) return;
    slot.entry.addReference();
    this.heldBytes += slot.entry.length;
    this.#saved.set(slot, slot.entry);
  }

  beforeRemove(slot: Slot): void {
    if (!this.#isAhead(slot)) return;
    if (this.#kind === 'join') {
      this.beforeChange(slot);
      this.#removed.push(slot);
      return;
    }
    // A resync never delivers an object whose deletion is already queued behind it (contract C13).
    this.remaining--;
    this.#takeSaved(slot)?.dropReference();
  }

  next(out: Delivery): boolean {
    const entry = this.#nextEntry();
    if (!entry) {
      this.close();
      return false;
    }
    this.remaining--;
    out.newEntry = entry;
    out.oldEntry = this.#kind === 'resync' ? entry : undefined;
    if (out.oldEntry) out.oldEntry.addReference();
    out.isInInitialList = this.#kind === 'join';
    out.isFinalStateUnknown = false;
    return true;
  }

  close(): boolean {
    this.#state.cursors.delete(this);
    this.remaining = 0;
    this.heldBytes = 0;
    this.#dropped ??= this.#saved.values();
    for (let count = 0; count < RELEASED_PER_CALL; count++) {
      const { value: entry, done } = this.#dropped.next();
      if (done) return false;
      entry.dropReference();
    }
    return true;
  }

  /** Returns an entry with a reference for the reader. */
  #nextEntry(): Entry | undefined {
    const { value: next, done } = this.#slots.next();
    const isPresent = !done && next.order < this.#orderEnd;
    if (isPresent) this.#lastOrder = next.order;
    const slot = isPresent ? next : this.#removed[this.#removedDelivered++];
    const saved = slot && this.#takeSaved(slot);
    if (saved || !slot) return saved;
    slot.entry.addReference();
    return slot.entry;
  }

  /** Passes a saved entry and its reference to the caller. */
  #takeSaved(slot: Slot): Entry | undefined {
    const saved = this.#saved.get(slot);
    if (!saved) return undefined;
    this.#saved.delete(slot);
    this.heldBytes -= saved.length;
    return saved;
  }

  #isAhead(slot: Slot): boolean {
    return slot.order > this.#lastOrder && slot.order < this.#orderEnd;
  }
}

/**
 * The changes of a relist, collected while the shadow fills and complete at the swap: deletions first, then updates and
 * adds in list order. All listeners read the same one; entries are released when the slowest listener has passed them.
 */
export class Difference {
  readonly isInitial: boolean;
  readonly #deletions: Entry[] = [];
  readonly #olds: (Entry | undefined)[] = [];
  readonly #news: (Entry | undefined)[] = [];
  /** Number of changes of objects that existed before. */
  oldCount = 0;
  /** Cursors that have not reached the end. */
  readonly readers: Set<DifferenceCursor> = new Set();
  supersededBytes = 0;
  #released = 0;

  constructor(isInitial: boolean) {
    this.isInitial = isInitial;
  }

  addDeletion(entry: Entry): void {
    entry.addReference();
    this.supersededBytes += entry.length;
    this.#deletions.push(entry);
  }

  /** Returns the place of the new change, for `replaceChange`. */
  addChange(oldEntry: Entry | undefined, newEntry: Entry): number {
    if (oldEntry) this.oldCount++;
    oldEntry?.addReference();
    newEntry.addReference();
    this.supersededBytes += bytesOfOld(oldEntry, newEntry);
    this.#olds.push(oldEntry);
    return this.#news.push(newEntry) - 1;
  }

  /** Sets a later state of the same object within the same relist; undefined when it was deleted again. */
  replaceChange(place: number, newEntry: Entry | undefined): void {
    const oldEntry = this.#olds[place];
    const replaced = this.#news[place];
    this.supersededBytes += bytesOfOld(oldEntry, newEntry) - bytesOfOld(oldEntry, replaced);
    replaced?.dropReference();
    newEntry?.addReference();
    this.#news[place] = newEntry;
    if (newEntry === undefined && oldEntry) this.oldCount--;
  }

  get length(): number {
    return this.#deletions.length + this.#news.length;
  }

  cursor(isResyncDue: boolean): DifferenceCursor {
    const cursor = new DifferenceCursor(this, isResyncDue);
    this.readers.add(cursor);
    return cursor;
  }

  /** Fills `out`; false when there is nothing to deliver at this position. */
  read(position: number, out: Delivery): boolean {
    const isDeletion = position < this.#deletions.length;
    const place = position - this.#deletions.length;
    out.newEntry = isDeletion ? undefined : this.#news[place];
    out.oldEntry = isDeletion ? this.#deletions[position] : this.#olds[place];
    out.isInInitialList = this.isInitial;
    out.isFinalStateUnknown = isDeletion;
    return out.newEntry !== undefined || isDeletion;
  }

  /** Releases up to `count` places that the slowest reader, if any, has passed. True when there is more to do now. */
  releasePassed(count: number = Infinity): boolean {
    let slowest = this.length;
    for (const reader of this.readers) slowest = Math.min(slowest, reader.position);
    const deletions = this.#deletions.length;
    const end = Math.min(slowest, this.#released + count);
    for (; this.#released < end; this.#released++) {
      if (this.#released < deletions) this.#deletions[this.#released]?.dropReference();
      else {
        this.#olds[this.#released - deletions]?.dropReference();
        this.#news[this.#released - deletions]?.dropReference();
      }
    }
    return end < slowest;
  }

  get isReleased(): boolean {
    return this.#released === this.length;
  }
}

function bytesOfOld(oldEntry: Entry | undefined, newEntry: Entry | undefined): number {
  return oldEntry === undefined || oldEntry === newEntry ? 0 : oldEntry.length;
}

/** Places without a notification for a reader that one call may skip. */
const SKIP_MAX = 256;

export class DifferenceCursor implements DeliveryCursor {
  position = 0;
  readonly #difference: Difference;
  readonly #isResyncDue: boolean;

  /** @param isResyncDue true to deliver also updates without a change (contract C12) */
  constructor(difference: Difference, isResyncDue: boolean) {
    this.#difference = difference;
    this.#isResyncDue = isResyncDue;
  }

  get remaining(): number {
    return this.#difference.length - this.position;
  }

  get heldBytes(): number {
    return this.remaining === 0 ? 0 : this.#difference.supersededBytes;
  }

  get heldShareBytes(): number {
    return this.heldBytes / this.#difference.readers.size;
  }

  next(out: Delivery): boolean {
    const { length } = this.#difference;
    const pauseAt = Math.min(length, this.position + SKIP_MAX);
    while (this.position < pauseAt) {
      const found = this.#difference.read(this.position, out);
      this.position++;
      const isResync = out.oldEntry !== undefined && out.oldEntry === out.newEntry;
      if (found && (!isResync || this.#isResyncDue)) {
        out.oldEntry?.addReference();
        out.newEntry?.addReference();
        return true;
      }
    }
    out.oldEntry = undefined;
    out.newEntry = undefined;
    if (this.position < length) return true;
    this.close();
    return false;
  }

  close(): boolean {
    this.#difference.readers.delete(this);
    return false;
  }
}
