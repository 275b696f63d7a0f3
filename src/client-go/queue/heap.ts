/**
 * client-go's Heap: items by key, popped by priority. Adding an existing key replaces the item and updates the order.
 * Two items of equal priority come out in any order.
 */
import type { SignalOptions } from '../../base/signal-options.ts';
import type { KeyFunction } from '../../kube/store.ts';
import { KubeloomError } from '../../base/errors.ts';
import { ConsumerLine } from './consumer-line.ts';
import { HeapData, type LessFunction } from '../../base/heap-data.ts';
import { keyOfObject } from './delta.ts';

/** Items by key, popped by priority. */
export class Heap<Item> {
  readonly #keyFunction: KeyFunction<Item>;
  readonly #data: HeapData<Item>;
  readonly #consumers: ConsumerLine = new ConsumerLine('heap');

  constructor(keyFunction: KeyFunction<Item>, less: LessFunction<Item>) {
    this.#keyFunction = keyFunction;
    this.#data = new HeapData(less);
  }

  /** Number of items. */
  get size(): number {
    return this.#data.size;
  }

  /** Adds the item, or replaces the item of the key. @throws ERR_KUBELOOM_QUEUE_CLOSED */
  add(item: Item): void {
    this.bulkAdd([item]);
  }

  /** Adds all items, or none, before any of them is popped. @throws ERR_KUBELOOM_QUEUE_CLOSED */
  bulkAdd(items: readonly Item[]): void {
    this.#checkOpen();
    const keyed = items.map((item) => ({ key: this.#keyOf(item), item }));
    for (const { key, item } of keyed) this.#data.set(key, item);
    this.#consumers.changed();
  }

  /** Adds the item unless the heap contains the key. @throws ERR_KUBELOOM_QUEUE_CLOSED */
  addIfNotPresent(item: Item): void {
    this.#checkOpen();
    if (this.get(item) === undefined) this.add(item);
  }

  /** Adds or replaces the item, as `add` does. @throws ERR_KUBELOOM_QUEUE_CLOSED */
  update(item: Item): void {
    this.add(item);
  }

  /** Removes the item with the key of this item. @throws ERR_KUBELOOM_NOT_FOUND */
  delete(item: Item): void {
    const key = this.#keyOf(item);
    if (this.#data.delete(key)) return;
    throw new KubeloomError('ERR_KUBELOOM_NOT_FOUND', `the heap has no item with the key ${key}`);
  }

  /**
   * Waits for an item and takes the first by priority.
   *
   * @throws ERR_KUBELOOM_QUEUE_CLOSED when closed and empty, the signal's reason when aborted
   */
  pop(options?: SignalOptions): Promise<Item> {
    return this.#consumers.consume(
      () => {
        const { first } = this.#data;
        if (first !== undefined) this.#data.delete(first.key);
        return first;
      },
      ({ item }) => item,
      options,
    );
  }

  /** Returns the item that `pop` would return now. */
  peek(): Item | undefined {
    return this.#data.first?.item;
  }

  /** Returns the items in the order in which their keys were added. */
  list(): Item[] {
    return Array.from(this.#data.nodes(), ({ item }) => item);
  }

  /** Returns the keys in the order in which they were added. */
  listKeys(): string[] {
    return Array.from(this.#data.nodes(), ({ key }) => key);
  }

  /** Returns the item with the key of this item; undefined if the heap does not contain the key. */
  get(item: Item): Item | undefined {
    return this.#data.get(this.#keyOf(item));
  }

  /** Returns the item of this key; undefined if the heap does not contain the key. */
  getByKey(key: string): Item | undefined {
    return this.#data.get(key);
  }

  /** Whether `close` was called. */
  get isClosed(): boolean {
    return this.#consumers.isClosed;
  }

  /** Rejects every waiting pop. Items in the heap can still be popped; no more can be added. */
  close(): void {
    this.#consumers.close();
  }

  #checkOpen(): void {
    if (!this.isClosed) return;
    throw new KubeloomError('ERR_KUBELOOM_QUEUE_CLOSED', 'the heap is closed: stop adding items');
  }

  #keyOf(item: Item): string {
    return keyOfObject(this.#keyFunction, item);
  }
}
