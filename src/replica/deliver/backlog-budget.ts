/**
 * The memory budget of all handlers' backlogs together. Beyond it, the handlers that hold most receive the changes of an
 * object as one, so that the objects bound their backlogs. Below it, the budget costs the drain a comparison a round.
 */
import type { ProcessorListener } from './processor-listener.ts';

export type BudgetedListener = Pick<
  ProcessorListener,
  'heldBytes' | 'coalesced' | 'coalesce' | 'onPressure'
>;

export interface BacklogPressure {
  /** Bytes of all handlers together. */
  readonly bytes: number;
  readonly backlogBytesMax: number;
}

/** Notifications coalesced in a turn: about 0.25 ms of work, and several times the records that a round merges. */
const COALESCE_BATCH = 1024;
/** Part of the budget below which a later excess is reported again. */
const RELIEVED_BELOW: number = 1 / 2;

export class BacklogBudget {
  readonly #backlogBytesMax: number;
  /** Handlers already reported in this episode. */
  readonly #reported: Set<BudgetedListener> = new Set();

  /** @param backlogBytesMax bytes that only pending notifications need, over all handlers of the threads */
  constructor(backlogBytesMax: number) {
    this.#backlogBytesMax = backlogBytesMax;
  }

  /**
   * Runs after each round of the drain; true when there is more to do. Handlers that hold less than the average receive
   * every change.
   *
   * @param bytes that all listeners hold
   */
  runOnce(listeners: readonly BudgetedListener[], bytes: number): boolean {
    const backlogBytesMax = this.#backlogBytesMax;
    if (bytes < backlogBytesMax * RELIEVED_BELOW) this.#reported.clear();
    if (bytes <= backlogBytesMax) return false;
    let hasMore = false;
    for (const listener of listeners) {
      if (listener.heldBytes * listeners.length < bytes) continue;
      const { coalesced } = listener;
      if (listener.coalesce(COALESCE_BATCH)) hasMore = true;
      if (listener.coalesced === coalesced || this.#reported.has(listener)) continue;
      this.#reported.add(listener);
      listener.onPressure({ bytes, backlogBytesMax });
    }
    return hasMore;
  }
}
