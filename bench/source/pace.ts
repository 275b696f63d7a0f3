/**
 * Due times of the events of a paced source, open loop: they do not depend on the client. Timers have a resolution of
 * one millisecond, which would bunch the events. Between two timers, a source with a thread of its own blocks it for
 * less than a millisecond, and then yields to its event loop. A source in a shared thread yields all the time.
 */

import { realClock, realTimers } from '../../src/base/clock.ts';

const WAIT_MS_MAX = 1;
const MS_PER_SECOND = 1000;

/** Blocks the thread for `timeoutMs`, or returns at once. */
export type BlockFor = (timeoutMs: number) => void;

export class Pace {
  readonly #startedAt: number;
  readonly #ratePerSecond: number;
  readonly #block: BlockFor;

  constructor(ratePerSecond: number, block: BlockFor) {
    this.#block = block;
    this.#ratePerSecond = ratePerSecond;
    this.#startedAt = realClock.now();
  }

  /** Number of events that should have been sent by now. */
  get due(): number {
    return Math.floor(((realClock.now() - this.#startedAt) * this.#ratePerSecond) / MS_PER_SECOND);
  }

  /** Resolves when event number `index` (from 0) is due, or earlier, after at most a millisecond. */
  async until(index: number): Promise<void> {
    const dueAt = this.#startedAt + ((index + 1) * MS_PER_SECOND) / this.#ratePerSecond;
    const waitMs = Math.min(WAIT_MS_MAX, dueAt - realClock.now());
    if (waitMs > 0) this.#block(waitMs);
    await new Promise<void>((resolve) => realTimers.setImmediate(resolve));
  }
}
