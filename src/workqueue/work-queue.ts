/**
 * A queue of work: client-go's workqueue. A waiting item is in it once, however often it is added. An item in
 * work is not returned again until `done`, and only if it was added in the meantime. So two workers never hold the
 * same item, and no addition is lost.
 *
 * Items are usually keys (`namespace/name`). Objects are compared by identity, or by `keyOf`.
 */
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { callGuarded } from '../base/callbacks.ts';
import { LoopTurns } from '../base/loop-turns.ts';
import { Deque } from '../base/deque.ts';
import { onAbort } from '../base/on-abort.ts';
import { callback, clock, having, invalidOption, nested, text, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { signalOf } from '../base/signal-options.ts';
import type { SignalOptions } from '../base/signal-options.ts';
import { queueAddChannel, queueDoneChannel, queueGetChannel } from '../metrics/trace-channels.ts';
import { QueueMetrics } from './queue-metrics.ts';
import type { WorkQueueMetrics } from './queue-metrics.ts';

/** Options of a work queue. */
export interface WorkQueueOptions<T> {
  /**
   * Name in the metrics of the process (`workqueue_…`, see `collectMetrics`), which a named queue has until it is shut
   * down. Default: none, and no such metrics.
   */
  readonly name?: string;
  /** Identity of an item. Default: the item itself. */
  readonly keyOf?: (item: T) => unknown;
  /** Default: first in, first out. */
  readonly order?: WorkOrder;
  /** Receives the figures as they change. An error that a function throws becomes a process warning. */
  readonly metrics?: WorkQueueMetrics;
  /** Clock of delays and durations. Default: the real clock. */
  readonly clock?: Clock;
}

/**
 * The order in which a work queue returns waiting items: client-go's hook for custom orderings. It holds
 * keys; the queue ensures that each is in it at most once.
 */
export interface WorkOrder {
  /** Number of keys in the order. */
  readonly length: number;
  /** Adds a key that is not in the order. */
  push(key: unknown): void;
  /** Removes and returns the next key. */
  pop(): unknown;
  /** Called when a waiting key is added again. */
  touch(key: unknown): void;
}

export const WORK_QUEUE_CHECKS: OptionChecks<WorkQueueOptions<unknown>> = {
  name: text,
  keyOf: callback,
  order: having('an order with push(), pop() and touch()', 'push', 'pop', 'touch'),
  metrics: nested<WorkQueueMetrics>({
    added: callback,
    depth: callback,
    waited: callback,
    worked: callback,
    retried: callback,
  }),
  clock,
};

type State = 'open' | 'draining' | 'closed';

/** A key in the queue: waiting, then in work. */
interface Work<T> {
  item: T;
  readonly addedMs: number;
  /** Time at which `get` returned it; 0 while it waits. */
  startedMs: number;
}

/** Refuses undefined: a worker would take the item for the end of the queue. @throws ERR_KUBELOOM_OPTION */
export function checkItem(item: unknown): void {
  if (item === undefined) invalidOption('item', item, 'a value');
}

/** A queue of keys: a key that waits is queued once, and a key in work is not returned again until `done`. */
export class WorkQueue<T> implements AsyncIterable<T> {
  /** The option `name`; '' without a name. */
  readonly name: string;
  /** The option `clock`, or the real clock. */
  protected readonly clock: Clock;
  /** Receives the figures of the queue, and passes them on to the option `metrics`. */
  protected readonly metrics: WorkQueueMetrics;
  /** The option `keyOf`, or a function that returns the item. */
  readonly keyOf: (item: T) => unknown;
  readonly #ownMetrics: QueueMetrics | undefined;
  readonly #order: WorkOrder;
  readonly #turns: LoopTurns;
  /** Items to return, now or after `done`; the newest item of each key. */
  readonly #dirty: Map<unknown, Work<T>> = new Map();
  readonly #processing: Map<unknown, Work<T>> = new Map();
  readonly #getters: Set<() => void> = new Set();
  readonly #drainers: Set<() => void> = new Set();
  #state: State = 'open';

  /** @throws ERR_KUBELOOM_OPTION for an unknown option, or a wrong value */
  constructor(options?: WorkQueueOptions<T>);
  /** @internal */
  constructor(options?: WorkQueueOptions<T>, checks?: OptionChecks<Record<string, unknown>>);
  constructor(
    options: WorkQueueOptions<T> = {},
    checks: OptionChecks<Record<string, unknown>> = WORK_QUEUE_CHECKS,
  ) {
    checkOptions('options of a work queue', options, checks);
    this.name = options.name ?? '';
    this.clock = options.clock ?? realClock;
    this.keyOf = options.keyOf ?? ((item) => item);
    this.#order = options.order ?? new FirstInFirstOut();
    const metrics = options.metrics ? guarded(options.metrics) : {};
    this.#ownMetrics = this.name === '' ? undefined : new QueueMetrics(this, metrics);
    this.metrics = this.#ownMetrics ?? metrics;
    this.#turns = new LoopTurns(this.clock);
  }

  /** Number of waiting items, without those in work. */
  get length(): number {
    return this.#order.length;
  }

  /** Number of items between `get` and `done`. */
  get inWork(): number {
    return this.#processing.size;
  }

  /** Number of failed items that wait for their next attempt: none without a rate limiter. */
  get retrying(): number {
    return 0;
  }

  /** True after `shutDown` or `shutDownWithDrain`, also when all work is done. */
  get isShuttingDown(): boolean {
    return this.#state !== 'open';
  }

  /** Sum of the times for which the items in work have been in work. */
  get unfinishedWorkMs(): number {
    let sum = 0;
    for (const { startedMs } of this.#processing.values()) sum += this.clock.now() - startedMs;
    return sum;
  }

  /** Time since `get` returned the item that is in work for longest; 0 without items in work. */
  get longestRunningMs(): number {
    let longest = 0;
    for (const { startedMs } of this.#processing.values())
      longest = Math.max(longest, this.clock.now() - startedMs);
    return longest;
  }

  /**
   * Ignored after the queue was shut down.
   *
   * @throws ERR_KUBELOOM_OPTION for undefined, by which `get` reports the end of the queue
   */
  add(item: T): void {
    checkItem(item);
    if (this.#state !== 'open') return;
    if (queueAddChannel.hasSubscribers) queueAddChannel.publish({ queue: this, key: this.keyOf(item) });
    this.enqueue(this.keyOf(item), item);
  }

  /** Adds an item whose addition was published before, such as an item whose delay passed. */
  protected enqueue(key: unknown, item: T): void {
    const waiting = this.#dirty.get(key);
    if (waiting) {
      waiting.item = item;
      if (!this.#processing.has(key)) this.#order.touch(key);
      return;
    }
    this.metrics.added?.();
    this.#dirty.set(key, { item, addedMs: this.clock.now(), startedMs: 0 });
    if (!this.#processing.has(key)) this.#push(key);
  }

  /**
   * Returns the next item; call `done` after the work. Returns undefined when the queue is shut down and empty. A loop that
   * always finds an item lets the event loop have its turns here.
   * Rejects with the signal's reason when it is aborted.
   */
  async get(options?: SignalOptions): Promise<T | undefined> {
    const signal = signalOf('get()', options);
    const item = this.poll(signal) ?? (await this.next(signal));
    if (item === undefined) signal?.throwIfAborted();
    return item;
  }

  /** @internal Returns the next item, as `get`; undefined also after an abort. */
  async next(signal: AbortSignal | undefined): Promise<T | undefined> {
    for (;;) {
      const item = this.poll(signal);
      if (item !== undefined) return item;
      if (signal?.aborted) break;
      if (this.#order.length > 0) await this.#turns.next();
      else if (this.#state !== 'open') break;
      else {
        await this.#change(signal);
        this.#turns.waited();
      }
    }
    // An item may have woken this getter: it is for another getter.
    if (this.#order.length > 0) this.#wakeOne();
    return undefined;
  }

  /** @internal Returns the next item; undefined if `next` must wait. */
  poll(signal: AbortSignal | undefined): T | undefined {
    return this.#order.length > 0 && !signal?.aborted && !this.#turns.next() ? this.#take() : undefined;
  }

  /** Ends the work on the item, successful or not. If the item was added meanwhile it waits again. */
  done(item: T): void {
    const key = this.keyOf(item);
    const work = this.#processing.get(key);
    if (!work) return;
    this.#processing.delete(key);
    if (queueDoneChannel.hasSubscribers) queueDoneChannel.publish({ queue: this, key });
    const nowMs = this.clock.now();
    this.metrics.worked?.(nowMs - work.startedMs);
    this.#ownMetrics?.done(nowMs - work.addedMs);
    if (this.#dirty.has(key)) this.#push(key);
    this.#settleDrains();
  }

  /** Stops taking items in. Waiting items are still returned; after them `get` returns undefined. */
  shutDown(): void {
    this.#state = 'closed';
    this.#wakeAll();
    this.#settleDrains();
  }

  /**
   * Shuts down, and resolves when all waiting items have been worked on. A later `shutDown` ends the waiting; the
   * signal also does, with the signal's reason.
   */
  async shutDownWithDrain(options?: SignalOptions): Promise<void> {
    const signal = signalOf('shutDownWithDrain()', options);
    if (this.#state === 'open') this.#state = 'draining';
    this.#wakeAll();
    this.#settleDrains();
    if (this.#isDrained()) return;
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

  /** Yields the items; asking for the next item calls `done` for the last. Ends with the queue. */
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
    const work = this.#dirty.get(key) as Work<T>;
    this.#dirty.delete(key);
    if (queueGetChannel.hasSubscribers) queueGetChannel.publish({ queue: this, key });
    work.startedMs = this.clock.now();
    this.#processing.set(key, work);
    this.metrics.depth?.(this.#order.length);
    this.metrics.waited?.(work.startedMs - work.addedMs);
    return work.item;
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

  #isDrained(): boolean {
    return this.#state === 'closed' || (this.#dirty.size === 0 && this.#processing.size === 0);
  }

  #settleDrains(): void {
    if (this.#state === 'open' || !this.#isDrained()) return;
    this.#ownMetrics?.ended();
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

/** Metrics of the program must not keep an item from a worker. */
function guarded(metrics: WorkQueueMetrics): WorkQueueMetrics {
  return {
    added: () => callGuarded('metrics.added', () => metrics.added?.()),
    depth: (items) => callGuarded('metrics.depth', () => metrics.depth?.(items)),
    waited: (durationMs) => callGuarded('metrics.waited', () => metrics.waited?.(durationMs)),
    worked: (durationMs) => callGuarded('metrics.worked', () => metrics.worked?.(durationMs)),
    retried: () => callGuarded('metrics.retried', () => metrics.retried?.()),
  };
}

/** First in, first out. The queue itself sees to it that a key waits once. */
class FirstInFirstOut implements WorkOrder {
  readonly #keys: Deque<unknown> = new Deque();

  get length(): number {
    return this.#keys.length;
  }

  push(key: unknown): void {
    this.#keys.push(key);
  }

  pop(): unknown {
    const [key] = this.#keys.take(1);
    return key;
  }

  touch(): void {
    // A key keeps the first place.
  }
}
