/**
 * The time limit of a streaming list. A server without streaming lists ignores the request and continues as
 * a watch without end. A quiet server is detected by its silence, a busy one by the missing end bookmark.
 */
import type { Clock } from '../base/clock.ts';
import { Watchdog } from './watchdog.ts';

export const QUIET_MAX_MS = 30_000;
export const TOTAL_MAX_MS = 300_000;

export class InitialEventsDeadline {
  readonly #clock: Clock;
  readonly #onMissed: (waitedMs: number) => void;
  readonly #quiet: Watchdog;
  #remainingMs = TOTAL_MAX_MS;
  #runningSince = 0;
  #cancelTotal: () => void = () => undefined;

  constructor(clock: Clock, onMissed: (waitedMs: number) => void, quietMaxMs: number = QUIET_MAX_MS) {
    this.#clock = clock;
    this.#onMissed = onMissed;
    this.#quiet = new Watchdog(clock, quietMaxMs, () => onMissed(quietMaxMs));
    this.#run();
  }

  /** Restarts the timer of silence: more of the list has arrived. */
  touch(): void {
    this.#quiet.touch();
  }

  /** Stops the timers: the time in which we do not read does not count. */
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
