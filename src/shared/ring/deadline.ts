/**
 * A time in shared memory: one thread moves it, every thread compares it with a clock. It is a time of
 * `process.hrtime`, the machine's monotonic clock, which all threads share.
 *
 *   0        8
 *   ├────────┤
 *   │ time   │ nanoseconds, i64
 */
import { WORD_BYTES } from './word.ts';

const NANOSECONDS = 1e6;

export class Deadline {
  readonly memory: SharedArrayBuffer;
  readonly #times: BigInt64Array;

  /** @param memory memory of a deadline of another thread. Default: new memory, and over at once */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(WORD_BYTES)) {
    this.memory = memory;
    this.#times = new BigInt64Array(memory, 0, 1);
  }

  /** Milliseconds until the time; not positive when it has come. */
  get remainingMs(): number {
    return Number(Atomics.load(this.#times, 0) - process.hrtime.bigint()) / NANOSECONDS;
  }

  /**
   * Moves the time to the moment at which `remainingMs` will have passed. The clock of this class is read first: a process
   * that is frozen before the other clock is read has an earlier time, never a later one.
   *
   * @param remainingMs reads the other clock
   */
  move(remainingMs: () => number): void {
    const now = process.hrtime.bigint();
    const left = Math.min(remainingMs(), Number.MAX_SAFE_INTEGER / NANOSECONDS);
    Atomics.store(this.#times, 0, now + BigInt(Math.floor(left * NANOSECONDS)));
  }

  /** Ends the time: it has come. */
  end(): void {
    Atomics.store(this.#times, 0, 0n);
  }
}
