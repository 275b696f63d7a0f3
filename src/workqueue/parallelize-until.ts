/** A bounded parallel for: client-go's ParallelizeUntil. */
import { realClock } from '../base/clock.ts';
import { LoopTurns } from '../base/loop-turns.ts';
import { callback, number, signal as aSignal, checkNumber, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';

/** Options of parallel work. */
export interface ParallelizeOptions {
  /** Ends the work: no new piece begins, pieces in progress are finished. */
  readonly signal?: AbortSignal;
  /** Pieces that a worker takes at a time. Default: 1. */
  readonly chunkSize?: number;
}

const CHECKS: OptionChecks<ParallelizeOptions> = { signal: aSignal, chunkSize: number(1) };

/**
 * Calls `work` once for each of 0 … pieces - 1, at most `workers` at a time. After the signal is aborted, no new piece
 * begins, and the promise resolves when those in progress are done. The first error also stops it and is thrown.
 * Between pieces the event loop has its turns, also when no piece waits.
 */
export async function parallelizeUntil(
  workers: number,
  pieces: number,
  work: (piece: number) => Promise<void> | void,
  options: ParallelizeOptions = {},
): Promise<void> {
  checkNumber('workers', workers, 1, Infinity);
  checkNumber('pieces', pieces, -Infinity, Infinity);
  callback('work', work);
  checkOptions('options of parallelizeUntil', options, CHECKS);
  const { signal, chunkSize = 1 } = options;
  const failures: unknown[] = [];
  const turns = new LoopTurns(realClock);
  let begun = 0;
  const run = async (): Promise<void> => {
    while (begun < pieces) {
      const start = begun;
      begun += chunkSize;
      for (let piece = start; piece < Math.min(start + chunkSize, pieces); piece++) {
        await turns.next();
        if (signal?.aborted || failures.length > 0) return;
        try {
          await work(piece);
        } catch (error) {
          failures.push(error);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, pieces) }, run));
  if (failures.length > 0) throw failures[0];
}
