/** Repetition of reads that the server or the connection failed; writes are repeated by the work queue of their controller. */
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { sleep } from '../../base/sleep.ts';
import { retryAfterMs } from '../../kube/retry.ts';
import { KubeStatusError } from '../../kube/status.ts';

/** client-go's limit. */
const REPETITIONS_MAX = 10;
const RECONNECTIONS_MAX = 3;
const RECONNECTION_DELAY_MS = 100;
const OVERLOADED: ReadonlySet<number> = new Set([429, 503]);

/**
 * Reads again after 429 and 503 with Retry-After, at most ten times, and after broken connections, at most three times.
 *
 * @param signal ends the wait before a repetition
 */
export async function repeatedRead<T>(
  read: () => Promise<T>,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<T> {
  let reconnections = 0;
  for (let repetitions = 0; ; repetitions++) {
    try {
      return await read();
    } catch (error) {
      if (repetitions >= REPETITIONS_MAX || signal?.aborted) throw error;
      if (isBroken(error)) {
        if (++reconnections > RECONNECTIONS_MAX) throw error;
        await sleep(RECONNECTION_DELAY_MS, signal, clock);
      } else if (isInvited(error)) await sleep(retryAfterMs(error), signal, clock);
      else throw error;
    }
  }
}

function isInvited(error: unknown): boolean {
  return error instanceof KubeStatusError && OVERLOADED.has(error.httpStatus) && error.hasRetryAfter;
}

function isBroken(error: unknown): boolean {
  return error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_CONNECTION_RESET';
}
