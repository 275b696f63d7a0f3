/**
 * A shared 32-bit word in 128 bytes, written by one thread and read by others.
 *
 * `Atomics` appears only in this folder; other code uses the methods (`load`, `store`, `add`).
 * Sequences and positions are u32 and wrap: compare them with `compareU32`, never with `<`.
 *
 * Two cache lines for each word: adjacent-line prefetch makes 64 bytes too few (as in Agrona).
 */

export const WORD_BYTES = 128;
const WORD_STRIDE = WORD_BYTES / Int32Array.BYTES_PER_ELEMENT;

/** Returns a negative number, 0 or a positive number when `a` is before, at or after `b` on the u32 circle. */
export function compareU32(a: number, b: number): number {
  return (a - b) | 0;
}

export class Word {
  readonly #words: Int32Array;
  readonly #index: number;

  constructor(words: Int32Array, line: number) {
    this.#words = words;
    this.#index = line * WORD_STRIDE;
  }

  load(): number {
    return Atomics.load(this.#words, this.#index) >>> 0;
  }

  /** Stores the value. A thread that loads it sees everything that this thread wrote before. */
  store(value: number): void {
    Atomics.store(this.#words, this.#index, value | 0);
  }

  /** Adds 1; the only operation that several threads may do on one word (the bell). */
  increment(): void {
    Atomics.add(this.#words, this.#index, 1);
  }

  /**
   * Loads the value, as a write of the same value: an `increment` that follows it happens after everything that this
   * thread read before. A plain load would let the incrementing thread's later writes overtake those reads.
   */
  loadAfterReads(): number {
    return Atomics.add(this.#words, this.#index, 0) >>> 0;
  }

  notify(): void {
    Atomics.notify(this.#words, this.#index);
  }

  /** Blocks this thread until the word differs from `seen`, is notified, or the timeout is reached. */
  wait(seen: number, timeoutMs: number): 'ok' | 'not-equal' | 'timed-out' {
    return Atomics.wait(this.#words, this.#index, seen | 0, timeoutMs);
  }

  /** Waits as `wait` does, on a thread with an event loop. Note: V8 never keeps the loop alive for it. */
  waitAsync(seen: number): Promise<unknown> | undefined {
    const result = Atomics.waitAsync(this.#words, this.#index, seen | 0);
    return result.async ? result.value : undefined;
  }
}

/** Allocates a block of words in shared memory, addressed by position: `words.at(LINE)`. */
export function allocateWords(lines: number): SharedArrayBuffer {
  return new SharedArrayBuffer(lines * WORD_BYTES);
}
