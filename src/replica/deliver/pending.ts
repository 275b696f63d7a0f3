/**
 * Pending notifications of a handler: the queue, the shorter queue that replaces it under memory pressure, the bytes
 * that both keep in use, and the age. An element is a pair of rows of the informer's table, or a cursor and `NO_ROW`.
 */
import { NO_ROW } from '../store/columns.ts';
import type { DeliveryCursor } from '../store/deliveries.ts';
import { EntryFlag } from '../store/entry.ts';
import type { EntryTable } from '../store/entry-table.ts';
import { SplitMap } from './split-map.ts';

/** A row, `NO_ROW` for the previous state of an added object, or a cursor. */
export type Pending = number | DeliveryCursor;

export function isCursor(pending: Pending): pending is DeliveryCursor {
  return typeof pending === 'object';
}

/** Approximate bytes of a superseded row besides the JSON: columns, facts, places in queues. */
export const SUPERSEDED_HEAP_BYTES = 512;

/** Sums over single notifications; cursors count their own bytes. */
export class PendingBytes {
  objects = 0;
  /**
   * Bytes of old states, which left the cache. A new state is in the cache, or is the old state of a later
   * notification.
   */
  held = 0;

  /**
   * Counts a notification by the lengths of the objects; undefined for an absent object.
   *
   * @param sign 1 for an added notification, -1 for a removed notification
   */
  count(firstBytes: number | undefined, secondBytes: number | undefined, sign: 1 | -1): void {
    this.objects += sign * (secondBytes ?? firstBytes ?? 0);
    if (firstBytes !== undefined) this.held += sign * (firstBytes + SUPERSEDED_HEAP_BYTES);
  }
}

/** Pairs in a chunk. The arrays of a chunk grow with use, because most queues stay short. */
const CHUNK_PAIRS = 1024;

interface Chunk<First, Second> {
  readonly firsts: (First | undefined)[];
  readonly seconds: (Second | undefined)[];
  next: Chunk<First, Second> | undefined;
}

/**
 * An unbounded queue of pairs in chunks. A chunk is appended when the last chunk is full and dropped when it is empty,
 * so the queue grows and shrinks without copying. A single empty chunk is kept.
 *
 * ```
 *  head ─► [ – – – c d e ] ─► [ f g h i j k ] ─► [ l m ] ◄─ tail        spare [ ]
 * ```
 */
export class ChunkedQueue<First, Second> {
  #head: Chunk<First, Second> = { firsts: [], seconds: [], next: undefined };
  #headAt = 0;
  #tail: Chunk<First, Second> = this.#head;
  #tailEnd = 0;
  #spare: Chunk<First, Second> | undefined;
  length = 0;

  push(first: First | undefined, second: Second | undefined): void {
    if (this.#tailEnd === CHUNK_PAIRS) this.#append();
    this.#tail.firsts[this.#tailEnd] = first;
    this.#tail.seconds[this.#tailEnd] = second;
    this.#tailEnd++;
    this.length++;
  }

  get first(): First | undefined {
    return this.#head.firsts[this.#headAt];
  }

  get second(): Second | undefined {
    return this.#head.seconds[this.#headAt];
  }

  /** Removes the oldest pair. The queue must not be empty. */
  shift(): void {
    this.#head.firsts[this.#headAt] = undefined;
    this.#head.seconds[this.#headAt] = undefined;
    this.#headAt++;
    this.length--;
    if (this.length === 0) {
      // The head is the tail. A queue that is always short restarts at index 0, so the arrays stay short.
      this.#headAt = 0;
      this.#tailEnd = 0;
    } else if (this.#headAt === CHUNK_PAIRS) {
      this.#dropHead();
    }
  }

  #append(): void {
    const chunk = this.#spare ?? { firsts: [], seconds: [], next: undefined };
    this.#spare = undefined;
    this.#tail.next = chunk;
    this.#tail = chunk;
    this.#tailEnd = 0;
  }

  #dropHead(): void {
    const { next } = this.#head;
    this.#head.next = undefined;
    this.#spare = this.#head;
    this.#head = next ?? this.#tail;
    this.#headAt = 0;
  }
}

interface Node<First extends Pending = Pending> {
  first: First;
  second: number;
  isFinalStateUnknown: boolean;
  /** Position of the node's newest notification, counted over all notifications ever pushed. */
  position: number;
  previous: Node | undefined;
  next: Node | undefined;
}

/**
 * The queue of a handler that is far behind while the backlog budget is exceeded: one pending change for an object,
 * however often it changes.
 *
 * A change is merged into the pending change of the same object and takes the place of the newer one, so versions never
 * go back. An update begins at the state where the previous notification for the object ended. The deletion of a pending
 * addition leaves no change. A deletion and a new object under its name stay two changes.
 */
export class CoalescedQueue {
  readonly #table: EntryTable;
  readonly #bytes: PendingBytes;
  #head: Node | undefined;
  #tail: Node | undefined;
  /** The newest change of each object. */
  readonly #latest: SplitMap<Node<number>> = new SplitMap();
  length = 0;
  /** Number of notifications, ever, that were merged into others. */
  coalesced = 0;

  /** @param bytes the sums that include the notifications to be pushed */
  constructor(table: EntryTable, bytes: PendingBytes) {
    this.#table = table;
    this.#bytes = bytes;
  }

  get first(): Pending | undefined {
    return this.#head?.first;
  }

  get second(): number | undefined {
    return this.#head?.second;
  }

  get isFinalStateUnknown(): boolean {
    return this.#head?.isFinalStateUnknown === true;
  }

  /** Position of the oldest notification; undefined when the queue is empty. */
  get position(): number | undefined {
    return this.#head?.position;
  }

  /** Appends a notification newer than all others. The queue takes over the references. */
  push(first: Pending, second: number, position: number, isFinalStateUnknown: boolean = false): void {
    if (isCursor(first)) {
      this.#append({ first, second, isFinalStateUnknown, position, previous: undefined, next: undefined });
      return;
    }
    const isDeletion = second === NO_ROW;
    // The handler never received the object, which was never in the cache: such deletions would have no bound.
    if (first === second || (isDeletion && this.#table.hasFlag(first, EntryFlag.NeverCached))) {
      this.#count(first, second, -1);
      this.#drop(first, second);
      this.coalesced++;
      return;
    }
    const key = this.#table.keyOf(isDeletion ? first : second);
    const node = this.#latest.get(key);
    if (!node || node.second === NO_ROW) {
      const added: Node<number> = {
        first,
        second,
        isFinalStateUnknown,
        position,
        previous: undefined,
        next: undefined,
      };
      this.#latest.set(key, added);
      this.#append(added);
      return;
    }
    this.#unlink(node);
    this.#count(node.first, node.second, -1);
    this.#count(first, second, -1);
    if (isDeletion && node.first === NO_ROW) {
      this.#drop(first, node.second);
      this.#latest.delete(key);
      this.coalesced += 2;
      return;
    }
    this.#drop(isDeletion ? node.first : first, node.second);
    if (isDeletion) node.first = first;
    node.second = second;
    node.isFinalStateUnknown = isFinalStateUnknown;
    node.position = position;
    this.#count(node.first, second, 1);
    this.#append(node);
    this.coalesced++;
  }

  /** Removes the oldest notification. The caller read it before, and takes over the references. */
  shift(): void {
    const head = this.#head;
    if (!head) return;
    this.#unlink(head);
    const { first, second } = head;
    if (isCursor(first)) return;
    const key = this.#table.keyOf(second === NO_ROW ? first : second);
    if (this.#latest.get(key) === head) this.#latest.delete(key);
  }

  #count(first: number, second: number, sign: 1 | -1): void {
    this.#bytes.count(this.#lengthOf(first), this.#lengthOf(second), sign);
  }

  #lengthOf(row: number): number | undefined {
    return row === NO_ROW ? undefined : this.#table.lengthOf(row);
  }

  #drop(...rows: readonly number[]): void {
    for (const row of rows) if (row !== NO_ROW) this.#table.dropReference(row);
  }

  #append(node: Node): void {
    node.previous = this.#tail;
    node.next = undefined;
    if (this.#tail) this.#tail.next = node;
    else this.#head = node;
    this.#tail = node;
    this.length++;
  }

  #unlink(node: Node): void {
    if (node.previous) node.previous.next = node.next;
    else this.#head = node.next;
    if (node.next) node.next.previous = node.previous;
    else this.#tail = node.previous;
    this.length--;
  }
}

/** Marks less than this apart are merged. The backlog of an hour holds 36,000 marks. */
const RESOLUTION_MS = 100;

/**
 * Age of the oldest notification, without storing a time for each: the drain marks the end of the queue after each
 * merge.
 */
export class BacklogAge {
  /** Pairs of a position and the arrival time of the oldest notification before it. */
  readonly #marks: ChunkedQueue<number, number> = new ChunkedQueue();
  /** End and time of the latest mark, which may still grow; `#end` is -1 if there is no mark. */
  #end = -1;
  #atMs = 0;

  /** Records that at `nowMs` the positions from `oldest` to below `end` are pending. */
  mark(oldest: number, end: number, nowMs: number): void {
    this.#forget(oldest);
    if (end === oldest || end === this.#end) return;
    const isNew = this.#end < 0 || nowMs - this.#atMs >= RESOLUTION_MS;
    if (isNew && this.#end >= 0) this.#marks.push(this.#end, this.#atMs);
    if (isNew) this.#atMs = nowMs;
    this.#end = end;
  }

  /** Returns 0 while no pending notification is marked. */
  ageMs(oldest: number, nowMs: number): number {
    this.#forget(oldest);
    if (this.#marks.length > 0) return nowMs - (this.#marks.second ?? nowMs);
    return this.#end >= 0 ? nowMs - this.#atMs : 0;
  }

  #forget(oldest: number): void {
    while (this.#marks.length > 0 && (this.#marks.first ?? 0) <= oldest) this.#marks.shift();
    if (this.#marks.length === 0 && this.#end <= oldest) this.#end = -1;
  }
}
