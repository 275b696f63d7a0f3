/**
 * Timers of a response. A connection whose other end is gone can stay open without an error, so a watchdog detects
 * silence. A server without streaming lists ignores the request for one and continues as a watch without end: a quiet
 * server is detected by its silence, a busy one by the missing end bookmark. Time in which we do not read does not
 * count.
 */
import type { Clock } from '../base/clock.ts';

export class Watchdog {
  /** The time of the last sign of life. A hot path sets it, every other owner calls `touch`. */
  lastSignAt: number;
  readonly #clock: Clock;
  #limitMs: number;
  readonly #onSilence: (limitMs: number) => void;
  #isPaused = false;
  #cancel: () => void;

  constructor(clock: Clock, limitMs: number, onSilence: (limitMs: number) => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.lastSignAt = clock.now();
    this.#cancel = this.#schedule(limitMs);
  }

  /** Lowers the limit; never raises it. */
  shorten(limitMs: number): void {
    if (limitMs >= this.#limitMs) return;
    this.#limitMs = limitMs;
    this.touch();
    this.#cancel();
    this.#cancel = this.#schedule(limitMs);
  }

  touch(): void {
    this.lastSignAt = this.#clock.now();
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
    const remainingMs = this.lastSignAt + this.#limitMs - this.#clock.now();
    if (remainingMs > 0) this.#cancel = this.#schedule(remainingMs);
    else this.#onSilence(this.#limitMs);
  }
}

export const QUIET_MAX_MS = 30_000;
export const TOTAL_MAX_MS = 300_000;

/** The time limit of a streaming list. */
export class InitialEventsDeadline {
  readonly #quiet: Watchdog;
  readonly #clock: Clock;
  readonly #onMissed: (waitedMs: number) => void;
  #remainingMs = TOTAL_MAX_MS;
  #runningSince = 0;
  #cancelTotal: () => void = () => undefined;

  constructor(clock: Clock, onMissed: (waitedMs: number) => void, quietMaxMs: number = QUIET_MAX_MS) {
    this.#clock = clock;
    this.#onMissed = onMissed;
    this.#quiet = new Watchdog(clock, quietMaxMs, onMissed);
    this.#run();
  }

  /** Restarts the timer of silence: more of the list has arrived. */
  touch(): void {
    this.#quiet.touch();
  }

  pause(): void {
    this.#quiet.pause();
    this.#cancelTotal();
    this.#remainingMs -= this.#clock.now() - this.#runningSince;
  }

  resume(): void {
    this.#quiet.resume();
    this.#run();
  }

  stop(): void {
    this.#quiet.stop();
    this.#cancelTotal();
  }

  #run(): void {
    this.#cancelTotal();
    this.#runningSince = this.#clock.now();
    const delayMs = Math.max(0, this.#remainingMs);
    this.#cancelTotal = this.#clock.schedule(delayMs, () => this.#onMissed(TOTAL_MAX_MS));
  }
}
