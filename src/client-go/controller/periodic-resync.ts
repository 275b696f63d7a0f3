/**
 * A timer that requests a resync once every period. It starts with the first list and continues through watches,
 * relists and delays. (client-go's timer restarts with every relist, so frequent relists prevent resyncs.)
 */
import type { Clock } from '../../base/clock.ts';

/** The longest delay: setTimeout takes 31 bits and fires at once beyond them. */
const DELAY_MS_MAX = 2 ** 31 - 1;

export class PeriodicResync {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #onDue: () => void;
  #dueAt = 0;
  #phase: 'waiting' | 'running' | 'stopped' = 'waiting';
  #cancel: () => void = () => undefined;

  /** @param periodMs 0: never */
  constructor(clock: Clock, periodMs: number, onDue: () => void) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#onDue = onDue;
  }

  /** Starts the timer after the first list; later calls do nothing. */
  start(): void {
    if (this.#phase !== 'waiting' || this.#periodMs <= 0) return;
    this.#phase = 'running';
    this.#dueAt = this.#clock.now() + this.#periodMs;
    this.#arm();
  }

  stop(): void {
    this.#phase = 'stopped';
    this.#cancel();
  }

  #arm(): void {
    const delayMs = Math.min(Math.max(0, this.#dueAt - this.#clock.now()), DELAY_MS_MAX);
    this.#cancel = this.#clock.schedule(delayMs, () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.now();
    // The real clock has fractions, timers have whole milliseconds.
    if (now + 1 >= this.#dueAt) {
      this.#dueAt = now + this.#periodMs;
      this.#onDue();
    }
    if (this.#phase === 'running') this.#arm();
  }
}
