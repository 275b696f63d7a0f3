/** A clock that moves only when it is told to. */
import type { Clock } from '../../src/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  #now = 1000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer, or undefined. */
  get nextDelayMs(): number | undefined {
    const next = this.#next();
    return next && next.at - this.#now;
  }

  /** Runs every timer that comes due, in order, each at its own time. */
  advance(byMs: number): void {
    const until = this.#now + byMs;
    for (let next = this.#next(); next && next.at <= until; next = this.#next()) {
      this.#timers.delete(next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = until;
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (!first || timer.at < first.at) first = timer;
    return first;
  }
}
