/** Work queues whose items may be added later, and that delay failed items: client-go's delaying and rate limiting queues. */
import { having } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { queueAddChannel } from '../../base/metrics/trace-channels.ts';
import { defaultControllerRateLimiter } from './rate-limiters.ts';
import type { RateLimiter } from './rate-limiters.ts';
import { TimeHeap } from './time-heap.ts';
import { WORK_QUEUE_CHECKS, WorkQueue } from './work-queue.ts';
import type { WorkQueueOptions } from './work-queue.ts';

/** `setTimeout` fires at once beyond 31 bits; a longer delay is checked again then. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A work queue with one timer for all items that wait for their time. */
export class DelayingQueue<T> extends WorkQueue<T> {
  readonly #waiting: TimeHeap<T> = new TimeHeap();
  #armedForMs = Infinity;
  #cancelTimer: () => void = () => undefined;

  /** Number of items whose time has not come. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Keys of the items whose time has not come. */
  protected waitingKeys(): Iterable<unknown> {
    return this.#waiting.keys();
  }

  /**
   * Adds the item after the delay, at once for 0 and less. Of several times for the same item the earliest
   * counts. Ignored after shutdown.
   */
  addAfter(item: T, delayMs: number): void {
    if (this.isShuttingDown) return;
    this.metrics.retried?.();
    if (!(delayMs > 0)) {
      super.add(item);
      return;
    }
    const key = this.keyOf(item);
    if (queueAddChannel.hasSubscribers) queueAddChannel.publish({ queue: this, key });
    this.#waiting.add(key, item, this.clock.now() + delayMs);
    this.#arm();
  }

  /** Drops the items that still wait for their time. */
  override shutDown(): void {
    this.#dropWaiting();
    super.shutDown();
  }

  override shutDownWithDrain(signal?: AbortSignal): Promise<void> {
    this.#dropWaiting();
    return super.shutDownWithDrain(signal);
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
    const delayMs = Math.min(Math.max(0, nextMs - this.clock.now()), TIMER_MS_MAX);
    this.#cancelTimer = this.clock.schedule(delayMs, () => this.#ripen());
  }

  #ripen(): void {
    this.#armedForMs = Infinity;
    const now = this.clock.now();
    while (this.#waiting.nextMs <= now) this.enqueue(this.#waiting.pop());
    this.#arm();
  }
}

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

  constructor(options?: RateLimitingQueueOptions<T>);
  /** @internal */
  constructor(options?: RateLimitingQueueOptions<T>, checks?: OptionChecks<Record<string, unknown>>);
  constructor(
    options: RateLimitingQueueOptions<T> = {},
    checks: OptionChecks<Record<string, unknown>> = RATE_LIMITING_QUEUE_CHECKS,
  ) {
    super(options, checks);
    this.#limiter = options.rateLimiter ?? defaultControllerRateLimiter(this.clock);
  }

  override get retrying(): number {
    return [...this.waitingKeys()].filter((key) => this.#limiter.numRequeues(key) > 0).length;
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
