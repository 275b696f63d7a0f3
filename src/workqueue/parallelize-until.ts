/** A bounded parallel for: client-go's ParallelizeUntil. */
import { KubeloomError } from '../base/errors.ts';

export interface ParallelizeOptions {
  readonly signal?: AbortSignal;
  /** Pieces that a worker takes at a time. Default: 1. */
  readonly chunkSize?: number;
}

/**
 * Calls `work` once for each of 0 … pieces - 1, at most `workers` at a time. After the signal is aborted, no new piece
 * begins, and the promise resolves when those in progress are done. The first error also stops it and is thrown.
 */
export async function parallelizeUntil(
  workers: number,
  pieces: number,
  work: (piece: number) => Promise<void> | void,
  { signal, chunkSize = 1 }: ParallelizeOptions = {},
): Promise<void> {
  for (const [name, value] of Object.entries({ workers, chunkSize })) {
    if (value >= 1) continue;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', `${name} must be at least 1, not ${value}`);
  }
  const failures: unknown[] = [];
  let begun = 0;
  const run = async (): Promise<void> => {
    while (begun < pieces) {
      const start = begun;
      begun += chunkSize;
      for (let piece = start; piece < Math.min(start + chunkSize, pieces); piece++) {
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
