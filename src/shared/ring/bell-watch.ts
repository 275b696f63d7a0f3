/**
 * The wait for a bell on a thread with an event loop. A bell that did not wake the thread, or work without a bell, must
 * not block the thread forever. Neither may happen; each time is counted. A timer looks for them while something is
 * outstanding; a thread that expects no work sets no timer.
 *
 * A single finding is no proof: a producer may be interrupted before it rings, or this loop delayed before it
 * wakes. So two looks of the same wait must find it, and a late wake-up is at most two periods late.
 */
import type { Clock } from '../../base/clock.ts';
import type { Bell } from './bell.ts';

export const LOOK_PERIOD_MS = 100;

export class BellWatch {
  /** Number of waits that a look ended. */
  lostWakeups = 0;
  readonly #bell: Bell;
  readonly #clock: Clock;
  readonly #isOutstanding: () => boolean;
  /** Work check of the open wait. */
  #hasWork: (() => boolean) | undefined;
  #isOverdue = false;
  #cancelLook: (() => void) | undefined;
  #isClosed = false;

  /**
   * @param clock timers of this clock must not keep the process alive
   * @param isOutstanding returns whether a wake-up is due sooner or later
   */
  constructor(bell: Bell, clock: Clock, isOutstanding: () => boolean) {
    this.#bell = bell;
    this.#clock = clock;
    this.#isOutstanding = isOutstanding;
  }

  ring(): void {
    this.#bell.ring();
  }

  /** Parks as `Bell.parkAsync` does; a single wait may be open. */
  async parkAsync(hasWork: () => boolean): Promise<void> {
    this.#hasWork = hasWork;
    this.#isOverdue = false;
    this.watch();
    await this.#bell.parkAsync(hasWork);
    this.#hasWork = undefined;
  }

  /**
   * Looks from now on, if something is outstanding. The looks go on between waits: there are thousands, and a timer for
   * each would cost more.
   */
  watch(): void {
    if (this.#isClosed || this.#cancelLook || !this.#isOutstanding()) return;
    this.#cancelLook = this.#clock.schedule(LOOK_PERIOD_MS, () => this.#look());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
  }

  #look(): void {
    this.#cancelLook = undefined;
    this.watch();
    const isOverdue = this.#hasWork !== undefined && (this.#bell.hasRung || this.#hasWork());
    const isLost = isOverdue && this.#isOverdue;
    this.#isOverdue = isOverdue;
    if (!isLost) return;
    this.#isOverdue = false;
    this.lostWakeups++;
    this.#bell.ring();
  }
}
