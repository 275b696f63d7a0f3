/**
 * How long an item that failed has to wait before it is tried again: client-go's limiters with its numbers.
 * All of them tell items apart as a Map does; use keys, not objects.
 */
import { realClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';

export interface RateLimiter<T> {
  /** The delay in milliseconds; asking counts as a failure. */
  when(item: T): number;
  /** The item is through, for good or ill: its failures do not count any more. */
  forget(item: T): void;
  numRequeues(item: T): number;
}

class Failures<T> {
  readonly #counts: Map<T, number> = new Map();

  /** How often before this time. */
  add(item: T): number {
    const count = this.of(item);
    this.#counts.set(item, count + 1);
    return count;
  }

  of(item: T): number {
    return this.#counts.get(item) ?? 0;
  }

  forget(item: T): void {
    this.#counts.delete(item);
  }
}

/** base, 2·base, 4·base … up to the most. */
export class ItemExponentialFailureRateLimiter<T> implements RateLimiter<T> {
  readonly #failures: Failures<T> = new Failures();
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;

  constructor(baseDelayMs: number, maxDelayMs: number) {
    this.#baseDelayMs = wantPositive('baseDelayMs', baseDelayMs);
    this.#maxDelayMs = wantPositive('maxDelayMs', maxDelayMs);
  }

  when(item: T): number {
    return Math.min(this.#baseDelayMs * 2 ** this.#failures.add(item), this.#maxDelayMs);
  }

  forget(item: T): void {
    this.#failures.forget(item);
  }

  numRequeues(item: T): number {
    return this.#failures.of(item);
  }
}

/** The first few times soon, after that late. */
export class ItemFastSlowRateLimiter<T> implements RateLimiter<T> {
  readonly #failures: Failures<T> = new Failures();
  readonly #fastDelayMs: number;
  readonly #slowDelayMs: number;
  readonly #fastAttemptsMax: number;

  constructor(fastDelayMs: number, slowDelayMs: number, fastAttemptsMax: number) {
    this.#fastDelayMs = wantPositive('fastDelayMs', fastDelayMs);
    this.#slowDelayMs = wantPositive('slowDelayMs', slowDelayMs);
    this.#fastAttemptsMax = wantPositive('fastAttemptsMax', fastAttemptsMax);
  }

  when(item: T): number {
    return this.#failures.add(item) < this.#fastAttemptsMax ? this.#fastDelayMs : this.#slowDelayMs;
  }

  forget(item: T): void {
    this.#failures.forget(item);
  }

  numRequeues(item: T): number {
    return this.#failures.of(item);
  }
}

/** So many a second over all items, with so many at once after a pause: a token bucket that lends. */
export class BucketRateLimiter<T> implements RateLimiter<T> {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #burst: number;
  /** When the bucket, emptied by what was promised so far, is full again. */
  #fullAtMs = -Infinity;

  constructor(ratePerSecond: number, burst: number, clock: Clock = realClock) {
    this.#clock = clock;
    this.#intervalMs = 1000 / wantPositive('ratePerSecond', ratePerSecond);
    this.#burst = wantPositive('burst', burst);
  }

  when(_item: T): number {
    const now = this.#clock.now();
    this.#fullAtMs = Math.max(this.#fullAtMs, now) + this.#intervalMs;
    return Math.max(0, this.#fullAtMs - now - this.#burst * this.#intervalMs);
  }

  forget(_item: T): void {
    // The bucket does not know items.
  }

  numRequeues(_item: T): number {
    return 0;
  }
}

/** The strictest of several. */
export class MaxOfRateLimiter<T> implements RateLimiter<T> {
  readonly #limiters: readonly RateLimiter<T>[];

  constructor(...limiters: readonly RateLimiter<T>[]) {
    this.#limiters = limiters;
  }

  when(item: T): number {
    return Math.max(0, ...this.#limiters.map((limiter) => limiter.when(item)));
  }

  forget(item: T): void {
    for (const limiter of this.#limiters) limiter.forget(item);
  }

  numRequeues(item: T): number {
    return Math.max(0, ...this.#limiters.map((limiter) => limiter.numRequeues(item)));
  }
}

/** Another one, but never longer than this. */
export class WithMaxWaitRateLimiter<T> implements RateLimiter<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #maxDelayMs: number;

  constructor(limiter: RateLimiter<T>, maxDelayMs: number) {
    this.#limiter = limiter;
    this.#maxDelayMs = wantPositive('maxDelayMs', maxDelayMs);
  }

  when(item: T): number {
    return Math.min(this.#limiter.when(item), this.#maxDelayMs);
  }

  forget(item: T): void {
    this.#limiter.forget(item);
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item);
  }
}

const MAX_DELAY_MS = 1_000_000;

/** What a controller wants: 5 ms doubled up to 1000 s for each item, and 10 a second with bursts of 100 over all. */
export function defaultControllerRateLimiter<T>(clock: Clock = realClock): RateLimiter<T> {
  return new MaxOfRateLimiter<T>(
    new ItemExponentialFailureRateLimiter<T>(5, MAX_DELAY_MS),
    new BucketRateLimiter<T>(10, 100, clock),
  );
}

/** 1 ms doubled up to 1000 s for each item. */
export function defaultItemBasedRateLimiter<T>(): RateLimiter<T> {
  return new ItemExponentialFailureRateLimiter<T>(1, MAX_DELAY_MS);
}

function wantPositive(option: string, value: number): number {
  if (value > 0) return value;
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `${option} must be above 0, not ${value}`);
}
