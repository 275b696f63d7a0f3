/**
 * How long to wait for the end of a streaming list. A server that does not know what was asked for ignores
 * it silently and goes on as a watch for ever: quiet ones show by saying nothing, busy ones by never
 * coming to an end.
 */
import type { Clock } from '../clock.ts';
import { Watchdog } from './watchdog.ts';

export const QUIET_MAX_MS = 30_000;
export const TOTAL_MAX_MS = 300_000;

export class InitialEventsDeadline {
  readonly #quiet: Watchdog;
  readonly #cancelTotal: () => void;

  constructor(clock: Clock, onMissed: (waitedMs: number) => void) {
    this.#quiet = new Watchdog(clock, QUIET_MAX_MS, () => onMissed(QUIET_MAX_MS));
    this.#cancelTotal = clock.schedule(TOTAL_MAX_MS, () => onMissed(TOTAL_MAX_MS));
  }

  /** More of the list has arrived. */
  touch(): void {
    this.#quiet.touch();
  }

  pause(): void {
    this.#quiet.pause();
  }

  resume(): void {
    this.#quiet.resume();
  }

  stop(): void {
    this.#quiet.stop();
    this.#cancelTotal();
  }
}
