/**
 * Times of a sample of the watch events, on their way from the reflector to the main thread: a sequence in 64. The reflector
 * writes a stamp before it commits the sequence, and the main thread reads it before it publishes the sequence as
 * merged. A cell is written again only when the sequence is merged, so the two never meet and need no lock.
 *
 * ```
 *  cell (sequence / 64) % cells:   sequence + 1 (0: empty) │ time of the read │ time of the commit
 * ```
 */
import type { Clock } from '../base/clock.ts';
import { SAMPLED_EVERY } from './record/delta.ts';
import type { Word } from './ring/word.ts';

const SEQUENCE = 0;
const READ_MS = 1;
const COMMITTED_MS = 2;
const NUMBERS_PER_CELL = 3;

/** A log that is full of objects of 128 bytes has a cell for each sampled event. */
const LOG_BYTES_PER_CELL: number = SAMPLED_EVERY * 128;

/** Times of an event, by the clock that all threads share. */
export interface Stamp {
  /** Time at which the reflector's thread received the event's last bytes. */
  readonly readMs: number;
  /** Time at which the record became visible to the shards. */
  readonly committedMs: number;
}

/** Shared memory for the stamps of a pipeline whose log has `logBytes`; structured-cloneable. */
export function allocateStamps(logBytes: number): SharedArrayBuffer {
  // A power of two: the cells of two neighbours differ also where sequences wrap.
  const cells = 2 ** Math.floor(Math.log2(logBytes / LOG_BYTES_PER_CELL));
  return new SharedArrayBuffer(cells * NUMBERS_PER_CELL * Float64Array.BYTES_PER_ELEMENT);
}

/** The cells, for both sides. */
class StampMemory {
  readonly numbers: Float64Array;
  readonly cells: number;

  constructor(buffer: SharedArrayBuffer) {
    this.numbers = new Float64Array(buffer);
    this.cells = this.numbers.length / NUMBERS_PER_CELL;
  }

  /** Returns the index of the first number of the sequence's cell. */
  indexOf(sequence: number): number {
    return (Math.floor(sequence / SAMPLED_EVERY) % this.cells) * NUMBERS_PER_CELL;
  }
}

export class StampWriter {
  readonly #memory: StampMemory;
  readonly #merged: Pick<Word, 'load'>;
  readonly #clock: Pick<Clock, 'now'>;
  /** Sequences of the stamps that the next commit writes, and the times of their reads. */
  readonly #sequences: number[] = [];
  readonly #readsMs: number[] = [];

  /** Empties all cells: a predecessor's committed records are merged, and the other sequences are used again. */
  constructor(buffer: SharedArrayBuffer, merged: Pick<Word, 'load'>, clock: Pick<Clock, 'now'>) {
    this.#memory = new StampMemory(buffer);
    this.#memory.numbers.fill(0);
    this.#merged = merged;
    this.#clock = clock;
  }

  /** Takes the time at which the event of a sampled sequence was read, if there is a cell for it. */
  add(sequence: number, readMs: number): void {
    const unmerged = (sequence - this.#merged.load()) >>> 0;
    if (unmerged > this.#memory.cells * SAMPLED_EVERY) return;
    this.#sequences.push(sequence);
    this.#readsMs.push(readMs);
  }

  /** Writes the stamps of everything that was added. The caller then makes the sequences visible. */
  commit(): void {
    const { numbers } = this.#memory;
    const nowMs = this.#clock.now();
    for (const [index, sequence] of this.#sequences.entries()) {
      const at = this.#memory.indexOf(sequence);
      numbers[at + SEQUENCE] = sequence + 1;
      numbers[at + READ_MS] = this.#readsMs[index] ?? nowMs;
      numbers[at + COMMITTED_MS] = nowMs;
    }
    this.#sequences.length = 0;
    this.#readsMs.length = 0;
  }
}

export class StampReader {
  readonly #memory: StampMemory;

  constructor(buffer: SharedArrayBuffer) {
    this.#memory = new StampMemory(buffer);
  }

  /** Returns the stamp of a sampled sequence that is committed and not published as merged; undefined without a stamp. */
  read(sequence: number): Stamp | undefined {
    const { numbers } = this.#memory;
    const at = this.#memory.indexOf(sequence);
    if (numbers[at + SEQUENCE] !== sequence + 1) return undefined;
    return { readMs: numbers[at + READ_MS] ?? 0, committedMs: numbers[at + COMMITTED_MS] ?? 0 };
  }
}
