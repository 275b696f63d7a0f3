/**
 * A queue of one value for each key, popped in the order in which the keys came: the common part of FIFO and
 * DeltaFIFO. A queued key keeps its place when its value changes.
 */
import { ConsumerLine } from './consumer-line.ts';
import { InitialSync } from './initial-sync.ts';
import { ErrRequeue } from './queue.ts';
import type { PopProcess } from './queue.ts';

interface Popped<Value> {
  readonly key: string;
  readonly value: Value;
  readonly isInInitialList: boolean;
}

export class KeyedQueue<Value> {
  readonly sync: InitialSync;
  readonly consumers: ConsumerLine = new ConsumerLine();
  /** Merges a value that is put back with the value that was queued during its processing. */
  readonly #merge: (putBack: Value, queued: Value | undefined) => Value;
  #values: Map<string, Value> = new Map();
  /** Keys of the first list that are not processed yet. */
  #initialKeys: Set<string> = new Set();
  #inProcess: Popped<Value> | undefined = undefined;
  /** The item in processing was deleted meanwhile: it must not be put back. */
  #isInProcessGone = false;

  constructor(name: string, merge: (putBack: Value, queued: Value | undefined) => Value) {
    this.sync = new InitialSync(name);
    this.#merge = merge;
  }

  get size(): number {
    return this.#values.size;
  }

  get inProcess(): { readonly key: string; readonly value: Value } | undefined {
    return this.#inProcess;
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  entries(): IterableIterator<[string, Value]> {
    return this.#values.entries();
  }

  set(key: string, value: Value): void {
    this.#values.set(key, value);
    this.consumers.changed();
  }

  delete(key: string): void {
    this.#values.delete(key);
    if (this.#inProcess?.key === key) this.#isInProcessGone = true;
    else this.#processed(key);
  }

  replaceAll(values: Map<string, Value>): void {
    this.#values = values;
    this.#isInProcessGone = true;
    for (const key of this.#initialKeys) {
      if (!values.has(key) && this.#inProcess?.key !== key) this.#processed(key);
    }
    this.consumers.changed();
  }

  /** Records that the queue now holds a list; `sync` waits for its items when it was the first. */
  replaced(): void {
    if (this.sync.replaced(this.#values.size)) this.#initialKeys = new Set(this.#values.keys());
  }

  pop(process: PopProcess<Value>, signal: AbortSignal | undefined): Promise<Value> {
    return this.consumers.consume(
      () => this.#take(),
      (popped) => this.#process(popped, process),
      signal,
    );
  }

  #take(): Popped<Value> | undefined {
    for (const [key, value] of this.#values) {
      this.#values.delete(key);
      this.#inProcess = { key, value, isInInitialList: !this.sync.isDone };
      this.#isInProcessGone = false;
      return this.#inProcess;
    }
    return undefined;
  }

  async #process(popped: Popped<Value>, process: PopProcess<Value>): Promise<Value> {
    const { key, value, isInInitialList } = popped;
    let isPutBack = false;
    try {
      await process(value, isInInitialList);
    } catch (error) {
      if (!(error instanceof ErrRequeue)) throw error;
      isPutBack = this.#putBack(key, value);
      if (error.cause !== undefined) throw error.cause;
    } finally {
      this.#inProcess = undefined;
      // A value that is put back still belongs to the first list (client-go counts it as processed).
      if (!isPutBack) this.#processed(key);
    }
    return value;
  }

  /** Puts a value back as if producers had waited for the processing: values that came meanwhile follow it. */
  #putBack(key: string, value: Value): boolean {
    if (this.#isInProcessGone) return false;
    this.set(key, this.#merge(value, this.#values.get(key)));
    return true;
  }

  #processed(key: string): void {
    if (this.#initialKeys.delete(key)) this.sync.processed(1);
  }
}
