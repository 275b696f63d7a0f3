/**
 * The wait for a bell on a thread with an event loop, with a slow heartbeat. A bell that did not wake the thread,
 * or work without a bell, must not block the thread forever. Neither may happen; each time is counted.
 *
 * One finding proves nothing: a producer may be interrupted before it rings, or this loop delayed before it
 * wakes. So two looks of one wait must find it, and a late wake-up is at most two periods late.
 */
import type { Clock } from '../../base/clock.ts';
import type { Bell } from './bell.ts';

export const LOOK_PERIOD_MS = 100;

export class BellWatch {
  /** Number of waits that the heartbeat ended. */
  lostWakeups = 0;
  readonly #bell: Bell;
  readonly #clock: Clock;
  /** Work check of the open wait. */
  #hasWork: (() => boolean) | undefined;
  #isOverdue = false;
  #cancelLook: (() => void) | undefined;
  #isClosed = false;

  /** @param clock its timers must not keep the process alive */
  constructor(bell: Bell, clock: Clock) {
    this.#bell = bell;
    this.#clock = clock;
  }

  ring(): void {
    this.#bell.ring();
  }

  /** Parks as `Bell.parkAsync` does; as there, one wait may be open. */
  async parkAsync(hasWork: () => boolean): Promise<void> {
    this.#hasWork = hasWork;
    this.#isOverdue = false;
    // The heartbeat continues between waits: there are thousands, and a timer for each would cost more than the looks.
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
