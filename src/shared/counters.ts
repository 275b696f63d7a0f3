/**
 * Counters that a thread keeps and another thread reads. The writer adds to private numbers, and publishes all of them at the
 * end of a turn: it copies them into the half of the shared memory that is not in use, and then names that half. The
 * reader gets all counters of the same moment, without a lock, even after the writer failed.
 */
import { Word, WORD_BYTES } from './ring/word.ts';

/** Shared memory for `count` counters; structured-cloneable. */
export function allocateCounters(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(WORD_BYTES + 2 * count * Float64Array.BYTES_PER_ELEMENT);
}

/** The two halves, and the number of publications, whose lowest bit is the half in use. */
class CounterMemory {
  readonly publications: Word;
  readonly halves: readonly [Float64Array, Float64Array];

  constructor(buffer: SharedArrayBuffer) {
    const count = (buffer.byteLength - WORD_BYTES) / (2 * Float64Array.BYTES_PER_ELEMENT);
    const half = (index: number): Float64Array =>
      new Float64Array(buffer, WORD_BYTES + index * count * Float64Array.BYTES_PER_ELEMENT, count);
    this.publications = new Word(new Int32Array(buffer, 0, WORD_BYTES / Int32Array.BYTES_PER_ELEMENT), 0);
    this.halves = [half(0), half(1)];
  }

  half(publications: number): Float64Array {
    return this.halves[publications & 1] as Float64Array;
  }
}

export class CounterWriter {
  /** The counters. The number of a counter replaces the name: `values[Counter.Bytes] += length`. */
  readonly values: Float64Array;
  readonly #memory: CounterMemory;
  #publications: number;

  /** Continues with the counts that a predecessor published. */
  constructor(buffer: SharedArrayBuffer) {
    this.#memory = new CounterMemory(buffer);
    this.#publications = this.#memory.publications.load();
    this.values = this.#memory.half(this.#publications).slice();
  }

  publish(): void {
    const next = (this.#publications + 1) >>> 0;
    this.#memory.half(next).set(this.values);
    this.#memory.publications.increment();
    this.#publications = next;
  }
}

export class CounterReader {
  readonly #memory: CounterMemory;

  constructor(buffer: SharedArrayBuffer) {
    this.#memory = new CounterMemory(buffer);
  }

  /** Returns a copy of the last published counters. */
  read(): Float64Array {
    const { publications } = this.#memory;
    for (;;) {
      const before = publications.load();
      const values = this.#memory.half(before).slice();
      // The writer fills this half again only after it has published the other half.
      if (publications.loadAfterReads() === before) return values;
    }
  }
}
