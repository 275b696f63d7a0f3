/**
 * The wait of a thread with an event loop for its bell, with a slow heartbeat: a bell that rang and woke nobody, or
 * work that came without one, must not hold everything up for ever. Neither may happen; each time is counted.
 *
 * Once is no proof: a producer may have been interrupted before it rings, or this loop held up before it hears. So
 * it must be found in two looks of one wait, and what is late is at most two periods late.
 */
import type { Clock } from '../clock.ts';
import type { Bell } from '../ring/bell.ts';

export const LOOK_PERIOD_MS = 100;

export class BellWatch {
  /** Waits that the heartbeat had to end. */
  lostWakeups = 0;
  readonly #bell: Bell;
  readonly #clock: Clock;
  /** Of the open wait. */
  #hasWork: (() => boolean) | undefined;
  #isOverdue = false;
  #cancelLook: (() => void) | undefined;
  #isClosed = false;

  /** @param clock its timers must let the process end */
  constructor(bell: Bell, clock: Clock) {
    this.#bell = bell;
    this.#clock = clock;
  }

  ring(): void {
    this.#bell.ring();
  }

  /** As `Bell.parkAsync`, and as with that one wait may be open. */
  async parkAsync(hasWork: () => boolean): Promise<void> {
    this.#hasWork = hasWork;
    this.#isOverdue = false;
    // It beats on between waits: they come by the thousand, and a timer for each would cost more than the looks.
    if (!this.#cancelLook) this.#lookLater();
    await this.#bell.parkAsync(hasWork);
    this.#hasWork = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
  }

  #lookLater(): void {
    if (!this.#isClosed) this.#cancelLook = this.#clock.schedule(LOOK_PERIOD_MS, () => this.#look());
  }

  #look(): void {
    this.#lookLater();
    const isOverdue = this.#hasWork !== undefined && (this.#bell.hasRung || this.#hasWork());
    const isLost = isOverdue && this.#isOverdue;
    this.#isOverdue = isOverdue;
    if (!isLost) return;
    this.#isOverdue = false;
    this.lostWakeups++;
    this.#bell.ring();
  }
}
