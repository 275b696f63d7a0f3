/**
 * The memory budget of all handlers' backlogs together. Beyond it, the handlers that hold most receive the changes of an
 * object as one, so that the objects bound their backlogs. Below it, the budget costs the drain a comparison for each round.
 */
import type { ProcessorListener } from './processor-listener.ts';

export type BudgetedListener = Pick<ProcessorListener, 'heldBytes' | 'coalesced' | 'coalesce' | 'onPressure'>;

/** Notifications coalesced in a turn: about 0.25 ms of work, and several times the records that a round merges. */
const COALESCE_BATCH = 1024;
/** Part of the budget below which a later excess is reported again. */
const RELIEVED_BELOW: number = 1 / 2;

export class BacklogBudget {
  readonly #backlogBytesMax: number;
  /** Handlers already reported in this episode. */
  readonly #reported: Set<BudgetedListener> = new Set();

  /** Bytes of all listeners up to which no turn is necessary. */
  idleBytes: number;

  /** @param backlogBytesMax bytes that only pending notifications need, over all handlers of the threads */
  constructor(backlogBytesMax: number) {
    this.#backlogBytesMax = backlogBytesMax;
    this.idleBytes = backlogBytesMax;
  }

  /**
   * Runs after each round of the drain that leaves more than `idleBytes`; true when there is more to do. Handlers that
   * hold less than the average receive every change.
   *
   * @param bytes that all listeners hold
   */
  runOnce(listeners: readonly BudgetedListener[], bytes: number): boolean {
    const backlogBytesMax = this.#backlogBytesMax;
    const isRelieved = bytes < backlogBytesMax * RELIEVED_BELOW;
    if (isRelieved) this.#reported.clear();
    this.idleBytes = isRelieved ? backlogBytesMax : -1;
    if (bytes <= backlogBytesMax) return false;
    let hasMore = false;
    for (const listener of listeners) {
      if (listener.heldBytes * listeners.length < bytes) continue;
      const { coalesced } = listener;
      if (listener.coalesce(COALESCE_BATCH)) hasMore = true;
      if (listener.coalesced === coalesced || this.#reported.has(listener)) continue;
      this.#reported.add(listener);
      listener.onPressure(bytes, backlogBytesMax);
    }
    return hasMore;
  }
}
