/**
 * The memory budget of all handlers' backlogs together. Beyond it, the handlers that hold most receive the changes of an
 * object as one, so that the objects bound their backlogs.
 */
import type { Clock } from '../../base/clock.ts';
import { REPORT_INTERVAL_MS } from './handler-calls.ts';
import type { ProcessorListener } from './processor-listener.ts';

export type BudgetedListener = Pick<ProcessorListener, 'heldBytes' | 'coalesced' | 'coalesce' | 'onPressure'>;

/** Notifications coalesced in a turn: about 0.25 ms of work, and several times the records that a round merges. */
const COALESCE_BATCH = 1024;

export class BacklogBudget {
  /** Bytes that only pending notifications need, over all handlers of the threads. */
  readonly backlogBytesMax: number;
  readonly #clock: Pick<Clock, 'now'>;
  /** Times of the last reports. */
  readonly #reportedAtMs: WeakMap<BudgetedListener, number> = new WeakMap();

  constructor(backlogBytesMax: number, clock: Pick<Clock, 'now'>) {
    this.backlogBytesMax = backlogBytesMax;
    this.#clock = clock;
  }

  /**
   * Runs after each round of the drain that leaves more than `backlogBytesMax`; true when there is more to do. Handlers
   * that hold less than the average receive every change.
   *
   * @param bytes that all listeners hold
   */
  runOnce(listeners: readonly BudgetedListener[], bytes: number): boolean {
    let hasMore = false;
    for (const listener of listeners) {
      if (listener.heldBytes * listeners.length < bytes) continue;
      const { coalesced } = listener;
      if (listener.coalesce(COALESCE_BATCH)) hasMore = true;
      const nowMs = this.#clock.now();
      const sinceMs = nowMs - (this.#reportedAtMs.get(listener) ?? -Infinity);
      if (listener.coalesced === coalesced || sinceMs < REPORT_INTERVAL_MS) continue;
      this.#reportedAtMs.set(listener, nowMs);
      listener.onPressure(bytes, this.backlogBytesMax);
    }
    return hasMore;
  }
}
