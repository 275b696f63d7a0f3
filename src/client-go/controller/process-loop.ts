/**
 * Pops one value after the other until it is stopped. An error of a processing is reported, and the loop
 * continues; client-go's loop drops those errors silently.
 */
import { realTimers } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { KubeloomError, wrapped } from '../../base/errors.ts';
import { ErrRequeue } from '../queue/queue.ts';
import type { ErrorReports } from './error-reports.ts';
import { onAbort } from '../../base/on-abort.ts';

/** Duration of consecutive pops before timers and sockets get a turn. */
const SLICE_MS = 5;
/** Delay before a retry: doubled from the first to the last. */
const RETRY_FIRST_MS = 5;
const RETRY_LAST_MS = 1000;

export interface ProcessLoopOptions {
  /** Pops and processes one value; rethrows errors of the processing. */
  readonly popOne: (signal: AbortSignal) => Promise<unknown>;
  /** A failed value is in the queue again. */
  readonly isRetried: boolean;
  readonly reports: ErrorReports;
  readonly clock: Clock;
}

export async function processLoop(options: ProcessLoopOptions, signal: AbortSignal): Promise<void> {
  const { popOne, isRetried, reports, clock } = options;
  let failures = 0;
  let sliceStart = clock.now();
  while (!signal.aborted) {
    try {
      await popOne(signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted && error === signal.reason) return;
      if (isClosed(error)) return;
      reports.report(wrapped('ERR_KUBELOOM_PROCESS', 'processing failed', error), 'process');
      if (isRetried) await pause(clock, RETRY_FIRST_MS * 2 ** failures++, signal);
    }
    if (clock.now() - sliceStart < SLICE_MS) continue;
    await new Promise((resolve) => realTimers.setImmediate(resolve));
    sliceStart = clock.now();
  }
}

/** Puts a value back into the queue when its processing fails. */
export async function requeueing(process: () => unknown): Promise<void> {
  try {
    await process();
  } catch (error) {
    throw error instanceof ErrRequeue ? error : new ErrRequeue(error);
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_QUEUE_CLOSED';
}

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      unlisten();
      resolve();
    };
    const cancel = clock.schedule(Math.min(delayMs, RETRY_LAST_MS), done);
    const unlisten = onAbort(signal, done);
  });
}
