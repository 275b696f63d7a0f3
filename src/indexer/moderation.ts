/**
 * Decision of an idle thread between a short pause and parking on its bell. At high rates a pause costs less than a
 * wake-up for every read (docs/decisions/0004). The rate decides, not the size of a batch: over TLS all data comes in
 * pieces of 16 KiB, about three objects each.
 */

/** Length of the measured window, and of the pause. */
export const PAUSE_MS = 1;
const RECORDS_PER_MS = 32;

export class Moderation {
  #records = 0;
  #windowStart: number;
  #isBusy = false;

  constructor(nowMs: number) {
    this.#windowStart = nowMs;
  }

  /** Counts finished records. */
  add(records: number): void {
    this.#records += records;
  }

  /** Returns whether to pause; called when no work is left. */
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
