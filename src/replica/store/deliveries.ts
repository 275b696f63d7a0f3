/**
 * Long deliveries as cursors: a late handler's initial list, a resync and the difference of a relist are a single
 * element each in a listener's queue, which produces notifications within the drain budget. A million objects never
 * block the event loop, and are not copied in advance.
 */
import { NO_ORDINAL, NO_ROW, NumberColumns } from './columns.ts';
import type { EntryTable } from './entry-table.ts';
import type { Entry } from './entry.ts';
import type { ReplicaState, StateObserver } from './replica-state.ts';

/** A notification: an add omits `oldEntry`, a delete omits `newEntry`. */
export interface Delivery {
  oldEntry: Entry | undefined;
  newEntry: Entry | undefined;
  /** Meaningful only for an add. */
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
   * undefined after skipping many changes, so that the reader can check the clock.
   */
  next(out: Delivery): boolean;
  /** Ends the cursor early. Each call releases some of the entries kept for the reader; true while there are more. */
  close(): boolean;
  /** The server's version of the state that the reader reaches at the end. */
  readonly version: number | string;
  /** Upper bound of the notifications still to come. */
  readonly remaining: number;
  /** Upper bound of the bytes of superseded objects that the cursor may still need. */
  readonly heldBytes: number;
  /** As `heldBytes` with the cursor's own memory, divided among cursors that share the bytes. */
  readonly heldShareBytes: number;
}

const RELEASED_PER_CALL = 1024;

// Columns of a difference.
const OLD = 0;
const NEW = 1;

/**
 * Walks over the state as it was when the cursor was made. Before the state changes an ordinal ahead of the walk, it
 * passes the old entry to the cursor. So a handler joins exactly: every change before the join is in the walk, every
 * later change is a notification behind the walk.
 */
export class SnapshotCursor implements DeliveryCursor, StateObserver {
  readonly #table: EntryTable;
  readonly #state: ReplicaState;
  readonly #kind: 'join' | 'resync';
  readonly #orderEnd: number;
  readonly version: number | string;
  /** The next ordinal of the walk, or `NO_ORDINAL`. */
  #next: number;
  /** Rows of ordinals that changed or were removed before the walk reached them. */
  readonly #saved: Map<number, number> = new Map();
  /** Ordinals that were removed before the walk reached them; delivered last. */
  readonly #removed: number[] = [];
  #removedDelivered = 0;
  heldBytes = 0;
  remaining: number;
  #dropped: IterableIterator<number> | undefined;

  constructor(
    { table, live }: { readonly table: EntryTable; readonly live: ReplicaState },
    kind: 'join' | 'resync',
  ) {
    this.#table = table;
    this.#state = live;
    this.#kind = kind;
    this.#next = live.first;
    this.#orderEnd = live.orderEnd;
    this.version = live.version;
    this.remaining = live.size;
    live.cursors.add(this);
  }

  get heldShareBytes(): number {
    return this.heldBytes;
  }

  beforeChange(ordinal: number): void {
    if (!this.#isAhead(ordinal) || this.#saved.has(ordinal)) return;
    const row = this.#state.rowAt(ordinal);
    this.#table.addReference(row);
    this.heldBytes += this.#table.lengthOf(row);
    this.#saved.set(ordinal, row);
  }

  beforeRemove(ordinal: number): void {
    if (!this.#isAhead(ordinal)) return;
    if (this.#kind === 'join') {
      this.beforeChange(ordinal);
      this.#removed.push(ordinal);
    } else {
      // A resync never delivers an object whose deletion is already queued behind it (contract C13).
      this.remaining--;
      const saved = this.#takeSaved(ordinal);
      if (saved !== NO_ROW) this.#table.dropReference(saved);
    }
    if (ordinal === this.#next) this.#next = this.#state.after(ordinal);
  }

  next(out: Delivery): boolean {
    const row = this.#nextRow();
    if (row === NO_ROW) {
      this.close();
      return false;
    }
    this.remaining--;
    const isResync = this.#kind === 'resync';
    if (isResync) this.#table.addReference(row);
    out.newEntry = this.#table.open(row);
    out.oldEntry = isResync ? out.newEntry : undefined;
    out.isInInitialList = !isResync;
    out.isFinalStateUnknown = false;
    return true;
  }

  close(): boolean {
    this.#state.cursors.delete(this);
    this.remaining = 0;
    this.heldBytes = 0;
    this.#dropped ??= this.#saved.values();
    for (let count = 0; count < RELEASED_PER_CALL; count++) {
      const { value: row, done } = this.#dropped.next();
      if (done) return false;
      this.#table.dropReference(row);
    }
    return true;
  }

  /** Returns a row with a reference for the reader, or `NO_ROW`. */
  #nextRow(): number {
    const next = this.#next;
    const isPresent = next !== NO_ORDINAL && this.#isAhead(next);
    if (isPresent) this.#next = this.#state.after(next);
    const ordinal = isPresent ? next : (this.#removed[this.#removedDelivered++] ?? NO_ORDINAL);
    const saved = this.#takeSaved(ordinal);
    if (saved !== NO_ROW || ordinal === NO_ORDINAL) return saved;
    const row = this.#state.rowAt(ordinal);
    this.#table.addReference(row);
    return row;
  }

  /** Passes a saved row with the reference to the caller; returns `NO_ROW` if there is no saved row. */
  #takeSaved(ordinal: number): number {
    const saved = this.#saved.get(ordinal);
    if (saved === undefined) return NO_ROW;
    this.#saved.delete(ordinal);
    this.heldBytes -= this.#table.lengthOf(saved);
    return saved;
  }

  #isAhead(ordinal: number): boolean {
    if (this.#next === NO_ORDINAL) return false;
    const order = this.#state.orderAt(ordinal);
    return order >= this.#state.orderAt(this.#next) && order < this.#orderEnd;
  }
}

/**
 * The changes of a relist, collected while the shadow fills and complete at the swap: deletions first, then updates and
 * adds in list order. All listeners read the same difference; entries are released after the slowest listener passed
 * them.
 */
export class Difference {
  readonly #table: EntryTable;
  readonly isInitial: boolean;
  /** Whether handlers may receive unchanged objects (contract C12): not of a list that only new threads need. */
  readonly mayResync: boolean;
  /** The server's version of the list; set at the swap. */
  version: number | string = '';
  readonly #deletions: number[] = [];
  /** Rows before and after each change. */
  readonly #changes: NumberColumns = new NumberColumns(2);
  #changeCount = 0;
  /** Number of changes and deletions of objects that existed before. */
  oldCount = 0;
  /** Cursors that have not reached the end. */
  readonly readers: Set<DifferenceCursor> = new Set();
  supersededBytes = 0;
  #released = 0;

  constructor(table: EntryTable, isInitial: boolean, mayResync: boolean = true) {
    this.#table = table;
    this.isInitial = isInitial;
    this.mayResync = mayResync;
  }

  addDeletion(row: number): void {
    this.oldCount++;
    this.#table.addReference(row);
    this.supersededBytes += this.#table.lengthOf(row);
    this.#deletions.push(row);
  }

  /** Returns the place of the new change, for `replaceChange`. @param oldRow `NO_ROW` for a new object */
  addChange(oldRow: number, newRow: number): number {
    if (oldRow !== NO_ROW) {
      this.oldCount++;
      this.#table.addReference(oldRow);
    }
    this.#table.addReference(newRow);
    this.supersededBytes += this.#bytesOfOld(oldRow, newRow);
    const place = this.#changeCount++;
    this.#changes.reserve(place);
    this.#changes.set(place, OLD, oldRow);
    this.#changes.set(place, NEW, newRow);
    return place;
  }

  /** Sets a later state of the same object within the same relist. */
  replaceChange(place: number, newRow: number): void {
    const oldRow = this.#changes.get(place, OLD);
    const replaced = this.#changes.get(place, NEW);
    this.supersededBytes += this.#bytesOfOld(oldRow, newRow) - this.#bytesOfOld(oldRow, replaced);
    this.#drop(replaced);
    this.#table.addReference(newRow);
    this.#changes.set(place, NEW, newRow);
  }

  /** Removes the change of an object that was deleted within the relist. Handlers lose the state that they hold. */
  removeChange(place: number): void {
    const oldRow = this.#changes.get(place, OLD);
    const replaced = this.#changes.get(place, NEW);
    this.#changes.set(place, OLD, NO_ROW);
    this.#changes.set(place, NEW, NO_ROW);
    this.supersededBytes -= this.#bytesOfOld(oldRow, replaced);
    this.#drop(replaced);
    if (oldRow === NO_ROW) return;
    this.oldCount--;
    this.addDeletion(oldRow);
    this.#drop(oldRow);
  }

  get length(): number {
    return this.#deletions.length + this.#changeCount;
  }

  cursor(isResyncDue: boolean): DifferenceCursor {
    const cursor = new DifferenceCursor(this, isResyncDue);
    this.readers.add(cursor);
    return cursor;
  }

  /**
   * Fills `out` with the change at this position, with references for the reader; false if there is none.
   *
   * @param isResyncDue true to deliver also an update without a change
   */
  read(position: number, isResyncDue: boolean, out: Delivery): boolean {
    const isDeletion = position < this.#deletions.length;
    const place = position - this.#deletions.length;
    const newRow = isDeletion ? NO_ROW : this.#changes.get(place, NEW);
    const oldRow = isDeletion ? (this.#deletions[position] ?? NO_ROW) : this.#changes.get(place, OLD);
    if (!isDeletion && (newRow === NO_ROW || (newRow === oldRow && !isResyncDue))) return false;
    if (oldRow !== NO_ROW) this.#table.addReference(oldRow);
    if (newRow !== NO_ROW) this.#table.addReference(newRow);
    out.oldEntry = this.#table.entryOf(oldRow);
    out.newEntry = this.#table.entryOf(newRow);
    out.isInInitialList = this.isInitial;
    out.isFinalStateUnknown = isDeletion;
    return true;
  }

  /** Releases up to `count` places that the slowest reader, if any, passed. Returns true if there is more to do now. */
  releasePassed(count: number = Infinity): boolean {
    let slowest = this.length;
    for (const reader of this.readers) slowest = Math.min(slowest, reader.position);
    const deletions = this.#deletions.length;
    const end = Math.min(slowest, this.#released + count);
    for (; this.#released < end; this.#released++) {
      if (this.#released < deletions) this.#drop(this.#deletions[this.#released]);
      else {
        this.#drop(this.#changes.get(this.#released - deletions, OLD));
        this.#drop(this.#changes.get(this.#released - deletions, NEW));
      }
    }
    return end < slowest;
  }

  get isReleased(): boolean {
    return this.#released === this.length;
  }

  #drop(row: number = NO_ROW): void {
    if (row !== NO_ROW) this.#table.dropReference(row);
  }

  #bytesOfOld(oldRow: number, newRow: number): number {
    return oldRow === NO_ROW || oldRow === newRow ? 0 : this.#table.lengthOf(oldRow);
  }
}

/** Memory of a place, which unchanged objects also have. */
const PLACE_BYTES = 8;
/** Places without a notification for a reader that a call may skip. */
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

  get version(): number | string {
    return this.#difference.version;
  }

  get remaining(): number {
    return this.#difference.length - this.position;
  }

  get heldBytes(): number {
    return this.remaining === 0 ? 0 : this.#difference.supersededBytes;
  }

  get heldShareBytes(): number {
    const { readers, length } = this.#difference;
    return this.remaining === 0 ? 0 : (this.heldBytes + length * PLACE_BYTES) / readers.size;
  }

  next(out: Delivery): boolean {
    const { length } = this.#difference;
    const pauseAt = Math.min(length, this.position + SKIP_MAX);
    while (this.position < pauseAt) {
      if (this.#difference.read(this.position++, this.#isResyncDue, out)) return true;
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
