/** A thread that stamps and commits sequences as a reflector does, until it is terminated. */
import { isMainThread, workerData } from 'node:worker_threads';
import { isSampled } from '../../../src/shared/record/delta.ts';
import { Word, compareU32 } from '../../../src/shared/ring/word.ts';
import { StampWriter } from '../../../src/shared/stamps.ts';
import type { Stamp } from '../../../src/shared/stamps.ts';

export interface StampingTask {
  readonly stamps: SharedArrayBuffer;
  /** Committed, written by this thread, and merged, written by the other one. */
  readonly words: SharedArrayBuffer;
}

/** A log so small that its stamps have this number of cells. */
export const CELLS = 4;
export const LOG_BYTES: number = CELLS * 64 * 128;
/** A number near the wrap. */
export const FIRST_SEQUENCE: number = 2 ** 32 - 2 ** 14;

/** Sequences that may be unmerged: more than there are cells for. */
const UNMERGED_MAX = 1024;

/** Returns the stamp of a sequence, from which the reader can tell whether its numbers belong together. */
export function stampOf(sequence: number): Stamp {
  return { readMs: sequence + 0.25, committedMs: sequence + 0.75 };
}

function run({ stamps, words }: StampingTask): never {
  const committed = new Word(new Int32Array(words), 0);
  const merged = new Word(new Int32Array(words), 1);
  let sequence = FIRST_SEQUENCE;
  const writer = new StampWriter(stamps, merged, { now: () => stampOf(sequence).committedMs });
  for (;;) {
    sequence = (sequence + 1) >>> 0;
    // A commit for each stamp: its time names the sequence.
    if (!isSampled(sequence)) continue;
    writer.add(sequence, stampOf(sequence).readMs);
    writer.commit();
    committed.store(sequence);
    for (let seen = merged.load(); compareU32(sequence, seen) > UNMERGED_MAX; seen = merged.load())
      merged.wait(seen, 1);
  }
}

if (!isMainThread) run(workerData as StampingTask);
