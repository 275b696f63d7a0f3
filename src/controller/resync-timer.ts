/**
 * Asks for a resync once every period. It begins with the first list and goes on through watches, relists and
 * waits (client-go's begins anew with every relist, so that frequent ones starve it).
 */
import type { Clock } from '../clock.ts';

/** A longer delay fires at once: setTimeout takes 31 bits. */
const DELAY_MS_MAX = 2 ** 31 - 1;

export class ResyncTimer {
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

  /** There is something to resync; once is enough. */
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
    // The real clock is in fractions, timers are in whole milliseconds.
    if (now + 1 >= this.#dueAt) {
      this.#dueAt = now + this.#periodMs;
      this.#onDue();
    }
    if (this.#phase === 'running') this.#arm();
  }
}
