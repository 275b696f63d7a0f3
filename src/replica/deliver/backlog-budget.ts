/**
 * The memory budget of all handlers' backlogs together, and the steps against an excess. Without pressure the budget
 * costs the drain a sum over the listeners after each round.
 */
import type { Clock } from '../../base/clock.ts';
import { Stopwatch } from '../../base/stopwatch.ts';
import { BEHIND_MS, COALESCE_ABOVE, NORMAL, stepBacklog } from './backlog-step.ts';
import type { BacklogLimits, BacklogState } from './backlog-step.ts';
import type { ProcessorListener } from './processor-listener.ts';

export type BudgetedListener = Pick<
  ProcessorListener,
  'heldBytes' | 'ageMs' | 'coalesced' | 'coalesce' | 'onPressure'
>;

export interface BacklogBudgetOptions {
  readonly clock: Clock;
  readonly limits: BacklogLimits;
  readonly requestRun: () => void;
}

/** Notifications coalesced in a turn: about 0.25 ms of work, and several times the records that a round merges. */
const COALESCE_BATCH = 1024;

export class BacklogBudget {
  readonly #options: BacklogBudgetOptions;
  #state: BacklogState = NORMAL;
  #isCoalesced = true;
  /** Handlers already reported as coalescing in this episode. */
  readonly #reported: Set<BudgetedListener> = new Set();
  #cancelTimer: (() => void) | undefined;
  readonly #paused: Stopwatch;
  /** Number of informers that must merge everything to end, whatever the backlog. */
  #waived = 0;
  /** Whether records may be taken from the rings. */
  mayMerge = true;
  /** Held bytes of all listeners up to which no turn is necessary. */
  idleBytes = 0;

  constructor(options: BacklogBudgetOptions) {
    this.#options = options;
    this.#paused = new Stopwatch(options.clock);
    this.#update();
  }

  /** Time in which no records were taken from the rings. */
  get pausedMs(): number {
    return this.#paused.elapsedMs;
  }

  /** Prevents every pause until the returned function is called: an ending informer must merge all records. */
  waive(): () => void {
    this.#waived++;
    this.#update();
    this.#options.requestRun();
    return () => {
      this.#waived--;
      this.#update();
    };
  }

  /** Runs after each round of the drain that leaves more than `idleBytes`; true when there is more to do. */
  runOnce(listeners: readonly BudgetedListener[]): boolean {
    const { clock, limits } = this.#options;
    const before = this.#state;
    let bytes = held(listeners);
    if (before.kind !== 'normal') {
      this.#isCoalesced = this.#coalesce(listeners, bytes);
      bytes = held(listeners);
    }
    this.#state = stepBacklog(before, { bytes, isCoalesced: this.#isCoalesced }, clock.now(), limits);
    const { kind } = this.#state;
    if (kind !== before.kind) this.#entered(listeners, bytes);
    // Node's timers may fire slightly early.
    else if (!this.#cancelTimer) this.#schedule();
    return kind !== before.kind || !this.#isCoalesced;
  }

  #update(): void {
    const { kind } = this.#state;
    this.mayMerge = (kind !== 'full' && kind !== 'paused') || this.#waived > 0;
    this.#paused.run(!this.mayMerge);
    this.idleBytes = kind === 'normal' ? this.#options.limits.backlogBytesMax * COALESCE_ABOVE : -1;
  }

  #entered(listeners: readonly BudgetedListener[], bytes: number): void {
    const { limits } = this.#options;
    const { kind } = this.#state;
    this.#schedule();
    this.#update();
    if (kind === 'normal') {
      this.#isCoalesced = true;
      this.#reported.clear();
    }
    if (kind !== 'paused' && kind !== 'overflow') return;
    const [largest] = listeners.toSorted((one, other) => other.heldBytes - one.heldBytes);
    largest?.onPressure({ kind, bytes, limits });
  }

  /** Schedules a turn for the end of the present state: the process may be idle until that time. */
  #schedule(): void {
    const { clock, limits, requestRun } = this.#options;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const state = this.#state;
    if (state.kind !== 'full' && state.kind !== 'paused') return;
    const endMs = state.sinceMs + (state.kind === 'full' ? BEHIND_MS : limits.backlogTimeoutMs);
    this.#cancelTimer = clock.schedule(Math.max(1, endMs - clock.now()), () => {
      this.#cancelTimer = undefined;
      requestRun();
    });
  }

  /**
   * Skips listeners below the average, and listeners whose oldest notification is young. Returns false while there is
   * more to do.
   */
  #coalesce(listeners: readonly BudgetedListener[], bytes: number): boolean {
    const { limits } = this.#options;
    let isCoalesced = true;
    for (const listener of listeners) {
      if (listener.heldBytes * listeners.length < bytes || listener.ageMs < BEHIND_MS) continue;
      const { coalesced } = listener;
      if (listener.coalesce(COALESCE_BATCH)) isCoalesced = false;
      if (listener.coalesced === coalesced || this.#reported.has(listener)) continue;
      this.#reported.add(listener);
      listener.onPressure({ kind: 'coalescing', bytes, limits });
    }
    return isCoalesced;
  }
}

function held(listeners: readonly BudgetedListener[]): number {
  let bytes = 0;
  for (const listener of listeners) bytes += listener.heldBytes;
  return bytes;
}
