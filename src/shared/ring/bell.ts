/**
 * The bell wakes an idle consumer.
 *
 * ```
 * producer (any of several)             consumer (one)
 *   store tail                            seen = load(bell)
 *   add(bell, 1)                          look for work           → found: go on
 *   if load(parked) notify(bell)          parked = 1
 *                                         look again              → found: parked = 0, go on
 *                                         wait(bell, seen)        → parked = 0
 * ```
 *
 * Only the consumer writes `parked`. The obvious variant, in which the producer clears the flag and the
 * consumer waits on the tail, loses wake-ups: model-checked in test/unit/shared/ring/bell-model.test.ts.
 */
import { Word } from './word.ts';

export const BELL_LINES = 2;

export class Bell {
  readonly #bell: Word;
  readonly #parked: Word;
  readonly #onRing: (() => void) | undefined;
  /** Value of the bell when the consumer last parked. */
  #seen = 0;

  /** @param onRing callback for the in-process backend, where the consumer is this same thread */
  constructor(words: Int32Array, firstLine: number, onRing?: () => void) {
    this.#onRing = onRing;
    this.#bell = new Word(words, firstLine);
    this.#parked = new Word(words, firstLine + 1);
  }

  /** Producer: announces work. The tail must have been stored before. */
  ring(): void {
    this.#bell.increment();
    if (this.#parked.load() !== 0) this.#bell.notify();
    this.#onRing?.();
  }

  /**
   * Consumer on a thread without an event loop: returns when there is work, when the bell rang, or after
   * `timeoutMs`. Returns false only after the timeout, so that the caller can count work that was found without a
   * bell (a lost wake-up, which must never happen; see `ringsWithin`).
   */
  park(hasWork: () => boolean, timeoutMs: number): boolean {
    const seen = this.#bell.load();
    this.#seen = seen;
    if (hasWork()) return true;
    this.#parked.store(1);
    if (hasWork()) {
      this.#parked.store(0);
      return true;
    }
    const result = this.#bell.wait(seen, timeoutMs);
    this.#parked.store(0);
    return result !== 'timed-out';
  }

  /**
   * Consumer, after a `park` that timed out: returns whether the bell has rung since that began, or rings within
   * `timeoutMs`. A producer may be interrupted between the tail and the ring: the consumer finds work before the bell,
   * and no wake-up was lost.
   */
  ringsWithin(timeoutMs: number): boolean {
    this.#parked.store(1);
    const result = this.#bell.wait(this.#seen, timeoutMs);
    this.#parked.store(0);
    return result !== 'timed-out';
  }

  /**
   * Consumer: pauses for a fixed time. Producers find the consumer unparked and need not wake it, which at high
   * rates costs them more than the work itself.
   */
  nap(timeoutMs: number): void {
    this.#bell.wait(this.#bell.load(), timeoutMs);
  }

  /** Consumer: pauses until the bell rings or the time has passed. A ring since the last pause counts. */
  pause(timeoutMs: number): void {
    this.#parked.store(1);
    this.#bell.wait(this.#seen, timeoutMs);
    this.#parked.store(0);
    this.#seen = this.#bell.load();
  }

  /** Consumer: true when the bell rang since the consumer last began to park. */
  get hasRung(): boolean {
    return this.#bell.load() !== this.#seen;
  }

  /** Parks a consumer on a thread with an event loop; a bell allows a single open wait. */
  async parkAsync(hasWork: () => boolean): Promise<void> {
    const seen = this.#bell.load();
    this.#seen = seen;
    if (hasWork()) return;
    this.#parked.store(1);
    if (!hasWork()) await this.#bell.waitAsync(seen);
    this.#parked.store(0);
  }
}
