/**
 * A timer that detects a silent response: a connection whose other end is gone can stay open without an
 * error. Time in which we do not read does not count.
 */
import type { Clock } from '../base/clock.ts';

export class Watchdog {
  readonly #clock: Clock;
  #limitMs: number;
  readonly #onSilence: () => void;
  #lastSign: number;
  #isPaused = false;
  #cancel: () => void;

  constructor(clock: Clock, limitMs: number, onSilence: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.#lastSign = clock.now();
    this.#cancel = this.#schedule(limitMs);
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  /** Lowers the limit; never raises it. */
  shorten(limitMs: number): void {
    if (limitMs >= this.#limitMs) return;
    this.#limitMs = limitMs;
    this.touch();
    this.#cancel();
    this.#cancel = this.#schedule(limitMs);
  }

  /** Restarts the timer: a byte has arrived. */
  touch(): void {
    this.#lastSign = this.#clock.now();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.touch();
  }

  stop(): void {
    this.#cancel();
  }

  #schedule(delayMs: number): () => void {
    return this.#clock.schedule(delayMs, () => this.#look());
  }

  #look(): void {
    if (this.#isPaused) this.touch();
    const remainingMs = this.#lastSign + this.#limitMs - this.#clock.now();
    if (remainingMs > 0) this.#cancel = this.#schedule(remainingMs);
    else this.#onSilence();
  }
}
