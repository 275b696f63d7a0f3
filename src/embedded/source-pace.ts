/**
 * Open loop: when the events of a paced source are due. What the client does changes nothing about it.
 *
 * Timers are a millisecond coarse, which would bunch the events. Between two of them a source that has its thread to
 * itself blocks it, for less than a millisecond, and then lets its event loop turn; any other keeps its loop turning.
 */

import { realClock, realTimers } from '../clock.ts';

const WAIT_MS_MAX = 1;
const MS_PER_SECOND = 1000;

/** Blocks the thread for so many milliseconds, or returns at once. */
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

  /** How many events should have been sent by now. */
  get due(): number {
    return Math.floor(((realClock.now() - this.#startedAt) * this.#ratePerSecond) / MS_PER_SECOND);
  }

  /** Resolves when event number `index` (from 0) is due, or earlier: after at most a millisecond. */
  async until(index: number): Promise<void> {
    const dueAt = this.#startedAt + ((index + 1) * MS_PER_SECOND) / this.#ratePerSecond;
    const waitMs = Math.min(WAIT_MS_MAX, dueAt - realClock.now());
    if (waitMs > 0) this.#block(waitMs);
    await new Promise<void>((resolve) => realTimers.setImmediate(resolve));
  }
}
