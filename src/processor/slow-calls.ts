/** When a handler's slowness is worth a word: it is far behind and one call took long. client-go's numbers. */
import type { Clock } from '../clock.ts';

/** A handler with no more than this pending may take its time. */
export const SLOW_PENDING_MIN = 1024;
const SLOW_CALL_MS = 100;
const WORD_INTERVAL_MS = 60_000;

export class SlowCalls {
  readonly #clock: Clock;
  readonly #onSlow: (callMs: number) => void;
  #saidAtMs = -Infinity;

  constructor(clock: Clock, onSlow: (callMs: number) => void) {
    this.#clock = clock;
    this.#onSlow = onSlow;
  }

  /** A call that began when the handler was far behind has ended. At most one word a minute. */
  ended(startMs: number): void {
    const nowMs = this.#clock.now();
    const callMs = nowMs - startMs;
    if (callMs <= SLOW_CALL_MS || nowMs - this.#saidAtMs < WORD_INTERVAL_MS) return;
    this.#saidAtMs = nowMs;
    this.#onSlow(callMs);
  }
}
