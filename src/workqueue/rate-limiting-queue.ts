/** Work queues whose items may be added later, and that delay failed items: client-go's delaying and rate limiting queues. */
import { aRateLimiter, checkFinite } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { signalOf } from '../base/signal-options.ts';
import type { SignalOptions } from '../base/signal-options.ts';
import { queueAddChannel } from '../metrics/trace-channels.ts';
import { CheckedRateLimiter } from './checked-rate-limiter.ts';
import type { Limit } from './checked-rate-limiter.ts';
import { defaultControllerRateLimiter } from './rate-limiters.ts';
import type { RateLimiter } from './rate-limiters.ts';
import { TimeHeap } from './time-heap.ts';
import { WORK_QUEUE_CHECKS, WorkQueue, checkItem } from './work-queue.ts';
import type { WorkQueueOptions } from './work-queue.ts';

/** A work queue with a single timer for all items that wait for their time. */
export class DelayingQueue<T> extends WorkQueue<T> {
  readonly #waiting: TimeHeap<T> = new TimeHeap();
  #armedForMs = Infinity;
  #cancelTimer: () => void = () => undefined;

  /** Number of items that wait for their time. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Keys of the items that wait for their time. */
  protected waitingKeys(): Iterable<unknown> {
    return this.#waiting.keys();
  }

  /**
   * Adds the item after the delay, at once for 0 and less. Of several times for the same item the earliest
   * counts. Ignored after shutdown.
   *
   * @throws ERR_KUBELOOM_OPTION when the delay is not a finite number, or the item is undefined
   */
  addAfter(item: T, delayMs: number): void {
    checkItem(item);
    checkFinite('delayMs', delayMs);
    if (this.isShuttingDown) return;
    this.metrics.retried?.();
    if (delayMs <= 0) {
      super.add(item);
      return;
    }
    const key = this.keyOf(item);
    if (queueAddChannel.hasSubscribers) queueAddChannel.publish({ queue: this, key });
    this.#waiting.add(key, item, this.clock.now() + delayMs);
    this.#arm();
  }

  /** @internal Makes the items ready that wait for their time. */
  ripenAll(): void {
    this.#ripen(Infinity);
  }

  /** Drops the items that still wait for their time. */
  override shutDown(): void {
    this.#dropWaiting();
    super.shutDown();
  }

  /** Drops the items that still wait for their time, and continues as `WorkQueue.shutDownWithDrain`. */
  override async shutDownWithDrain(options?: SignalOptions): Promise<void> {
    signalOf('shutDownWithDrain()', options);
    this.#dropWaiting();
    await super.shutDownWithDrain(options);
  }

  #dropWaiting(): void {
    this.#cancelTimer();
    this.#waiting.clear();
  }

  #arm(): void {
    const { nextMs } = this.#waiting;
    if (nextMs === this.#armedForMs) return;
    this.#cancelTimer();
    this.#armedForMs = nextMs;
    if (nextMs === Infinity) return;
    this.#cancelTimer = this.clock.schedule(nextMs - this.clock.now(), () => this.#ripen());
  }

  #ripen(untilMs: number = this.clock.now()): void {
    this.#armedForMs = Infinity;
    while (this.#waiting.size > 0 && this.#waiting.nextMs <= untilMs) {
      const { key, item } = this.#waiting.pop();
      this.enqueue(key, item);
    }
    this.#arm();
  }
}

/** Options of a rate limiting queue. */
export interface RateLimitingQueueOptions<T> extends WorkQueueOptions<T> {
  /** The limiter. Default: client-go's for controllers. It receives keys (`keyOf`). */
  readonly rateLimiter?: RateLimiter<unknown>;
}

export const RATE_LIMITING_QUEUE_CHECKS: OptionChecks<RateLimitingQueueOptions<unknown>> = {
  ...WORK_QUEUE_CHECKS,
  rateLimiter: aRateLimiter,
};

/** An item whose last reconciliation failed. */
export interface QueueFailure {
  readonly key: unknown;
  readonly error: unknown;
}

/** A work queue that delays items which failed, by a rate limiter. */
export class RateLimitingQueue<T> extends DelayingQueue<T> {
  readonly #limiter: CheckedRateLimiter;
  #lastFailure: QueueFailure | undefined;

  constructor(options?: RateLimitingQueueOptions<T>);
  /** @internal */
  constructor(options?: RateLimitingQueueOptions<T>, checks?: OptionChecks<Record<string, unknown>>);
  constructor(
    options: RateLimitingQueueOptions<T> = {},
    checks: OptionChecks<Record<string, unknown>> = RATE_LIMITING_QUEUE_CHECKS,
  ) {
    super(options, checks);
    this.#limiter = new CheckedRateLimiter(options.rateLimiter ?? defaultControllerRateLimiter(this.clock));
  }

  /**
   * Number of items that failed and wait for their next attempt. Costs a pass over all items that wait for their
   * time.
   */
  override get retrying(): number {
    return [...this.waitingKeys()].filter((key) => this.#limiter.hasFailed(key)).length;
  }

  /**
   * Adds the item when the limiter allows it, and not before `atLeastMs` have passed: a server may say when to come again.
   *
   * @throws ERR_KUBELOOM_RATE_LIMITER for a limiter that throws, or returns no delay. The item is added nevertheless, with a
   *   delay that doubles from 5 ms to 1000 s.
   */
  addRateLimited(item: T, atLeastMs: number = 0): void {
    const { delayMs, fault } = this.limit(item);
    this.addAfter(item, Math.max(delayMs, atLeastMs));
    if (fault) throw fault;
  }

  /** Returns the delay; counts as a failure of the item. */
  protected limit(item: T): Limit {
    return this.#limiter.limit(this.keyOf(item));
  }

  /**
   * Forgets an item's failures: call it when the item succeeded or is given up. It does not call `done`.
   *
   * @throws ERR_KUBELOOM_RATE_LIMITER for a limiter that throws
   */
  forget(item: T): void {
    const key = this.keyOf(item);
    if (this.#lastFailure?.key === key) this.#lastFailure = undefined;
    this.#limiter.forget(key);
  }

  /** The latest failure that `runWorkers` met, until its item is forgotten. */
  get lastFailure(): QueueFailure | undefined {
    return this.#lastFailure;
  }

  /** @internal Keeps a failure for `lastFailure`. */
  noteFailure(item: T, error: unknown): void {
    this.#lastFailure = { key: this.keyOf(item), error };
  }

  /**
   * Returns the number of failures since the item was last forgotten.
   *
   * @throws ERR_KUBELOOM_RATE_LIMITER for a limiter that throws, or returns no number
   */
  numRequeues(item: T): number {
    return this.#limiter.numRequeues(this.keyOf(item));
  }
}
