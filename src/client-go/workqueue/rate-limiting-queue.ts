/** A work queue that delays failed items: client-go's rate limiting queue. */
import { having } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { DelayingQueue } from './delaying-queue.ts';
import { defaultControllerRateLimiter } from './rate-limiters.ts';
import type { RateLimiter } from './rate-limiters.ts';
import { WORK_QUEUE_CHECKS } from './work-queue.ts';
import type { WorkQueueOptions } from './work-queue.ts';

export interface RateLimitingQueueOptions<T> extends WorkQueueOptions<T> {
  /** The limiter. Default: client-go's for controllers. It receives keys (`keyOf`). */
  readonly rateLimiter?: RateLimiter<unknown>;
}

export const RATE_LIMITING_QUEUE_CHECKS: OptionChecks<RateLimitingQueueOptions<unknown>> = {
  ...WORK_QUEUE_CHECKS,
  rateLimiter: having('a rate limiter with when() and forget()', 'when', 'forget'),
};

export class RateLimitingQueue<T> extends DelayingQueue<T> {
  readonly #limiter: RateLimiter<unknown>;

  constructor(
    options: RateLimitingQueueOptions<T> = {},
    checks: OptionChecks<Record<string, unknown>> = RATE_LIMITING_QUEUE_CHECKS,
  ) {
    super(options, checks);
    this.#limiter = options.rateLimiter ?? defaultControllerRateLimiter(this.clock);
  }

  /** Adds the item when its limiter allows it. */
  addRateLimited(item: T): void {
    this.addAfter(item, this.limitMs(item));
  }

  /** Returns the delay; counts as a failure of the item. */
  protected limitMs(item: T): number {
    return this.#limiter.when(this.keyOf(item));
  }

  /** Forgets an item's failures: call it when the item succeeded or is given up. It does not call `done`. */
  forget(item: T): void {
    this.#limiter.forget(this.keyOf(item));
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(this.keyOf(item));
  }
}
