/** A work queue that makes items which failed wait: client-go's rate limiting queue. */
import { DelayingQueue } from './delaying-queue.ts';
import { defaultControllerRateLimiter } from './rate-limiters.ts';
import type { RateLimiter } from './rate-limiters.ts';
import type { WorkQueueOptions } from './work-queue.ts';

export interface RateLimitingQueueOptions<T> extends WorkQueueOptions<T> {
  /** Default: client-go's for controllers. It is given keys (`keyOf`). */
  readonly rateLimiter?: RateLimiter<unknown>;
}

export class RateLimitingQueue<T> extends DelayingQueue<T> {
  readonly #limiter: RateLimiter<unknown>;

  constructor(options: RateLimitingQueueOptions<T> = {}) {
    super(options);
    this.#limiter = options.rateLimiter ?? defaultControllerRateLimiter(this.clock);
  }

  /** Adds the item when its limiter allows it. */
  addRateLimited(item: T): void {
    this.addAfter(item, this.limitMs(item));
  }

  /** Counts as a failure of the item. */
  protected limitMs(item: T): number {
    return this.#limiter.when(this.keyOf(item));
  }

  /** The item is through: call it when it succeeded, or is given up. It does not say `done`. */
  forget(item: T): void {
    this.#limiter.forget(this.keyOf(item));
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(this.keyOf(item));
  }
}
