/**
 * The handlers of an informer: `SharedProcessor` distributes committed changes to the listeners, and a
 * `ProcessorListener` is a handler with the pending notifications. A slow handler delays only itself. Pending entries
 * keep their bytes, which are counted; all handlers together share a budget (backlog-budget.ts).
 */
import { NO_ROW } from '../store/columns.ts';
import { SnapshotCursor, emptyDelivery } from '../store/deliveries.ts';
import type { Delivery, DeliveryCursor, Difference } from '../store/deliveries.ts';
import type { EntryTable } from '../store/entry-table.ts';
import type { Replica, ReplicaListener } from '../store/replica.ts';
import { EventLatency } from './event-latency.ts';
import type { SampledEvent } from './event-latency.ts';
import { HandlerCalls } from './handler-calls.ts';
import type { HandlerCallsOptions } from './handler-calls.ts';
import type { HandlerBacklog } from './handler.ts';
import { BacklogAge, ChunkedQueue, CoalescedQueue, PendingBytes, isCursor } from './pending.ts';
import type { Pending } from './pending.ts';

export class SharedProcessor implements ReplicaListener {
  readonly latency: EventLatency = new EventLatency();
  readonly #listeners: Set<ProcessorListener> = new Set();

  /** The listener receives the content of the cache as the initial list, and every later change as a notification. */
  add(listener: ProcessorListener, replica: Replica): void {
    this.#listeners.add(listener);
    if (replica.hasSynced) listener.pushCursor(new SnapshotCursor(replica, 'join'), true);
  }

  /** Drops pending notifications, or delivers them with `drain`. Returns false for an unknown listener. */
  remove(listener: ProcessorListener, drain: boolean = false): boolean {
    if (drain) listener.leave();
    else listener.remove();
    return this.#listeners.delete(listener);
  }

  changed(oldRow: number, newRow: number): void {
    const { merging } = this.latency;
    for (const listener of this.#listeners) listener.push(oldRow, newRow, merging);
  }

  replaced(difference: Difference): void {
    for (const listener of this.#listeners) {
      // A relist decides now, not at the delivery, which listeners receive updates without a change (contract C12).
      const isResyncDue = listener.isResyncDue && difference.mayResync;
      listener.pushCursor(difference.cursor(isResyncDue || listener.isThread), difference.isInitial);
    }
  }

  resync(replica: Replica, due: Iterable<ProcessorListener>): void {
    for (const listener of due) if (this.#listeners.has(listener)) listener.pushResync(replica);
  }
}

const RELEASED_PER_CALL = 1024;

type State =
  | 'open'
  /** Accepts no more notifications, and becomes `removed` after delivering the pending notifications. */
  | 'leaving'
  /** Delivers no more notifications. A last call may be in progress, and pending entries are released step by step. */
  | 'removed';

/** A handler that writes the cache of another thread. */
export interface CacheWriter {
  /**
   * Writes a change at once, if no notification is pending; false: the change must wait, as for any other handler.
   *
   * @param oldRow `NO_ROW` for an added object
   * @param newRow `NO_ROW` for a deleted object
   */
  changed(oldRow: number, newRow: number): boolean;
  /** Called before the notifications of an initial list, or of the changes of a relist. */
  listBegins(): void;
  /** @param version the server's version of the state that the handler received */
  listEnds(version: number | string): void;
  /** Called when the handler receives the pending notifications, and no later change. */
  leaves(): void;
  /** Returns the content of the cache as a list, which takes the place of the pending notifications. */
  list(): DeliveryCursor;
  /** Called when the handler receives no more notifications; a call in progress ends. */
  ended(): void;
  /** Bytes of old states that only the other thread needs. */
  readonly heldBytes: number;
}

export interface ListenerOptions extends HandlerCallsOptions {
  /** The table whose rows are pushed. */
  readonly table: EntryTable;
  /** Called when the promise of a call settles: deliveries can continue. */
  readonly onReady: () => void;
  /** Called when the initial list is delivered and all calls for it have returned. */
  readonly onSynced: () => void;
  /** Present if the handler is a cache writer. */
  readonly writer?: CacheWriter | undefined;
  /** Called when this handler's notifications are merged, because all handlers hold `bytes` of `backlogBytesMax`. */
  readonly onPressure: (bytes: number, backlogBytesMax: number) => void;
}

export class ProcessorListener {
  readonly #options: ListenerOptions;
  readonly #calls: HandlerCalls;
  #queue: ChunkedQueue<Pending, number> = new ChunkedQueue();
  readonly #bytes: PendingBytes = new PendingBytes();
  /** Notifications that a list replaced, to be released step by step. */
  #replaced: ChunkedQueue<Pending, number> = new ChunkedQueue();
  #replacedCount = 0;
  /** Notifications older than the queue, moved here when the backlogs exceed the budget. */
  readonly #coalesced: CoalescedQueue;
  readonly #age: BacklogAge = new BacklogAge();
  /** Sampled events of pending notifications, by position. */
  readonly #sampled: ChunkedQueue<number, SampledEvent> = new ChunkedQueue();
  /** The sampled event of the call whose promise is pending. */
  #awaited: SampledEvent | undefined;
  #pushed = 0;
  /** The part of `#pushed` whose arrival time is recorded. */
  #arrived = 0;
  #state: State = 'open';
  readonly #cursors: Set<DeliveryCursor> = new Set();
  /** The cursor whose notifications are being delivered, for `writer`. */
  #begun: DeliveryCursor | undefined;
  /** The cursor of the initial list while it is being delivered. */
  #initial: DeliveryCursor | undefined;
  #hasInitial = false;
  #resync: DeliveryCursor | undefined;
  /** Whether a relisted unchanged object is delivered: a resync is due, or no timer has decided yet (C12). */
  isResyncDue = true;
  /** Resolves when the listener is removed, the last call has returned, and all entries are released. */
  readonly ended: Promise<void>;
  #end!: () => void;
  readonly #delivery: Delivery = emptyDelivery();

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#coalesced = new CoalescedQueue(options.table, this.#bytes);
    this.#calls = new HandlerCalls(
      options,
      () => (this.pendingNotifications > 0 ? this.ageMs : undefined),
      () => this.#settled(),
    );
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  /** Appends a committed change. Runs no user code. @param sampled the event, if it is in the sample */
  push(oldRow: number, newRow: number, sampled?: SampledEvent): void {
    if (this.#state !== 'open') return;
    const { table, writer } = this.#options;
    if (writer && this.isIdle && writer.changed(oldRow, newRow)) {
      this.#calls.calls++;
      return;
    }
    const oldBytes = oldRow === NO_ROW ? undefined : table.addReference(oldRow);
    const newBytes = newRow === NO_ROW ? undefined : table.addReference(newRow);
    this.#bytes.count(oldBytes, newBytes, 1);
    if (sampled) this.#sampled.push(this.#pushed, sampled);
    this.#pushed++;
    this.#queue.push(oldRow, newRow);
  }

  /** Appends a resync, unless the previous resync is still pending: a blocked handler holds at most a single resync. */
  pushResync(replica: Replica): void {
    if (this.#resync && this.#cursors.has(this.#resync)) return;
    this.#resync = new SnapshotCursor(replica, 'resync');
    this.pushCursor(this.#resync, false);
  }

  pushCursor(cursor: DeliveryCursor, isInitial: boolean): void {
    if (this.#state !== 'open') {
      cursor.close();
      return;
    }
    if (isInitial) {
      this.#initial = cursor;
      this.#hasInitial = true;
    }
    this.#cursors.add(cursor);
    this.#pushed++;
    this.#queue.push(cursor, NO_ROW);
  }

  /** Records the arrival time of all notifications pushed since the previous call. */
  arrived(): void {
    if (this.#pushed === this.#arrived) return;
    this.#arrived = this.#pushed;
    this.#age.mark(this.#oldest, this.#pushed, this.#options.clock.now());
    this.#calls.watchAge();
  }

  get hasSynced(): boolean {
    return this.#hasInitial && this.#initial === undefined;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get isReady(): boolean {
    return this.pendingNotifications > 0 && !this.#calls.isBusy;
  }

  /** True when no notification is pending and no call, including its promise, is in progress. */
  get isIdle(): boolean {
    return this.pendingNotifications === 0 && !this.#calls.isBusy;
  }

  get pendingNotifications(): number {
    return this.#state === 'removed' ? 0 : this.#queue.length + this.#coalesced.length;
  }

  /** True while there are pending entries, including entries that a removed listener must still release. */
  get #isHolding(): boolean {
    return this.#queue.length + this.#coalesced.length + this.#replaced.length > 0;
  }

  get backlog(): HandlerBacklog {
    if (this.#state === 'removed') return { notifications: 0, bytes: 0, ageMs: 0 };
    let bytes = this.#bytes.objects;
    for (const cursor of this.#cursors) bytes += cursor.heldBytes;
    return { notifications: this.#notifications(), bytes, ageMs: this.ageMs };
  }

  get ageMs(): number {
    return this.#age.ageMs(this.#oldest, this.#options.clock.now());
  }

  /** Upper bound of the bytes retained only for this handler. */
  get heldBytes(): number {
    if (this.#state === 'removed') return 0;
    let bytes = this.#bytes.held + (this.#options.writer?.heldBytes ?? 0);
    for (const cursor of this.#cursors) bytes += cursor.heldShareBytes;
    return bytes;
  }

  /** Whether the listener writes for another thread, whose lists contain unchanged objects. */
  get isThread(): boolean {
    return this.#options.writer !== undefined;
  }

  get calls(): number {
    return this.#calls.calls;
  }

  get errors(): number {
    return this.#calls.errors;
  }

  get coalesced(): number {
    return this.#coalesced.coalesced + this.#replacedCount;
  }

  get onPressure(): ListenerOptions['onPressure'] {
    return this.#options.onPressure;
  }

  /**
   * Moves up to `count` notifications, relists and resyncs included, from the queue to the coalesced queue; true when
   * there are more. An initial list stays whole. A writer's notifications become a list.
   */
  coalesce(count: number): boolean {
    const { writer } = this.#options;
    if (writer) return this.#becomeList(writer);
    const queue = this.#queue;
    for (let moved = 0; moved < count && queue.length > 0; moved++) {
      const { first = NO_ROW, second = NO_ROW } = queue;
      const position = this.#pushed - queue.length;
      if (isCursor(first) && first !== this.#initial) {
        if (this.#moveNext(first, position)) continue;
        this.#cursors.delete(first);
        queue.shift();
        continue;
      }
      queue.shift();
      this.#coalesced.push(first, second, position);
    }
    return queue.length > 0;
  }

  /** Moves the next change of a relist or resync to the coalesced queue; false at the end. */
  #moveNext(cursor: DeliveryCursor, position: number): boolean {
    const delivery = this.#delivery;
    if (!cursor.next(delivery)) return false;
    const { oldEntry, newEntry, isFinalStateUnknown } = delivery;
    if (!oldEntry && !newEntry) return true;
    const { table } = this.#options;
    if (oldEntry) table.closeEntry(oldEntry);
    if (newEntry) table.closeEntry(newEntry);
    this.#bytes.count(oldEntry?.length, newEntry?.length, 1);
    this.#coalesced.push(oldEntry?.row ?? NO_ROW, newEntry?.row ?? NO_ROW, position, isFinalStateUnknown);
    return true;
  }

  /**
   * Replaces the pending notifications by a list of the cache, from which the other thread derives the difference. A
   * list that has begun is completed first: the thread holds some of its rows.
   */
  #becomeList(writer: CacheWriter): boolean {
    const cursors = this.#cursors;
    const coalesced = this.#coalesced;
    const replaced = this.#queue;
    const begun = this.#begun && cursors.has(this.#begun) ? this.#begun : undefined;
    const isBegunFirst = begun !== undefined && replaced.first === begun;
    if (this.#state !== 'open' || replaced.length === (isBegunFirst ? 1 : 0)) return false;
    if (this.#replaced.length > 0) return true;
    const position = this.#oldest;
    if (isBegunFirst) replaced.shift();
    this.#replacedCount += replaced.length;
    for (; coalesced.length > 0; coalesced.shift()) {
      if (coalesced.first !== begun) replaced.push(coalesced.first, NO_ROW);
    }
    for (const cursor of cursors) if (cursor !== begun) cursor.close();
    cursors.clear();
    const list = writer.list();
    if (this.#initial && this.#initial !== begun) this.#initial = list;
    for (const cursor of begun ? [begun, list] : [list]) {
      cursors.add(cursor);
      coalesced.push(cursor, NO_ROW, position);
    }
    this.#queue = new ChunkedQueue();
    this.#replaced = replaced;
    this.#bytes.objects = 0;
    this.#bytes.held = 0;
    return true;
  }

  /** True while the handler runs synchronously; false while its promise is pending. */
  get isInsideCall(): boolean {
    return this.#calls.isInside;
  }

  /**
   * Calls the handler up to `count` times. Returns the number of calls, including pauses of a cursor that skips
   * changes.
   */
  deliver(count: number): number {
    let calls = 0;
    while (calls < count && this.isReady) {
      const sampled = this.#sampled.length > 0 ? this.#takeSampled() : undefined;
      if (!this.#take()) continue;
      calls++;
      sampled?.reach('delivered');
      this.#calls.call(this.#delivery, this.#isBehind());
      if (sampled && this.#calls.isBusy) this.#awaited = sampled;
      else sampled?.reach('done');
    }
    if (this.#state !== 'open') this.#checkEnded();
    return calls;
  }

  /** Reports that a `deliver` kept the thread for this time. */
  blocked(durationMs: number): void {
    this.#calls.blocked(durationMs);
  }

  /** Accepts no more notifications; pending notifications are still delivered. */
  leave(): void {
    if (this.#state === 'open') {
      this.#state = 'leaving';
      this.#options.writer?.leaves();
    }
    this.#checkEnded();
  }

  /** Drops all pending notifications; a call in progress finishes. */
  remove(): void {
    this.#state = 'removed';
    this.#options.writer?.ended();
    for (const cursor of this.#cursors) cursor.close();
    this.#cursors.clear();
    this.release();
  }

  /**
   * Releases some of the replaced entries, and of those that a removed handler had pending: there may be millions. True
   * while there are more.
   */
  release(): boolean {
    const isRemoved = this.#state === 'removed';
    if (!isRemoved && this.#replaced.length === 0) return false;
    const { table } = this.#options;
    for (let released = 0; released < RELEASED_PER_CALL; released++) {
      const queue = this.#replaced.length > 0 || !isRemoved ? this.#replaced : this.#next;
      if (queue.length === 0) break;
      const { first = NO_ROW, second = NO_ROW } = queue;
      if (isCursor(first) && first.close()) break;
      // Before the references: the queue reads the key of the removed element.
      queue.shift();
      if (!isCursor(first) && first !== NO_ROW) table.dropReference(first);
      if (second !== NO_ROW) table.dropReference(second);
    }
    if (!isRemoved) return this.#replaced.length > 0;
    this.#checkEnded();
    return this.#isHolding;
  }

  /** Moves the next notification into `#delivery`; returns false at the end of a cursor. */
  #take(): boolean {
    const queue = this.#next;
    const { first = NO_ROW, second = NO_ROW } = queue;
    const delivery = this.#delivery;
    const { table } = this.#options;
    if (isCursor(first)) {
      const { writer } = this.#options;
      if (writer && this.#begun !== first) {
        this.#begun = first;
        writer.listBegins();
      }
      if (first.next(delivery)) return true;
      writer?.listEnds(first.version);
      queue.shift();
      this.#cursors.delete(first);
      if (this.#initial === first) {
        this.#initial = undefined;
        this.#options.onSynced();
      }
      return false;
    }
    delivery.oldEntry = table.entryOf(first);
    delivery.newEntry = table.entryOf(second);
    delivery.isInInitialList = false;
    delivery.isFinalStateUnknown = queue === this.#coalesced && this.#coalesced.isFinalStateUnknown;
    queue.shift();
    this.#bytes.count(delivery.oldEntry?.length, delivery.newEntry?.length, -1);
    return true;
  }

  /** Takes the sampled event of the next notification, and drops events of notifications merged into later ones. */
  #takeSampled(): SampledEvent | undefined {
    const queue = this.#sampled;
    const next = this.#oldest;
    while (queue.length > 0 && (queue.first ?? 0) < next) queue.shift();
    if (queue.first !== next) return undefined;
    const sampled = queue.second;
    queue.shift();
    return sampled;
  }

  /** The queue with the oldest notification. */
  get #next(): ChunkedQueue<Pending, number> | CoalescedQueue {
    return this.#coalesced.length > 0 ? this.#coalesced : this.#queue;
  }

  get #oldest(): number {
    return this.#coalesced.position ?? this.#pushed - this.#queue.length;
  }

  #settled(): void {
    this.#awaited?.reach('done');
    this.#awaited = undefined;
    if (this.#state !== 'open') this.#checkEnded();
    this.#options.onReady();
  }

  #checkEnded(): void {
    if (this.#state === 'leaving' && this.pendingNotifications === 0) this.#state = 'removed';
    if (this.#state !== 'removed') return;
    this.#calls.unwatchAge();
    if (this.#calls.isBusy || this.#isHolding) return;
    this.#options.writer?.ended();
    this.#end();
  }

  #isBehind(): boolean {
    const { pendingNotifications } = this.#options.slowLimits;
    if (this.pendingNotifications > pendingNotifications) return true;
    return this.#cursors.size > 0 && this.#notifications() > pendingNotifications;
  }

  #notifications(): number {
    let notifications = this.pendingNotifications - this.#cursors.size;
    for (const cursor of this.#cursors) notifications += cursor.remaining;
    return notifications;
  }
}
