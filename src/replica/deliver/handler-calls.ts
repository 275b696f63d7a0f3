/**
 * Calls a handler for each notification in order: the handler borrows the entries during the call, a promise is
 * awaited, and a thrown error is reported. The handler is never called while `isBusy`.
 *
 * A slow handler is reported at most once a minute: when a call took long while many notifications waited, when a call
 * blocked its thread, and when a notification waited too long.
 */
import type { Clock } from '../../base/clock.ts';
import type { Histogram } from '../../metrics/histogram.ts';
import { notificationChannel } from '../../metrics/trace-channels.ts';
import type { HandlerOrigin, NotificationMessage } from '../../metrics/trace-channels.ts';
import type { Delivery } from '../store/deliveries.ts';
import { DeletedFinalStateUnknown } from '../store/deleted-final-state-unknown.ts';
import type { Entry } from '../store/entry.ts';
import type { ResourceEventHandler } from './handler.ts';

export interface SlowLimits {
  /** Up to this number of pending notifications the duration of a call does not matter. */
  readonly pendingNotifications: number;
  /** Longest call without a report when more are pending. */
  readonly callMs: number;
  /** Longest waiting time of a notification without a report; 0: no limit. */
  readonly ageMs: number;
}

/** The first two values are the limits of client-go. */
export const SLOW_LIMITS: SlowLimits = { pendingNotifications: 1024, callMs: 100, ageMs: 30_000 };

/** A handler that keeps its thread for longer is reported, even if no notification waits. */
export const BLOCKED_MS = 5000;

export const REPORT_INTERVAL_MS = 60_000;

export interface HandlerCallsOptions {
  readonly handler: ResourceEventHandler<unknown>;
  /** Returns the names of the informer and the handler, for messages of diagnostics. */
  readonly origin: () => HandlerOrigin;
  readonly registeredAt: string;
  readonly clock: Clock;
  readonly slowLimits: SlowLimits;
  /** Receives the duration of each call in seconds; without it only calls of a handler that is behind are timed. */
  readonly durations?: Pick<Histogram, 'observe'> | undefined;
  readonly onError: (error: unknown, key: string, registeredAt: string) => void;
  /**
   * @param callMs of a call that took too long; undefined: the oldest notification is too old
   * @param isBlocking the handler kept the thread for that time
   */
  readonly onSlow: (callMs: number | undefined, isBlocking: boolean) => void;
}

/** `inside`: the handler is on the stack. `awaiting`: the promise that it returned is pending. */
type Call = 'none' | 'inside' | 'awaiting';

export class HandlerCalls {
  readonly #options: HandlerCallsOptions;
  readonly #ageMs: () => number | undefined;
  readonly #onSettled: () => void;
  #call: Call = 'none';
  /** Whether the duration of the call in progress may be reported. */
  #isBehind = false;
  #reportedAtMs = -Infinity;
  #cancelTimer: (() => void) | undefined;

  constructor(options: HandlerCallsOptions, ageMs: () => number | undefined, onSettled: () => void) {
    this.#options = options;
    this.#ageMs = ageMs;
    this.#onSettled = onSettled;
  }

  /** Calls so far, including the call in progress, and calls that threw or rejected. */
  calls = 0;
  errors = 0;

  get isBusy(): boolean {
    return this.#call !== 'none';
  }

  get isInside(): boolean {
    return this.#call === 'inside';
  }

  /** @param isBehind true when the handler is so far behind that a long call is reported */
  call(delivery: Delivery, isBehind: boolean): void {
    const { oldEntry, newEntry } = delivery;
    const { handler, origin, clock, durations } = this.#options;
    oldEntry?.owner.table.borrow(oldEntry);
    newEntry?.owner.table.borrow(newEntry);
    if (oldEntry) newEntry?.follow(oldEntry);
    this.#isBehind = isBehind;
    const startMs = isBehind || durations ? clock.now() : -1;
    this.#call = 'inside';
    this.calls++;
    try {
      const result = notificationChannel.hasSubscribers
        ? publishedCall(handler, delivery, origin)
        : callHandler(handler, delivery);
      if (isThenable(result)) {
        this.#call = 'awaiting';
        void this.#await(result, oldEntry, newEntry, startMs);
        return;
      }
    } catch (error) {
      this.#report(error, oldEntry, newEntry);
    }
    this.#finish(oldEntry, newEntry, startMs);
  }

  async #await(
    result: PromiseLike<unknown>,
    oldEntry: Entry | undefined,
    newEntry: Entry | undefined,
    startMs: number,
  ): Promise<void> {
    try {
      await result;
    } catch (error) {
      this.#report(error, oldEntry, newEntry);
    }
    this.#finish(oldEntry, newEntry, startMs);
    this.#onSettled();
  }

  #finish(oldEntry: Entry | undefined, newEntry: Entry | undefined, startMs: number): void {
    const { registeredAt } = this.#options;
    if (startMs >= 0) this.#timed(startMs);
    this.#call = 'none';
    oldEntry?.owner.table.endBorrow(oldEntry, registeredAt);
    newEntry?.owner.table.endBorrow(newEntry, registeredAt);
    oldEntry?.dropReference();
    newEntry?.dropReference();
  }

  /** Reports the handler's error. The next notification is delivered as usual. */
  #report(error: unknown, oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    this.errors++;
    this.#options.onError(error, (newEntry ?? oldEntry)?.key ?? '', this.#options.registeredAt);
  }

  /** Starts the timer that finds notifications that are too old. */
  watchAge(): void {
    const { ageMs } = this.#options.slowLimits;
    if (this.#cancelTimer === undefined && ageMs > 0) this.#checkAgeIn(ageMs);
  }

  unwatchAge(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #checkAgeIn(delayMs: number): void {
    this.#cancelTimer = this.#options.clock.schedule(delayMs, () => this.#checkAge());
  }

  /** Waits until the current oldest notification is too old, or until the next report is allowed. */
  #checkAge(): void {
    this.#cancelTimer = undefined;
    const { clock, slowLimits, onSlow } = this.#options;
    const ageMs = this.#ageMs();
    if (ageMs === undefined) return;
    if (ageMs < slowLimits.ageMs) {
      this.#checkAgeIn(Math.max(1, slowLimits.ageMs - ageMs));
      return;
    }
    const nowMs = clock.now();
    if (this.#mayReportSlow(nowMs)) onSlow(undefined, false);
    this.#checkAgeIn(Math.max(1, this.#reportedAtMs + REPORT_INTERVAL_MS - nowMs));
  }

  #timed(startMs: number): void {
    const { clock, slowLimits, durations, onSlow } = this.#options;
    const nowMs = clock.now();
    const callMs = nowMs - startMs;
    durations?.observe(callMs / 1000);
    const isLong = this.#isBehind && callMs > slowLimits.callMs;
    if (isLong && this.#mayReportSlow(nowMs)) onSlow(callMs, this.#call === 'inside' && callMs > BLOCKED_MS);
  }

  /** Reports calls that kept the thread for this time in one turn. */
  blocked(durationMs: number): void {
    const { clock, onSlow } = this.#options;
    if (this.#mayReportSlow(clock.now())) onSlow(durationMs, true);
  }

  #mayReportSlow(nowMs: number): boolean {
    if (nowMs - this.#reportedAtMs < REPORT_INTERVAL_MS) return false;
    this.#reportedAtMs = nowMs;
    return true;
  }
}

function callHandler(
  handler: ResourceEventHandler<unknown>,
  { oldEntry, newEntry, isInInitialList, isFinalStateUnknown }: Delivery,
): unknown {
  if (newEntry)
    return oldEntry ? handler.onUpdate?.(oldEntry, newEntry) : handler.onAdd?.(newEntry, isInInitialList);
  if (!oldEntry) return undefined;
  return handler.onDelete?.(isFinalStateUnknown ? new DeletedFinalStateUnknown(oldEntry) : oldEntry);
}

/** Calls the handler, wrapped by the subscribers of the channel. */
function publishedCall(
  handler: ResourceEventHandler<unknown>,
  delivery: Delivery,
  origin: () => HandlerOrigin,
): unknown {
  const run = (): unknown => callHandler(handler, delivery);
  const { oldEntry, newEntry } = delivery;
  const entry = newEntry ?? oldEntry;
  if (!entry) return run();
  const { namespace, name: objectName, resourceVersion } = entry;
  const type = newEntry ? (oldEntry ? 'modified' : 'added') : 'deleted';
  const message: NotificationMessage = { ...origin(), type, namespace, objectName, resourceVersion, run };
  notificationChannel.publish(message);
  return message.run();
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function';
}
