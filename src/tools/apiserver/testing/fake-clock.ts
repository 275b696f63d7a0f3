/** A clock that moves only when a test advances it. */
import type { Clock } from '../../../base/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

interface Waiter {
  readonly timers: number;
  readonly resolve: () => void;
}

const START_MS = 1000;

/** A clock for tests: time passes when the test says so. */
export class FakeClock implements Clock {
  #now: number;
  /** Timers in the order in which they were scheduled. The order decides between timers of the same time. */
  readonly #timers: Set<Timer> = new Set();
  readonly #waiters: Set<Waiter> = new Set();

  constructor(startMs: number = START_MS) {
    this.#now = startMs;
  }

  /**
   * Returns the time of the clock in milliseconds. A clock begins at 1,000 unless the constructor receives another
   * start.
   */
  now(): number {
    return this.#now;
  }

  /**
   * Schedules a call that `advance` or `advanceToNext` makes. A negative delay counts as 0. Returns a function that
   * cancels it.
   */
  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    for (const waiter of this.#waiters) this.#look(waiter);
    return () => this.#timers.delete(timer);
  }

  /** Number of timers that have not run. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer, or undefined. */
  get nextDelayMs(): number | undefined {
    const next = this.#next();
    return next && next.at - this.#now;
  }

  /** Runs every timer that comes due, in order, each at the timer's time, including timers scheduled on the way. */
  advance(byMs: number): void {
    const until = this.#now + byMs;
    for (let next = this.#next(); next && next.at <= until; next = this.#next()) this.#run(next);
    this.#now = until;
  }

  /** Advances to the time of the next timer and runs only that timer. Returns false if there is none. */
  advanceToNext(): boolean {
    const next = this.#next();
    if (next) this.#run(next);
    return next !== undefined;
  }

  /** Resolves when at least `count` timers are pending: the code under test waits. */
  waitForTimers(count: number = 1): Promise<void> {
    return new Promise((resolve) => {
      const waiter = { timers: count, resolve };
      this.#waiters.add(waiter);
      this.#look(waiter);
    });
  }

  #look(waiter: Waiter): void {
    if (this.#timers.size < waiter.timers) return;
    this.#waiters.delete(waiter);
    waiter.resolve();
  }

  #run(timer: Timer): void {
    this.#timers.delete(timer);
    this.#now = timer.at;
    timer.callback();
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (!first || timer.at < first.at) first = timer;
    return first;
  }
}
