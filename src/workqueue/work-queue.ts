/**
 * A queue of work to do: client-go's workqueue. An item that waits is in it once, however often it is added;
 * an item that is being worked on is not handed out again until `done`, and then only if it was added
 * meanwhile. So no two workers ever have the same item, and no addition is lost.
 *
 * Items are usually keys (`namespace/name`). Objects are told apart by identity, or by `keyOf`.
 */
import { realClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { onAbort } from '../on-abort.ts';
import type { WorkQueueMetrics } from './metrics.ts';
import { FirstInFirstOut } from './work-order.ts';
import type { WorkOrder } from './work-order.ts';

export interface WorkQueueOptions<T> {
  readonly name?: string;
  /** What makes two items the same. Default: the item itself. */
  readonly keyOf?: (item: T) => unknown;
  /** Default: first in, first out. */
  readonly order?: WorkOrder;
  readonly metrics?: WorkQueueMetrics;
  readonly clock?: Clock;
}

type State = 'open' | 'draining' | 'closed';

export class WorkQueue<T> implements AsyncIterable<T> {
  readonly name: string;
  protected readonly clock: Clock;
  protected readonly metrics: WorkQueueMetrics;
  protected readonly keyOf: (item: T) => unknown;
  readonly #order: WorkOrder;
  /** To be handed out, now or when it is done; the newest item of each key. */
  readonly #dirty: Map<unknown, { item: T; addedMs: number }> = new Map();
  /** Handed out and not done, with the time since when. */
  readonly #processing: Map<unknown, number> = new Map();
  readonly #getters: Set<() => void> = new Set();
  readonly #drainers: Set<() => void> = new Set();
  #state: State = 'open';

  constructor(options: WorkQueueOptions<T> = {}) {
    this.name = options.name ?? '';
    this.clock = options.clock ?? realClock;
    this.metrics = options.metrics ?? {};
    this.keyOf = options.keyOf ?? ((item) => item);
    this.#order = options.order ?? new FirstInFirstOut();
  }

  /** Items that wait; those being worked on do not count. */
  get length(): number {
    return this.#order.length;
  }

  get isShuttingDown(): boolean {
    return this.#state !== 'open';
  }

  /** How long the items in work have been so, all together. */
  get unfinishedWorkMs(): number {
    let sum = 0;
    for (const sinceMs of this.#processing.values()) sum += this.clock.now() - sinceMs;
    return sum;
  }

  get longestRunningMs(): number {
    let longest = 0;
    for (const sinceMs of this.#processing.values()) longest = Math.max(longest, this.clock.now() - sinceMs);
    return longest;
  }

  /** Ignored after the queue was shut down. */
  add(item: T): void {
    if (this.#state !== 'open') return;
    const key = this.keyOf(item);
    const waiting = this.#dirty.get(key);
    if (waiting) {
      waiting.item = item;
      if (!this.#processing.has(key)) this.#order.touch(key);
      return;
    }
    this.metrics.added?.();
    this.#dirty.set(key, { item, addedMs: this.clock.now() });
    if (!this.#processing.has(key)) this.#push(key);
  }

  /**
   * The next item; call `done` when you are through with it. Undefined when the queue was shut down and is
   * empty. Rejects with the signal's reason when it is aborted.
   */
  async get(signal?: AbortSignal): Promise<T | undefined> {
    for (;;) {
      if (signal?.aborted) this.#giveUp(signal);
      if (this.#order.length > 0) return this.#take();
      if (this.#state !== 'open') return undefined;
      await this.#change(signal);
    }
  }

  /** Work on the item has ended, well or badly. If it was added meanwhile it waits again. */
  done(item: T): void {
    const key = this.keyOf(item);
    const sinceMs = this.#processing.get(key);
    if (sinceMs === undefined) return;
    this.#processing.delete(key);
    this.metrics.worked?.(this.clock.now() - sinceMs);
    if (this.#dirty.has(key)) this.#push(key);
    this.#settleDrains();
  }

  /** No more items are taken in; what waits is still handed out, and then `get` gives undefined. */
  shutDown(): void {
    this.#state = 'closed';
    this.#wakeAll();
    this.#settleDrains();
  }

  /**
   * The same, and resolves when everything that waited has been worked on. A later `shutDown` ends the
   * waiting; so does the signal, with its reason.
   */
  async shutDownWithDrain(signal?: AbortSignal): Promise<void> {
    if (this.#state === 'open') this.#state = 'draining';
    this.#wakeAll();
    if (this.#isDrained()) return;
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const drained = (): void => {
        unlisten();
        resolve();
      };
      const aborted = (): void => {
        this.#drainers.delete(drained);
        reject(signal?.reason as Error);
      };
      this.#drainers.add(drained);
      const unlisten = signal ? onAbort(signal, aborted) : (): void => {};
    });
  }

  /** Item by item; asking for the next one says that the last is done. Ends with the queue. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (let item = await this.get(); item !== undefined; item = await this.get()) {
      try {
        yield item;
      } finally {
        this.done(item);
      }
    }
  }

  #take(): T {
    const key = this.#order.pop();
    const waiting = this.#dirty.get(key) as { item: T; addedMs: number };
    this.#dirty.delete(key);
    const now = this.clock.now();
    this.#processing.set(key, now);
    this.metrics.depth?.(this.#order.length);
    this.metrics.waited?.(now - waiting.addedMs);
    return waiting.item;
  }

  #push(key: unknown): void {
    this.#order.push(key);
    this.metrics.depth?.(this.#order.length);
    this.#wakeOne();
  }

  #wakeOne(): void {
    const [first] = this.#getters;
    first?.();
  }

  /** The item that woke this getter, if one did, is somebody else's. */
  #giveUp(signal: AbortSignal): never {
    if (this.#order.length > 0) this.#wakeOne();
    throw signal.reason;
  }

  #isDrained(): boolean {
    return this.#state === 'closed' || (this.#dirty.size === 0 && this.#processing.size === 0);
  }

  #settleDrains(): void {
    if (!this.#isDrained()) return;
    for (const drained of this.#drainers) drained();
    this.#drainers.clear();
  }

  #wakeAll(): void {
    for (const wake of this.#getters) wake();
  }

  /** Settles at the next change that may concern a getter. */
  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#getters.delete(wake);
        unlisten();
        resolve();
      };
      this.#getters.add(wake);
      const unlisten = signal ? onAbort(signal, wake) : (): void => {};
    });
  }
}
