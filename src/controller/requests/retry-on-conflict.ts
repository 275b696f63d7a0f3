/** client-go's RetryOnConflict: a read, a change and an update, repeated while other writers are faster. */
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import {
  clock as aClock,
  integer,
  invalidOption,
  signal as aSignal,
  checkOptions,
} from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { sleep } from '../../base/sleep.ts';

/** Options of repeated writes. */
export interface RetryOnConflictOptions {
  /** Calls in all. Default: 5. */
  readonly attempts?: number;
  /** Ends the repetitions: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Clock of the delays. Default: the real clock. */
  readonly clock?: Clock;
}

const CHECKS: OptionChecks<RetryOnConflictOptions> = {
  attempts: integer(1, 1000),
  signal: aSignal,
  clock: aClock,
};
/** client-go's DefaultRetry: 10 ms and a tenth of jitter. */
const ATTEMPTS = 5;
const DELAY_MS = 10;
const JITTER = 0.1;

/**
 * Calls the function again after ERR_KUBELOOM_CONFLICT. The function must read the object each time.
 *
 * @returns the result of the call without a conflict
 * @throws the last conflict; every other error at once; the signal's reason; ERR_KUBELOOM_OPTION
 */
export async function retryOnConflict<R>(
  call: () => Promise<R> | R,
  options: RetryOnConflictOptions = {},
): Promise<R> {
  if (typeof call !== 'function') invalidOption('the argument of retryOnConflict', call, 'a function');
  checkOptions('options of retryOnConflict', options, CHECKS);
  const { attempts = ATTEMPTS, signal, clock = realClock } = options;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      const isConflict = error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_CONFLICT';
      if (!isConflict || attempt >= attempts) throw error;
      await sleep(DELAY_MS * (1 + JITTER * Math.random()), signal, clock);
    }
  }
}
