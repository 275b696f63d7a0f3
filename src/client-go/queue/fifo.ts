/**
 * client-go's FIFO: the newest object of each key, in the order in which the keys came. A deletion removes the object
 * from the queue; the consumer receives nothing for it. It suits consumers that need only the latest state.
 */
import { metaNamespaceKeyFunc } from '../../kube/keys.ts';
import type { KeyFunction } from '../../kube/store.ts';
import type { DoneChecker } from '../../base/done-checker.ts';
import type { MaybeTombstone } from './delta.ts';
import { keyOfObject } from './key-of.ts';
import { KeyedQueue } from './keyed-queue.ts';
import type { PopProcess, RequeueingQueue } from './queue.ts';

export interface FIFOOptions<Item> {
  /** Default `metaNamespaceKeyFunc`. */
  readonly keyFunction?: KeyFunction<Item>;
  readonly name?: string;
}

export class FIFO<Item> implements RequeueingQueue<Item, Item> {
  readonly #keyFunction: KeyFunction<Item>;
  readonly #queue: KeyedQueue<Item>;

  constructor(options: FIFOOptions<Item> = {}) {
    this.#keyFunction = options.keyFunction ?? metaNamespaceKeyFunc;
    this.#queue = new KeyedQueue(options.name ?? 'FIFO', (putBack, queued) => queued ?? putBack);
  }

  get name(): string {
    return this.#queue.sync.name;
  }

  get size(): number {
    return this.#queue.size;
  }

  add(item: Item): void {
    const key = this.#keyOf(item);
    this.#queue.sync.changed();
    this.#queue.set(key, item);
  }

  update(item: Item): void {
    this.add(item);
  }

  addIfNotPresent(item: Item): void {
    const key = this.#keyOf(item);
    this.#queue.sync.changed();
    if (!this.#queue.has(key)) this.#queue.set(key, item);
  }

  delete(item: MaybeTombstone<Item>): void {
    const key = this.#keyOf(item);
    this.#queue.sync.changed();
    this.#queue.delete(key);
  }

  /** Replaces all items. Of two items with one key the last one counts, in the place of the first. */
  replace(items: readonly Item[], _resourceVersion: string): void {
    this.#queue.replaceAll(new Map(items.map((item) => [this.#keyOf(item), item])));
    this.#queue.replaced();
  }

  /** Does nothing: all objects are queued already. */
  resync(): void {}

  list(): Item[] {
    return Array.from(this.#queue.entries(), ([, item]) => item);
  }

  listKeys(): string[] {
    return Array.from(this.#queue.entries(), ([key]) => key);
  }

  get(item: Item): Item | undefined {
    return this.#queue.get(this.#keyOf(item));
  }

  getByKey(key: string): Item | undefined {
    return this.#queue.get(key);
  }

  pop(process: PopProcess<Item>, signal?: AbortSignal): Promise<Item> {
    return this.#queue.pop(process, signal);
  }

  hasSynced(): boolean {
    return this.#queue.sync.isDone;
  }

  get hasSyncedChecker(): DoneChecker {
    return this.#queue.sync;
  }

  get isClosed(): boolean {
    return this.#queue.consumers.isClosed;
  }

  close(): void {
    this.#queue.consumers.close();
  }

  #keyOf(item: MaybeTombstone<Item>): string {
    return keyOfObject(this.#keyFunction, item);
  }
}
