/** A rate limiter of the program, whose answers are checked: a delay of NaN would lose the item, or be none. */
import { KubeloomError, firstLineOf } from '../base/errors.ts';
import { shown } from '../base/option-checks.ts';
import { disown } from '../base/thenable.ts';
import { ItemExponentialFailureRateLimiter } from './rate-limiters.ts';
import type { RateLimiter } from './rate-limiters.ts';

/** A delay, and the fault of the limiter that did not return a delay. */
export interface Limit {
  readonly delayMs: number;
  readonly fault?: KubeloomError;
}

/** Delays of failures for which the limiter returns none. */
const FALLBACK_MS_MIN = 5;
const FALLBACK_MS_MAX = 1_000_000;

export class CheckedRateLimiter {
  readonly #limiter: RateLimiter<unknown>;
  readonly #fallback: RateLimiter<unknown> = new ItemExponentialFailureRateLimiter(
    FALLBACK_MS_MIN,
    FALLBACK_MS_MAX,
  );

  constructor(limiter: RateLimiter<unknown>) {
    this.#limiter = limiter;
  }

  /** Returns the delay; counts as a failure of the key. */
  limit(key: unknown): Limit {
    try {
      return { delayMs: this.#number('when', key) };
    } catch (fault) {
      return { delayMs: this.#fallback.when(key), fault: fault as KubeloomError };
    }
  }

  /** @throws ERR_KUBELOOM_RATE_LIMITER */
  forget(key: unknown): void {
    this.#fallback.forget(key);
    disown(this.#call('forget', key));
  }

  /** @throws ERR_KUBELOOM_RATE_LIMITER */
  numRequeues(key: unknown): number {
    return this.#number('numRequeues', key);
  }

  /** Returns whether the key failed; a limiter that does not answer said so with the last delay. */
  hasFailed(key: unknown): boolean {
    try {
      return this.numRequeues(key) > 0;
    } catch {
      return this.#fallback.numRequeues(key) > 0;
    }
  }

  #number(method: 'when' | 'numRequeues', key: unknown): number {
    const value = this.#call(method, key);
    if (typeof value === 'number' && value >= 0 && value < Infinity) return value;
    disown(value);
    throw limiterError(`${method}() returned ${shown(value)}, which is no finite number from 0 on`);
  }

  #call(method: keyof RateLimiter<unknown>, key: unknown): unknown {
    try {
      return this.#limiter[method](key);
    } catch (cause) {
      throw limiterError(`${method}() threw: ${firstLineOf(cause)}`, cause);
    }
  }
}

function limiterError(what: string, cause?: unknown): KubeloomError {
  const message = `the rate limiter's ${what}`;
  return new KubeloomError('ERR_KUBELOOM_RATE_LIMITER', message, cause === undefined ? {} : { cause });
}
