/**
 * Memory that no one uses any more and that V8 counts late or never: V8 is made to collect, once that frees much.
 */

/** Bytes below which a collection costs more than it frees. */
export const WORTH_BYTES_MIN: number = 2 ** 23;
/** Length of an array for which V8 collects the whole heap first. */
const COLLECTING_BYTES = 2 ** 27;

/** Makes V8 collect. The array is never written, so it takes no memory; V8 collects before it refuses such an array. */
export function collectGarbage(): void {
  try {
    void new ArrayBuffer(COLLECTING_BYTES);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}

/** Memory that a thread dropped: it is freed when V8 has collected in every thread that read it. */
export class ForgottenMemory {
  readonly #collectGarbage: () => void;
  #bytes = 0;

  constructor(collect: () => void = collectGarbage) {
    this.#collectGarbage = collect;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Makes V8 collect in this thread if that frees much. */
  collect(): void {
    if (this.#bytes < WORTH_BYTES_MIN) return;
    this.#bytes = 0;
    this.#collectGarbage();
  }
}
