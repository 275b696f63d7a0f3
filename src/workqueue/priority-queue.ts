/**
 * A work queue with priorities and without starvation: a waiting item gains a point of priority for every
 * `agingMs`. The rest follows controller-runtime's priority queue, which always returns the highest priority:
 * an item carries the highest priority with which it was added since it was last returned. An item in work that is added
 * again by `addAfter` or `addRateLimited` keeps the priority with which it was returned: a retry is as urgent as the cause.
 *
 * All items age alike, so their order never changes by itself: it is the order of `time of adding -
 * priority * agingMs`, kept in a heap.
 */
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import type { KubeloomError } from '../base/errors.ts';
import { invalidOption, checkFinite, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { RATE_LIMITING_QUEUE_CHECKS, RateLimitingQueue } from './rate-limiting-queue.ts';
import type { RateLimitingQueueOptions } from './rate-limiting-queue.ts';
import { TimeHeap } from './time-heap.ts';
import { checkItem } from './work-queue.ts';
import type { WorkOrder } from './work-queue.ts';

/** Options of a priority queue. */
export interface PriorityQueueOptions<T> extends Omit<RateLimitingQueueOptions<T>, 'order'> {
  /** Waiting time that adds a point of priority. Default: 1 s. */
  readonly agingMs?: number;
}

/** Options of `PriorityQueue.add`. */
export interface AddOptions {
  /** Priority: any number, higher comes first. Default: 0. */
  readonly priority?: number;
  /** Delay; 0 (default) and less: at once. */
  readonly afterMs?: number;
  /** Lets the rate limiter decide the delay; with `afterMs` the longer delay counts. */
  readonly rateLimited?: boolean;
}

const AGING_MS = 1000;

class AgingOrder implements WorkOrder {
  readonly #clock: Clock;
  readonly #agingMs: number;
  readonly #heap: TimeHeap<unknown> = new TimeHeap();
  /** Priorities of keys that wait now or after a delay. */
  readonly #priorities: Map<unknown, number> = new Map();
  /** Priorities of keys in work. */
  readonly #inWork: Map<unknown, number> = new Map();
  /** Time at which a waiting key was first added. */
  readonly #since: Map<unknown, number> = new Map();

  constructor(clock: Clock, agingMs: number) {
    this.#clock = clock;
    this.#agingMs = agingMs;
  }

  get length(): number {
    return this.#heap.size;
  }

  /** Raises the priority of the next addition of the key to at least this priority. */
  raise(key: unknown, priority: number): void {
    const known = this.#priorities.get(key);
    if (known === undefined || priority > known) this.#priorities.set(key, priority);
  }

  /** Sets the priority of a key in work to the former priority, unless the key was added again already. */
  keep(key: unknown): void {
    const had = this.#inWork.get(key);
    if (had !== undefined && !this.#priorities.has(key)) this.#priorities.set(key, had);
  }

  done(key: unknown): void {
    this.#inWork.delete(key);
  }

  push(key: unknown): void {
    this.#since.set(key, this.#clock.now());
    this.touch(key);
  }

  pop(): unknown {
    const { key } = this.#heap.pop();
    this.#inWork.set(key, this.#priorities.get(key) ?? 0);
    this.#priorities.delete(key);
    this.#since.delete(key);
    return key;
  }

  touch(key: unknown): void {
    const priority = this.#priorities.get(key) ?? 0;
    const since = this.#since.get(key) ?? this.#clock.now();
    this.#heap.add(key, key, since - priority * this.#agingMs);
  }
}

const PRIORITY_QUEUE_CHECKS = {
  ...RATE_LIMITING_QUEUE_CHECKS,
  agingMs: checkAging,
} satisfies OptionChecks<PriorityQueueOptions<unknown>>;

function checkAging(name: string, value: unknown): void {
  if (typeof value !== 'number' || !(value > 0 && value < Infinity)) {
    invalidOption(name, value, 'a number of milliseconds above 0');
  }
}

/** A rate limiting queue that returns items of higher priority first. */
export class PriorityQueue<T> extends RateLimitingQueue<T> {
  readonly #aging: AgingOrder;

  constructor(options: PriorityQueueOptions<T> = {}) {
    checkOptions('options of a work queue', options, PRIORITY_QUEUE_CHECKS);
    const { agingMs = AGING_MS, clock = realClock } = options;
    const aging = new AgingOrder(clock, agingMs);
    super({ ...options, order: aging }, PRIORITY_QUEUE_CHECKS);
    this.#aging = aging;
  }

  /** Adds the item with priority 0. */
  override add(item: T): void {
    this.addWithOptions({}, item);
  }

  /** Adds the item later. An item in work keeps the priority. */
  override addAfter(item: T, delayMs: number): void {
    if (!this.isShuttingDown) this.#aging.keep(this.keyOf(item));
    super.addAfter(item, delayMs);
  }

  /** Ends the work on the item, as in `WorkQueue`, and forgets the priority with which it was returned. */
  override done(item: T): void {
    this.#aging.done(this.keyOf(item));
    super.done(item);
  }

  /**
   * Adds items with a priority, at once or later. A waiting item keeps the higher priority. Ignored after the queue
   * was shut down.
   *
   * @throws ERR_KUBELOOM_OPTION when a number is not finite, or an item is undefined, before an item is added
   * @throws ERR_KUBELOOM_RATE_LIMITER after all items are added, as `addRateLimited`
   */
  addWithOptions(
    { priority = 0, afterMs = 0, rateLimited = false }: AddOptions,
    ...items: readonly T[]
  ): void {
    checkFinite('priority', priority);
    checkFinite('afterMs', afterMs);
    for (const item of items) checkItem(item);
    if (this.isShuttingDown) return;
    let fault: KubeloomError | undefined;
    for (const item of items) {
      this.#aging.raise(this.keyOf(item), priority);
      const limit = rateLimited ? this.limit(item) : undefined;
      fault ??= limit?.fault;
      const delayMs = Math.max(afterMs, limit?.delayMs ?? 0);
      if (delayMs > 0) this.addAfter(item, delayMs);
      else super.add(item);
    }
    if (fault) throw fault;
  }
}
