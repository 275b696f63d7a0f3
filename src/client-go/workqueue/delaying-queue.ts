/** A work queue whose items may be added later: client-go's delaying queue, with one timer for all of them. */
import { WorkQueue } from './work-queue.ts';
import { TimeHeap } from './time-heap.ts';

/** `setTimeout` fires at once beyond 31 bits; a longer delay is checked again then. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class DelayingQueue<T> extends WorkQueue<T> {
  readonly #waiting: TimeHeap<T> = new TimeHeap();
  #armedForMs = Infinity;
  #cancelTimer: () => void = () => undefined;

  /** Number of items whose time has not come. */
  get waiting(): number {
    return this.#waiting.size;
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
    this.#waiting.add(this.keyOf(item), item, this.clock.now() + delayMs);
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
    while (this.#waiting.nextMs <= now) super.add(this.#waiting.pop());
    this.#arm();
  }
}
