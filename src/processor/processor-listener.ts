/**
 * One handler and everything it has not been told yet. A slow handler delays only itself: its pending entries keep
 * their bytes, which are counted, and what all handlers hold together has a budget (backlog-budget.ts).
 */
import type { Delivery, DeliveryCursor } from '../store/deliveries.ts';
import type { Entry } from '../store/entry.ts';
import { BacklogAge } from './backlog-age.ts';
import type { BacklogPressure, BudgetedListener } from './backlog-budget.ts';
import { CoalescedQueue } from './coalesced-queue.ts';
import { GrowingRing } from './growing-ring.ts';
import { HandlerCalls } from './handler-calls.ts';
import type { HandlerCallsOptions } from './handler-calls.ts';
import type { HandlerBacklog } from './handler.ts';
import { heldBytes, isCursor } from './pending.ts';
import type { Pending } from './pending.ts';
import { SlowHandler } from './slow-handler.ts';
import type { SlowLimits } from './slow-handler.ts';

type State =
  | 'open'
  /** Takes nothing new, and ends when it has delivered what it has. */
  | 'leaving'
  /** Has nothing, gets nothing; a last call may be in progress. */
  | 'removed';

export interface ListenerOptions extends HandlerCallsOptions {
  readonly slowLimits: SlowLimits;
  /** The handler is slow, by these limits. @param callMs of a call that took long; undefined: the oldest is too old */
  readonly onSlow: (callMs: number | undefined) => void;
  /** A promise was settled: deliveries can go on. */
  readonly onReady: () => void;
  /** The initial list was delivered and all its calls have returned. */
  readonly onSynced: () => void;
  /** The budget of backlogs is short, and this handler is one of those that hold much. */
  readonly onPressure: (pressure: BacklogPressure) => void;
}

export class ProcessorListener implements BudgetedListener {
  readonly #options: ListenerOptions;
  readonly #calls: HandlerCalls;
  readonly #slow: SlowHandler;
  readonly #ring: GrowingRing<Pending, Entry> = new GrowingRing();
  /** What is older than the ring, while there is, or was, too much of it. */
  readonly #coalesced: CoalescedQueue = new CoalescedQueue();
  readonly #age: BacklogAge = new BacklogAge();
  /** Everything that was ever put into the ring. */
  #pushed = 0;
  /** The part of it whose time is known. */
  #arrived = 0;
  #state: State = 'open';
  /** Of what is in the ring: objects, and superseded ones. */
  #pendingBytes = 0;
  #heldBytes = 0;
  /** Those that are pending. */
  readonly #cursors: Set<DeliveryCursor> = new Set();
  /** The cursor of the initial list while it is being delivered. */
  #initial: DeliveryCursor | undefined;
  #hasInitial = false;
  #resync: DeliveryCursor | undefined;
  /** Whether a resync is due, or none was ever decided: updates without change are delivered then (C12). */
  isSyncing = true;
  /** Resolves when it was removed and its last call has returned. */
  readonly ended: Promise<void>;
  #end!: () => void;
  readonly #delivery: Delivery = {
    oldEntry: undefined,
    newEntry: undefined,
    isInInitialList: false,
    isFinalStateUnknown: false,
  };

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#slow = new SlowHandler({
      clock: options.clock,
      limits: options.slowLimits,
      ageMs: () => (this.pendingNotifications > 0 ? this.ageMs : undefined),
      onSlow: options.onSlow,
    });
    this.#calls = new HandlerCalls(options, this.#slow, () => this.#settled());
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  /** A change was committed. Runs no user code. */
  push(oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    if (this.#state !== 'open') return;
    oldEntry?.hold();
    newEntry?.hold();
    this.#pendingBytes += (newEntry ?? oldEntry)?.length ?? 0;
    this.#heldBytes += heldBytes(oldEntry);
    this.#pushed++;
    this.#ring.push(oldEntry, newEntry);
  }

  pushResync(cursor: DeliveryCursor): void {
    this.#resync = cursor;
    this.pushCursor(cursor, false);
  }

  /** Of the last resync something is still to be told: a handler that is stuck has no queue of them. */
  get isResyncing(): boolean {
    return this.#resync !== undefined && this.#cursors.has(this.#resync);
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
    this.#ring.push(cursor, undefined);
  }

  /** What was pushed since the last call came at about this time. */
  arrived(): void {
    if (this.#pushed === this.#arrived) return;
    this.#arrived = this.#pushed;
    this.#age.mark(this.#oldest, this.#pushed, this.#options.clock.now());
    this.#slow.arrived();
  }

  get hasSynced(): boolean {
    return this.#hasInitial && this.#initial === undefined;
  }

  /** Nobody has removed it. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get isReady(): boolean {
    return this.pendingNotifications > 0 && !this.#calls.isBusy;
  }

  /** Nothing is pending and no call is in progress, its promise included. */
  get isIdle(): boolean {
    return this.pendingNotifications === 0 && !this.#calls.isBusy;
  }

  get pendingNotifications(): number {
    return this.#ring.length + this.#coalesced.length;
  }

  get backlog(): HandlerBacklog {
    let bytes = this.#pendingBytes + this.#coalesced.bytes;
    for (const cursor of this.#cursors) bytes += cursor.heldBytes;
    return { notifications: this.#notifications(), bytes, ageMs: this.ageMs };
  }

  get ageMs(): number {
    return this.#age.ageMs(this.#oldest, this.#options.clock.now());
  }

  /** Memory that nobody could use for something else because of it, at most. */
  get heldBytes(): number {
    let bytes = this.#heldBytes + this.#coalesced.heldBytes;
    for (const cursor of this.#cursors) bytes += cursor.heldShareBytes;
    return bytes;
  }

  get coalesced(): number {
    return this.#coalesced.coalesced;
  }

  get onPressure(): (pressure: BacklogPressure) => void {
    return this.#options.onPressure;
  }

  /** Moves up to `count` notifications from the ring to where they are merged; true when there are more. */
  coalesce(count: number): boolean {
    const ring = this.#ring;
    for (let moved = 0; moved < count && ring.length > 0; moved++) {
      const { first, second } = ring;
      const position = this.#pushed - ring.length;
      this.#shiftRing();
      this.#coalesced.push(first, second, position);
    }
    return ring.length > 0;
  }

  /** Whoever asks was called by this handler. Not known any more once the handler has awaited something. */
  get isInsideCall(): boolean {
    return this.#calls.isInside;
  }

  get registeredAt(): string {
    return this.#options.registeredAt;
  }

  /** Calls the handler up to `count` times; returns how many calls were made, or notifications skipped. */
  deliver(count: number): number {
    let calls = 0;
    while (calls < count && this.isReady) {
      if (!this.#take()) continue;
      calls++;
      this.#calls.call(this.#delivery, this.#isBehind());
    }
    if (this.#state !== 'open') this.#checkEnded();
    return calls;
  }

  /** Takes nothing new; what is pending is still delivered. */
  leave(): void {
    if (this.#state === 'open') this.#state = 'leaving';
    this.#checkEnded();
  }

  /** Drops everything that is pending; the call in progress finishes. */
  remove(): void {
    this.#state = 'removed';
    for (const queue of [this.#coalesced, this.#ring]) {
      while (queue.length > 0) {
        const { first, second } = queue;
        queue.shift();
        if (isCursor(first)) first.close();
        else first?.letGo();
        second?.letGo();
      }
    }
    this.#pendingBytes = 0;
    this.#heldBytes = 0;
    this.#cursors.clear();
    this.#checkEnded();
  }

  /** Moves the next notification into `#delivery`; false when a cursor turned out to be at its end. */
  #take(): boolean {
    const isCoalesced = this.#coalesced.length > 0;
    const { first, second } = isCoalesced ? this.#coalesced : this.#ring;
    const delivery = this.#delivery;
    if (isCursor(first)) {
      if (first.next(delivery)) return true;
      if (isCoalesced) this.#coalesced.shift();
      else this.#ring.shift();
      this.#cursors.delete(first);
      if (this.#initial === first) {
        this.#initial = undefined;
        this.#options.onSynced();
      }
      return false;
    }
    delivery.oldEntry = first;
    delivery.newEntry = second;
    delivery.isInInitialList = false;
    delivery.isFinalStateUnknown = false;
    if (isCoalesced) this.#coalesced.shift();
    else this.#shiftRing();
    return true;
  }

  #shiftRing(): void {
    const { first, second } = this.#ring;
    this.#ring.shift();
    if (isCursor(first)) return;
    this.#pendingBytes -= (second ?? first)?.length ?? 0;
    this.#heldBytes -= heldBytes(first);
  }

  /** Position of the oldest that is pending. */
  get #oldest(): number {
    return this.#coalesced.position ?? this.#pushed - this.#ring.length;
  }

  #settled(): void {
    if (this.#state !== 'open') this.#checkEnded();
    this.#options.onReady();
  }

  #checkEnded(): void {
    if (this.#state === 'leaving' && this.pendingNotifications === 0) this.#state = 'removed';
    if (this.#state !== 'removed') return;
    this.#slow.close();
    if (!this.#calls.isBusy) this.#end();
  }

  #isBehind(): boolean {
    const { slowNotifications } = this.#options.slowLimits;
    if (this.pendingNotifications > slowNotifications) return true;
    return this.#cursors.size > 0 && this.#notifications() > slowNotifications;
  }

  #notifications(): number {
    let notifications = this.pendingNotifications - this.#cursors.size;
    for (const cursor of this.#cursors) notifications += cursor.remaining;
    return notifications;
  }
}
