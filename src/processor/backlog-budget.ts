/**
 * What the backlogs of all handlers may hold together, and what is done about it. Without pressure it costs one
 * sum over the listeners after each round of the drain.
 */
import type { Clock } from '../clock.ts';
import { BEHIND_MS, NORMAL, stepBacklog } from './backlog-step.ts';
import type { BacklogLimits, BacklogState } from './backlog-step.ts';

/** What a listener is told when it is one of those that hold much. */
export interface BacklogPressure {
  readonly kind: Exclude<BacklogState['kind'], 'normal' | 'full'>;
  /** Of all handlers together. */
  readonly bytes: number;
  readonly limits: BacklogLimits;
}

export interface BudgetedListener {
  readonly heldBytes: number;
  /** Of the oldest that is pending. */
  readonly ageMs: number;
  /** Notifications that became part of others, ever. */
  readonly coalesced: number;
  /** Merges what is pending, up to `count` notifications; true when there is more. */
  coalesce(count: number): boolean;
  readonly onPressure: (pressure: BacklogPressure) => void;
}

export interface BacklogBudgetOptions {
  readonly clock: Clock;
  readonly limits: BacklogLimits;
  /** There is something to do: a turn, soon. */
  readonly kick: () => void;
}

/** About a quarter of a millisecond, and several times what is merged in a round. */
const COALESCE_BATCH = 1024;

export class BacklogBudget {
  readonly #options: BacklogBudgetOptions;
  #state: BacklogState = NORMAL;
  #isCoalesced = true;
  /** Those of whom was said since it began that they are told less. */
  readonly #reported: Set<BudgetedListener> = new Set();
  #cancelTimer: (() => void) | undefined;
  /** Who needs everything merged to end, whatever it holds. */
  #waived = 0;

  constructor(options: BacklogBudgetOptions) {
    this.#options = options;
  }

  /** Whether records may be taken from the rings. */
  get mayMerge(): boolean {
    const { kind } = this.#state;
    return (kind !== 'full' && kind !== 'paused') || this.#waived > 0;
  }

  /** Until the returned function is called nothing is paused: an informer that ends must get to its end. */
  waive(): () => void {
    this.#waived++;
    this.#options.kick();
    return () => {
      this.#waived--;
    };
  }

  /** After each round of the drain; true when there is more to do. */
  turn(listeners: readonly BudgetedListener[]): boolean {
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
    // Node's timers may fire a little too early.
    else if (!this.#cancelTimer) this.#schedule();
    return kind !== before.kind || !this.#isCoalesced;
  }

  #entered(listeners: readonly BudgetedListener[], bytes: number): void {
    const { limits } = this.#options;
    const { kind } = this.#state;
    this.#schedule();
    if (kind === 'normal') {
      this.#isCoalesced = true;
      this.#reported.clear();
    }
    if (kind === 'paused' || kind === 'overflow') largest(listeners)?.onPressure({ kind, bytes, limits });
  }

  /** Everything may stand still until the time is over. */
  #schedule(): void {
    const { clock, limits, kick } = this.#options;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const state = this.#state;
    if (state.kind !== 'full' && state.kind !== 'paused') return;
    const endMs = state.sinceMs + (state.kind === 'full' ? BEHIND_MS : limits.backlogPauseMsMax);
    this.#cancelTimer = clock.schedule(Math.max(1, endMs - clock.now()), () => {
      this.#cancelTimer = undefined;
      kick();
    });
  }

  /** Who holds less than the average, or nothing for long, is not behind. False when there is more to do. */
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

function largest(listeners: readonly BudgetedListener[]): BudgetedListener | undefined {
  let found: BudgetedListener | undefined;
  for (const listener of listeners) if (!found || listener.heldBytes > found.heldBytes) found = listener;
  return found;
}
