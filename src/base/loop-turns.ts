/**
 * A loop of promises alone never lets the event loop run: no timer, no request, no signal of the system. A loop that may find
 * its next step ready asks here before each step.
 */
import { realTimers } from './clock.ts';
import type { Clock } from './clock.ts';

/** Steps, and their time, before the event loop has a turn. */
const STEPS_MAX = 32;
const SLICE_MS = 5;

export class LoopTurns {
  readonly #clock: Clock;
  #steps = 0;
  #startMs = -Infinity;
  #turn: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns undefined while a step may follow at once; else a promise that resolves after a turn of the event loop. */
  next(): Promise<void> | undefined {
    if (this.#turn) return this.#turn;
    if (this.#steps === 0) this.waited();
    if (this.#steps++ < STEPS_MAX && this.#clock.now() - this.#startMs < SLICE_MS) return undefined;
    this.#turn = new Promise((resolve) => {
      realTimers.setImmediate(() => {
        this.#steps = 0;
        this.#turn = undefined;
        resolve();
      });
    });
    return this.#turn;
  }

  /** Says that the loop has waited. The steps still count: loops that wait for each other wait without a turn. */
  waited(): void {
    this.#startMs = this.#clock.now();
  }
}
