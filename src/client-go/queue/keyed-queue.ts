/**
 * A queue with a single value for each key, popped in order of arrival of the keys: the common part of FIFO and
 * DeltaFIFO. A queued key keeps its place when the value changes.
 */
import type { SignalOptions } from '../../base/signal-options.ts';
import { QueueBase } from './queue-base.ts';
import { ErrRequeue } from './queue.ts';
import type { PopProcess } from './queue.ts';

interface InProcess<Value> {
  readonly key: string;
  readonly value: Value;
  readonly isInInitialList: boolean;
}

/** @typeParam Value the queue's own, writable form of `Popped` */
export abstract class KeyedQueue<Item, Popped, Value extends Popped = Popped> extends QueueBase<Item> {
  #values: Map<string, Value> = new Map();
  #inProcess: InProcess<Value> | undefined = undefined;
  /** Keys of the first list that are not processed yet. */
  #initialKeys: Set<string> = new Set();
  /** The item in processing was deleted during the processing: it must not be put back. */
  #isInProcessGone = false;

  /** Merges a value that is put back with the value that was queued during the processing. */
  protected abstract merged(putBack: Value, queued: Value | undefined): Value;

  /** Number of queued keys. */
  get size(): number {
    return this.#values.size;
  }

  listKeys(): string[] {
    return [...this.#values.keys()];
  }

  pop(process: PopProcess<Popped>, options?: SignalOptions): Promise<Popped> {
    return this.consumers.consume(
      () => this.#take(),
      (popped) => this.#process(popped, process),
      options,
    );
  }

  // With getters, so that logging a queue does not print the objects, which may be Secrets.
  protected get values(): ReadonlyMap<string, Value> {
    return this.#values;
  }

  protected get inProcess(): { readonly key: string; readonly value: Value } | undefined {
    return this.#inProcess;
  }

  protected set(key: string, value: Value): void {
    this.#values.set(key, value);
    this.consumers.changed();
  }

  protected remove(key: string): void {
    this.#values.delete(key);
    if (this.#inProcess?.key === key) this.#isInProcessGone = true;
    else this.#processed(key);
  }

  protected replaceAll(values: Map<string, Value>): void {
    this.#values = values;
    this.#isInProcessGone = true;
    for (const key of this.#initialKeys) {
      if (!values.has(key) && this.#inProcess?.key !== key) this.#processed(key);
    }
    this.consumers.changed();
  }

  /** Records that the queue now holds a list; `sync` waits for the items of the first list. */
  protected replaced(): void {
    if (this.sync.replaced(this.#values.size)) this.#initialKeys = new Set(this.#values.keys());
  }

  #take(): InProcess<Value> | undefined {
    for (const [key, value] of this.#values) {
      this.#values.delete(key);
      this.#inProcess = { key, value, isInInitialList: !this.sync.isDone };
      this.#isInProcessGone = false;
      return this.#inProcess;
    }
    return undefined;
  }

  async #process(popped: InProcess<Value>, process: PopProcess<Popped>): Promise<Popped> {
    const { key, value, isInInitialList } = popped;
    let isPutBack = false;
    try {
      await process(value, isInInitialList);
    } catch (error) {
      if (!(error instanceof ErrRequeue)) throw error;
      // As if producers had waited for the processing: values that arrived during the processing follow.
      isPutBack = !this.#isInProcessGone;
      if (isPutBack) this.set(key, this.merged(value, this.#values.get(key)));
      if (error.cause !== undefined) throw error.cause;
    } finally {
      this.#inProcess = undefined;
      // A value that is put back still belongs to the first list (client-go counts it as processed).
      if (!isPutBack) this.#processed(key);
    }
    return value;
  }

  #processed(key: string): void {
    if (this.#initialKeys.delete(key)) this.sync.processed(1);
  }
}
