/**
 * The memory budget of all handlers' backlogs together. Beyond it, the handlers that hold most receive the changes of an
 * object as one, so that the objects bound their backlogs.
 */
import type { ProcessorListener } from './processor-listener.ts';

export type BudgetedListener = Pick<
  ProcessorListener,
  'heldBytes' | 'isCoalescing' | 'coalesced' | 'coalesce' | 'onPressure'
>;

/** Notifications coalesced in a turn: about 0.25 ms of work, and several times the records that a round merges. */
const COALESCE_BATCH = 1024;

export class BacklogBudget {
  /** Bytes that only pending notifications need, over all handlers of the threads. */
  readonly backlogBytesMax: number;
  /** Handlers that were reported since they last had no merged notification. */
  readonly #reported: WeakSet<BudgetedListener> = new WeakSet();

  constructor(backlogBytesMax: number) {
    this.backlogBytesMax = backlogBytesMax;
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
      if (!listener.isCoalescing) this.#reported.delete(listener);
      const { coalesced } = listener;
      if (listener.coalesce(COALESCE_BATCH)) hasMore = true;
      if (listener.coalesced === coalesced || this.#reported.has(listener)) continue;
      this.#reported.add(listener);
      listener.onPressure(bytes, this.backlogBytesMax);
    }
    return hasMore;
  }
}
