/**
 * Limiters of how long a failed item waits before the next attempt: client-go's, with client-go's numbers. All compare
 * items as a Map does; use keys, not objects.
 */
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { invalidOption } from '../base/option-checks.ts';

/** Decides how long an item waits before its next attempt. */
export interface RateLimiter<T> {
  /** Returns the delay in milliseconds. Each call counts as a failure. */
  when(item: T): number;
  /** Forgets the failures of an item that succeeded or was given up. */
  forget(item: T): void;
  /** Returns the number of failures since the item was last forgotten, a finite number from 0 on. */
  numRequeues(item: T): number;
}

/** A limiter that counts the failures of each item. */
abstract class FailureCounter<T> implements RateLimiter<T> {
  readonly #counts: Map<T, number> = new Map();

  abstract when(item: T): number;

  /** Counts a failure and returns the number of earlier failures. */
  protected failed(item: T): number {
    const count = this.numRequeues(item);
    this.#counts.set(item, count + 1);
    return count;
  }

  forget(item: T): void {
    this.#counts.delete(item);
  }

  numRequeues(item: T): number {
    return this.#counts.get(item) ?? 0;
  }
}

/** Delays of base, 2·base, 4·base … up to a maximum. */
export class ItemExponentialFailureRateLimiter<T> extends FailureCounter<T> {
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;

  constructor(baseDelayMs: number, maxDelayMs: number) {
    super();
    this.#baseDelayMs = requirePositive('baseDelayMs', baseDelayMs);
    this.#maxDelayMs = requirePositive('maxDelayMs', maxDelayMs);
  }

  /** Counts a failure and returns `baseDelayMs * 2 ** n` after n earlier failures, at most `maxDelayMs`. */
  when(item: T): number {
    return Math.min(this.#baseDelayMs * 2 ** this.failed(item), this.#maxDelayMs);
  }
}

/** A short delay for the first attempts, a long delay after that. */
export class ItemFastSlowRateLimiter<T> extends FailureCounter<T> {
  readonly #fastDelayMs: number;
  readonly #slowDelayMs: number;
  readonly #fastAttemptsMax: number;

  constructor(fastDelayMs: number, slowDelayMs: number, fastAttemptsMax: number) {
    super();
    this.#fastDelayMs = requirePositive('fastDelayMs', fastDelayMs);
    this.#slowDelayMs = requirePositive('slowDelayMs', slowDelayMs);
    this.#fastAttemptsMax = requirePositive('fastAttemptsMax', fastAttemptsMax);
  }

  /**
   * Counts a failure and returns `fastDelayMs` for the first `fastAttemptsMax` failures, `slowDelayMs` for later
   * failures.
   */
  when(item: T): number {
    return this.failed(item) < this.#fastAttemptsMax ? this.#fastDelayMs : this.#slowDelayMs;
  }
}

/** A token bucket over all items: a rate per second, and a burst after a pause. It grants tokens in advance. */
export class BucketRateLimiter<T> implements RateLimiter<T> {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #burst: number;
  /** Time at which the bucket is full again, after all tokens granted so far. */
  #fullAtMs = -Infinity;

  constructor(ratePerSecond: number, burst: number, clock: Clock = realClock) {
    this.#clock = clock;
    this.#intervalMs = 1000 / requirePositive('ratePerSecond', ratePerSecond);
    this.#burst = requirePositive('burst', burst);
  }

  /**
   * Takes a token and returns the time until it is available, in ms; 0 within the burst. All items share the bucket.
   */
  when(_item: T): number {
    const now = this.#clock.now();
    this.#fullAtMs = Math.max(this.#fullAtMs, now) + this.#intervalMs;
    return Math.max(0, this.#fullAtMs - now - this.#burst * this.#intervalMs);
  }

  /** No effect: the bucket keeps no state of single items. */
  forget(_item: T): void {
    // The bucket keeps no state of single items.
  }

  /** Returns 0: the bucket keeps no state of single items. */
  numRequeues(_item: T): number {
    return 0;
  }
}

/** The longest delay of several limiters. */
export class MaxOfRateLimiter<T> implements RateLimiter<T> {
  readonly #limiters: readonly RateLimiter<T>[];

  constructor(...limiters: readonly RateLimiter<T>[]) {
    this.#limiters = limiters;
  }

  /** Counts a failure in every limiter and returns the longest delay; 0 without limiters. */
  when(item: T): number {
    return Math.max(0, ...this.#limiters.map((limiter) => limiter.when(item)));
  }

  /** Forgets the failures of the item in every limiter. */
  forget(item: T): void {
    for (const limiter of this.#limiters) limiter.forget(item);
  }

  /** Returns the largest number of failures that a limiter counts; 0 without limiters. */
  numRequeues(item: T): number {
    return Math.max(0, ...this.#limiters.map((limiter) => limiter.numRequeues(item)));
  }
}

/** The delay of another limiter, limited to a maximum. */
export class WithMaxWaitRateLimiter<T> implements RateLimiter<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #maxDelayMs: number;

  constructor(limiter: RateLimiter<T>, maxDelayMs: number) {
    this.#limiter = limiter;
    this.#maxDelayMs = requirePositive('maxDelayMs', maxDelayMs);
  }

  /** Counts a failure in the other limiter and returns the delay of that limiter, at most `maxDelayMs`. */
  when(item: T): number {
    return Math.min(this.#limiter.when(item), this.#maxDelayMs);
  }

  /** Forgets the failures of the item in the other limiter. */
  forget(item: T): void {
    this.#limiter.forget(item);
  }

  /** Returns the number of failures that the other limiter counts. */
  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item);
  }
}

const MAX_DELAY_MS = 1_000_000;

/**
 * Returns the default of controllers: 5 ms doubled up to 1000 s for each item, and 10 per second with bursts of
 * 100 over all items.
 */
export function defaultControllerRateLimiter<T>(clock: Clock = realClock): RateLimiter<T> {
  return new MaxOfRateLimiter<T>(
    new ItemExponentialFailureRateLimiter<T>(5, MAX_DELAY_MS),
    new BucketRateLimiter<T>(10, 100, clock),
  );
}

/** Returns a limiter of 1 ms doubled up to 1000 s for each item. */
export function defaultItemBasedRateLimiter<T>(): RateLimiter<T> {
  return new ItemExponentialFailureRateLimiter<T>(1, MAX_DELAY_MS);
}

function requirePositive(option: string, value: number): number {
  if (typeof value === 'number' && value > 0) return value;
  return invalidOption(option, value, 'a number above 0');
}
