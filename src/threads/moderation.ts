/**
 * Whether a thread that has worked everything off should look away for a moment instead of waiting to be woken:
 * at high rates a pause costs less than a wake-up for every read (docs/decisions/0004). The rate decides, and
 * not the size of a batch: over TLS everything comes in pieces of 16 KiB, three objects at a time.
 */

/** The size of the window, and how long the pause is. */
export const PAUSE_MS = 1;
const RECORDS_PER_MS = 32;

export class Moderation {
  #records = 0;
  #windowStart: number;
  #isBusy = false;

  constructor(nowMs: number) {
    this.#windowStart = nowMs;
  }

  /** So many more were worked off. */
  add(records: number): void {
    this.#records += records;
  }

  /** Asked when nothing is left to do. */
  shouldPause(nowMs: number): boolean {
    const elapsedMs = nowMs - this.#windowStart;
    if (elapsedMs >= PAUSE_MS) {
      this.#isBusy = this.#records > RECORDS_PER_MS * elapsedMs;
      this.#windowStart = nowMs;
      this.#records = 0;
    }
    return this.#isBusy;
  }
}
