/** The time for which a condition has held so far, over all periods. */
import type { Clock } from './clock.ts';

export class Stopwatch {
  readonly #clock: Pick<Clock, 'now'>;
  #endedMs = 0;
  #sinceMs: number | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Starts or ends a period. Reads the clock only when that is a change. */
  run(isRunning: boolean): void {
    if (isRunning === (this.#sinceMs !== undefined)) return;
    this.#endedMs = this.elapsedMs;
    this.#sinceMs = isRunning ? this.#clock.now() : undefined;
  }

  /** Sum of all periods, the current period included. */
  get elapsedMs(): number {
    return this.#sinceMs === undefined ? this.#endedMs : this.#endedMs + this.#clock.now() - this.#sinceMs;
  }
}
