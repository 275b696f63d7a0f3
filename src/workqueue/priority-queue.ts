/**
 * A work queue with priorities that lets nobody starve: what waits gains one point of priority for every
 * `agingMs`. controller-runtime's priority queue, which hands out the highest for ever, is the model for the
 * rest: an item has the highest priority that it was added with since it was last handed out.
 *
 * All items age alike, so who comes first never changes by itself: the order is that of `time of adding -
 * priority * agingMs`, and a heap does it.
 */
import { realClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import { RateLimitingQueue } from './rate-limiting-queue.ts';
import type { RateLimitingQueueOptions } from './rate-limiting-queue.ts';
import { TimeHeap } from './time-heap.ts';
import type { WorkOrder } from './work-order.ts';

export interface PriorityQueueOptions<T> extends Omit<RateLimitingQueueOptions<T>, 'order'> {
  /** How long an item waits for one point of priority. Default: 1 s. */
  readonly agingMs?: number;
}

export interface AddOptions {
  /** Higher comes first; any number. Default: 0. */
  readonly priority?: number;
  readonly afterMs?: number;
  /** The limiter decides when; with `afterMs` the later of the two. */
  readonly rateLimited?: boolean;
}

const AGING_MS = 1000;

class AgingOrder implements WorkOrder {
  readonly #clock: Clock;
  readonly #agingMs: number;
  readonly #heap: TimeHeap<unknown> = new TimeHeap();
  /** Of keys that wait, or will. */
  readonly #priorities: Map<unknown, number> = new Map();
  /** When a waiting key was first added. */
  readonly #since: Map<unknown, number> = new Map();

  constructor(clock: Clock, agingMs: number) {
    this.#clock = clock;
    this.#agingMs = agingMs;
  }

  get length(): number {
    return this.#heap.size;
  }

  /** The next addition of the key has at least this priority. */
  raise(key: unknown, priority: number): void {
    const known = this.#priorities.get(key);
    if (known === undefined || priority > known) this.#priorities.set(key, priority);
  }

  push(key: unknown): void {
    this.#since.set(key, this.#clock.now());
    this.touch(key);
  }

  pop(): unknown {
    const key = this.#heap.pop();
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

export class PriorityQueue<T> extends RateLimitingQueue<T> {
  readonly #aging: AgingOrder;

  constructor(options: PriorityQueueOptions<T> = {}) {
    const agingMs = options.agingMs ?? AGING_MS;
    if (!(agingMs > 0 && agingMs < Infinity)) {
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `agingMs must be above 0 and finite, not ${agingMs}`);
    }
    const aging = new AgingOrder(options.clock ?? realClock, agingMs);
    super({ ...options, order: aging });
    this.#aging = aging;
  }

  /** With priority 0. */
  override add(item: T): void {
    this.addWithOptions({}, item);
  }

  /** @throws ERR_KUBELOOM_OPTION when the priority is not a finite number */
  addWithOptions(
    { priority = 0, afterMs = 0, rateLimited = false }: AddOptions,
    ...items: readonly T[]
  ): void {
    if (!Number.isFinite(priority)) {
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `priority must be a finite number, not ${priority}`);
    }
    if (this.isShuttingDown) return;
    for (const item of items) {
      this.#aging.raise(this.keyOf(item), priority);
      const delayMs = rateLimited ? Math.max(afterMs, this.limitMs(item)) : afterMs;
      if (delayMs > 0) this.addAfter(item, delayMs);
      else super.add(item);
    }
  }
}
