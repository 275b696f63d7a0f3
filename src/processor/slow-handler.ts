/**
 * When a handler's slowness is worth a word: one call took long while much waited behind it, or something has waited
 * for long, whatever the handler does meanwhile. At most one word a minute.
 */
import type { Clock } from '../clock.ts';

export interface SlowLimits {
  /** A handler with no more than this pending may take its time. */
  readonly slowNotifications: number;
  /** With more pending, no call should take longer. */
  readonly slowCallMs: number;
  /** Nothing should wait for so long; 0: nobody minds. */
  readonly slowAgeMs: number;
}

/** The first two are client-go's. */
export const SLOW_LIMITS: SlowLimits = { slowNotifications: 1024, slowCallMs: 100, slowAgeMs: 30_000 };

const WORD_INTERVAL_MS = 60_000;

export interface SlowHandlerOptions {
  readonly clock: Clock;
  readonly limits: SlowLimits;
  /** Of the oldest that is pending; undefined when nothing is. */
  readonly ageMs: () => number | undefined;
  /** @param callMs of a call that has just ended; undefined when it is about the age */
  readonly onSlow: (callMs: number | undefined) => void;
}

export class SlowHandler {
  readonly #options: SlowHandlerOptions;
  #saidAtMs = -Infinity;
  #cancelTimer: (() => void) | undefined;

  constructor(options: SlowHandlerOptions) {
    this.#options = options;
  }

  /** Something has come: if it is still there when it is too old, that is noticed. */
  arrived(): void {
    const { slowAgeMs } = this.#options.limits;
    if (this.#cancelTimer === undefined && slowAgeMs > 0) this.#look(slowAgeMs);
  }

  /** A call that began when the handler was far behind has ended. */
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

  /** Time is looked at again when the oldest of now would be too old, or the next word may be said. */
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
