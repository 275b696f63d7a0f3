/**
 * client-go's RealFIFO, the queue of its informers: every change of every object, in the order in which they
 * came. It merges nothing, and it delivers the deletion of an unknown object too.
 *
 * Better than client-go: a call that throws (no key, the transformer) has changed nothing, in all modes. So a
 * list with one bad object is an error of `replace`, and never an empty cache that reports that it has synced.
 * `unlockWhileProcessing` has no counterpart: producers never wait. A change in processing counts as queued
 * for a list or a resync that arrives meanwhile.
 */
import { metaNamespaceKeyFunc } from '../../kube/keys.ts';
import type { KeyFunction } from '../../kube/store.ts';
import { isTombstone } from '../../kube/tombstone.ts';
import type { DoneChecker } from '../../base/done-checker.ts';
import { ConsumerLine } from './consumer-line.ts';
import { isObjectDelta } from './delta.ts';
import type { Delta, Deltas, MaybeTombstone, ObjectDelta, Transformer } from './delta.ts';
import { Deque } from './deque.ts';
import { InitialSync } from './initial-sync.ts';
import { keyOfObject, keyOfValue } from './key-of.ts';
import { syncsOfKnown, newestByKey, reconcileReplacement } from './known-objects.ts';
import type { KnownObjects } from './known-objects.ts';
import type { PopProcess, QueueWithBatch } from './queue.ts';
import { checkRealFIFOOptions } from './real-fifo-options.ts';
import type { RealFIFOOptions } from './real-fifo-options.ts';

const BATCH_SIZE = 1000;

interface Popped<Item> {
  readonly deltas: Deltas<Item>;
  readonly isInInitialList: boolean;
  /** Number of changes of the first list: processing them must not count down a list that arrives meanwhile. */
  readonly ofFirstList: number;
}

export class RealFIFO<Item> implements QueueWithBatch<Item> {
  readonly transformer: Transformer<Item> | undefined;
  readonly #options: RealFIFOOptions<Item>;
  readonly #keyFunction: KeyFunction<Item>;
  readonly #known: KnownObjects<Item> | undefined;
  readonly #items: Deque<Delta<Item>> = new Deque();
  readonly #sync: InitialSync;
  readonly #consumers: ConsumerLine = new ConsumerLine();
  #inProcess: Deltas<Item> = [];

  /** @throws ERR_KUBELOOM_OPTION for options that exclude each other */
  constructor(options: RealFIFOOptions<Item>) {
    checkRealFIFOOptions(options);
    this.#options = options;
    this.transformer = options.transformer;
    this.#keyFunction = options.keyFunction ?? metaNamespaceKeyFunc;
    this.#known = options.knownObjects;
    this.#sync = new InitialSync(options.name ?? 'RealFIFO');
  }

  get name(): string {
    return this.#sync.name;
  }

  /** Number of queued changes. */
  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    this.#change({ type: 'Added', object: this.#transform(item) });
  }

  update(item: Item): void {
    this.#change({ type: 'Updated', object: this.#transform(item) });
  }

  delete(item: MaybeTombstone<Item>): void {
    this.#change({ type: 'Deleted', object: isTombstone(item) ? item : this.#transform(item) });
  }

  /** Queues one `ReplacedAll` if atomic; otherwise deletions of all missing objects, then the items in order. */
  replace(items: readonly Item[], resourceVersion: string): void {
    const objects = items.map((item) => this.#transform(item));
    if (this.#options.atomicEvents === true) {
      // Check the keys here, so that the reflector gets the error and lists again. client-go finds it during
      // processing.
      for (const object of objects) this.#keyOf(object);
      this.#append([{ type: 'ReplacedAll', resourceVersion, objects }]);
    } else {
      const newest = newestByKey(this.#pending(), this.#keyOf);
      this.#append(reconcileReplacement(newest, this.#known, objects, this.#keyOf));
    }
    this.#sync.replaced(this.#items.length);
  }

  /** Queues one `SyncAll` if atomic; otherwise a `Sync` for every known object without a queued change. */
  resync(): void {
    if (this.#options.atomicEvents === true) return this.#append([{ type: 'SyncAll' }]);
    const newest = newestByKey(this.#pending(), this.#keyOf);
    this.#append(syncsOfKnown(this.#known, (key) => newest.has(key)).map(([, delta]) => delta));
  }

  /** Queues a bookmark with `emitDeltaTypeBookmark`; ignored otherwise. */
  bookmark(resourceVersion: string): void {
    if (this.#options.emitDeltaTypeBookmark === true) this.#append([{ type: 'Bookmark', resourceVersion }]);
  }

  /** Returns the key of an object, a tombstone, or deltas. */
  keyOf(value: MaybeTombstone<Item> | Deltas<Item>): string {
    return keyOfValue(this.#keyFunction, value);
  }

  pop(process: PopProcess<Deltas<Item>>, signal?: AbortSignal): Promise<Deltas<Item>> {
    const take = (): Popped<Item> | undefined => this.#take(1);
    return this.#consumers.consume(take, (popped) => this.#process(popped, process), signal);
  }

  popBatch(
    processBatch: PopProcess<Deltas<Item>>,
    processSingle: PopProcess<Deltas<Item>>,
    signal?: AbortSignal,
  ): Promise<Deltas<Item>> {
    return this.#consumers.consume(
      () => this.#take(this.#batchLength()),
      (popped) => this.#process(popped, popped.deltas.length === 1 ? processSingle : processBatch),
      signal,
    );
  }

  hasSynced(): boolean {
    return this.#sync.isDone;
  }

  get hasSyncedChecker(): DoneChecker {
    return this.#sync;
  }

  get isClosed(): boolean {
    return this.#consumers.isClosed;
  }

  close(): void {
    this.#consumers.close();
  }

  #change(delta: ObjectDelta<Item>): void {
    this.#keyOf(delta.object);
    this.#sync.changed();
    this.#append([delta]);
  }

  #append(deltas: Deltas<Item>): void {
    for (const delta of deltas) this.#items.push(delta);
    this.#options.onDepth?.(this.#items.length);
    this.#consumers.changed();
  }

  #take(count: number): Popped<Item> | undefined {
    if (this.#items.length === 0) return undefined;
    this.#inProcess = this.#items.take(count);
    this.#options.onDepth?.(this.#items.length);
    return {
      deltas: this.#inProcess,
      isInInitialList: !this.#sync.isDone,
      ofFirstList: Math.min(count, this.#sync.left),
    };
  }

  async #process(
    { deltas, isInInitialList, ofFirstList }: Popped<Item>,
    process: PopProcess<Deltas<Item>>,
  ): Promise<Deltas<Item>> {
    const startMs = performance.now();
    try {
      await process(deltas, isInInitialList);
    } finally {
      this.#inProcess = [];
      this.#sync.processed(ofFirstList);
      this.#options.onProcessed?.(deltas.length, performance.now() - startMs);
    }
    return deltas;
  }

  /**
   * Returns the length of the next batch. A batch ends before a second change of one key, before a change of the whole
   * collection (which comes alone), and with the first list. A change whose key fails ends the batch that contains it.
   */
  #batchLength(): number {
    const keys = new Set<string>();
    let lengthMax = Math.min(this.#items.length, this.#options.batchSize ?? BATCH_SIZE);
    if (this.#sync.left > 0) lengthMax = Math.min(lengthMax, this.#sync.left);
    for (let length = 0; length < lengthMax; length++) {
      const delta = this.#items.at(length)!;
      if (!isObjectDelta(delta)) return Math.max(1, length);
      try {
        const key = this.#keyOf(delta.object);
        if (keys.has(key)) return length;
        keys.add(key);
      } catch {
        return length + 1;
      }
    }
    return lengthMax;
  }

  #pending(): Deltas<Item> {
    return [...this.#inProcess, ...this.#items.toArray()];
  }

  #transform(item: Item): Item {
    return this.transformer === undefined ? item : this.transformer(item);
  }

  readonly #keyOf = (object: MaybeTombstone<Item>): string => keyOfObject(this.#keyFunction, object);
}
