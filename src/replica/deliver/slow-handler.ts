/**
 * Decides when a slow handler is reported: one call took long while many notifications waited, or a notification has
 * waited too long, whatever the handler does meanwhile. It reports at most once a minute.
 */
import type { Clock } from '../../base/clock.ts';

export interface SlowLimits {
  /** Up to this number of pending notifications the duration of a call does not matter. */
  readonly slowNotifications: number;
  /** Longest call without a report when more are pending. */
  readonly slowCallMs: number;
  /** Longest waiting time of a notification without a report; 0: no limit. */
  readonly slowAgeMs: number;
}

/** The first two values are client-go's. */
export const SLOW_LIMITS: SlowLimits = { slowNotifications: 1024, slowCallMs: 100, slowAgeMs: 30_000 };

const WORD_INTERVAL_MS = 60_000;

export interface SlowHandlerOptions {
  readonly clock: Clock;
  readonly limits: SlowLimits;
  /** Age of the oldest pending notification; undefined without any. */
  readonly ageMs: () => number | undefined;
  /** @param callMs of a call that has just ended; undefined when the report is about the age */
  readonly onSlow: (callMs: number | undefined) => void;
}

export class SlowHandler {
  readonly #options: SlowHandlerOptions;
  #saidAtMs = -Infinity;
  #cancelTimer: (() => void) | undefined;

  constructor(options: SlowHandlerOptions) {
    this.#options = options;
  }

  /** Starts the timer that finds notifications that are too old. */
  arrived(): void {
    const { slowAgeMs } = this.#options.limits;
    if (this.#cancelTimer === undefined && slowAgeMs > 0) this.#look(slowAgeMs);
  }

  /** Reports a call that began while the handler was far behind, if it took too long. */
  ended(startMs: number): void {
    const { clock, limits, onSlow } = this.#options;
    const nowMs = clock.now();
    const callMs = nowMs - startMs;
    if (callMs <= limits.slowCallMs || !this.#maySay(nowMs)) return;
    onSlow(callMs);
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #look(delayMs: number): void {
    this.#cancelTimer = this.#options.clock.schedule(delayMs, () => this.#isDue());
  }

  /** Waits until the current oldest notification is too old, or until the next report is allowed. */
  #isDue(): void {
    this.#cancelTimer = undefined;
    const { clock, limits, ageMs: age, onSlow } = this.#options;
    const ageMs = age();
    if (ageMs === undefined) return;
    if (ageMs < limits.slowAgeMs) {
      this.#look(Math.max(1, limits.slowAgeMs - ageMs));
      return;
    }
    const nowMs = clock.now();
    if (this.#maySay(nowMs)) onSlow(undefined);
    this.#look(Math.max(1, this.#saidAtMs + WORD_INTERVAL_MS - nowMs));
  }

  #maySay(nowMs: number): boolean {
    if (nowMs - this.#saidAtMs < WORD_INTERVAL_MS) return false;
    this.#saidAtMs = nowMs;
    return true;
  }
}
