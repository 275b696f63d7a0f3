/**
 * client-go's RealFIFO, the queue of its informers: every change of every object, in order of arrival. It does not
 * merge changes, and also delivers the deletion of an unknown object.
 *
 * Better than client-go: a call that throws (no key, the transformer) leaves the queue unchanged, in all modes. So a
 * list with a bad object is an error of `replace`, and never an empty cache that reports that it has synced.
 * `unlockWhileProcessing` has no counterpart: producers never wait. A change in processing counts as queued for a list
 * or a resync that arrives during the processing.
 */
import type { SignalOptions } from '../../base/signal-options.ts';
import { KubeloomError } from '../../base/errors.ts';
import { isTombstone } from '../../kube/tombstone.ts';
import { isObjectDelta, keyOfValue } from './delta.ts';
import type { Delta, Deltas, MaybeTombstone, ObjectDelta, Transformer } from './delta.ts';
import { Deque } from '../../base/deque.ts';
import { aKnownObjects, missingObjects, resyncedObjects } from './known-objects.ts';
import type { KnownObjects } from './known-objects.ts';
import { callback, flag, integer, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { FIFO_CHECKS, QueueBase } from './queue-base.ts';
import type { FIFOOptions } from './queue-base.ts';
import type { PopProcess, QueueWithBatch } from './queue.ts';

const BATCH_SIZE = 1000;

interface CommonOptions<Item> extends FIFOOptions<Item> {
  /** Changes every object, except tombstones, before it is queued. Default: none. */
  readonly transformer?: Transformer<Item>;
  /** Largest number of changes in a batch. Default 1000, client-go's. */
  readonly batchSize?: number;
  /** Called with the number of queued changes after every change of it. Must not throw. */
  readonly onDepth?: (depth: number) => void;
  /** Called after every processing, successful or not. Must not throw. */
  readonly onProcessed?: (changes: number, durationMs: number) => void;
}

/** Options of atomic events: a list is a `ReplacedAll`, a resync a `SyncAll`; the consumer compares with the store. */
interface AtomicOptions<Item> extends CommonOptions<Item> {
  readonly atomicEvents: true;
  /** Queues bookmarks. Default false: bookmarks are dropped. */
  readonly emitDeltaTypeBookmark?: boolean;
  readonly knownObjects?: undefined;
}

/**
 * Options of single events: a list is a deletion for each missing object and a `Replaced` for each item, a resync
 * a `Sync` for each object.
 */
interface PlainOptions<Item> extends CommonOptions<Item> {
  readonly atomicEvents?: false;
  readonly emitDeltaTypeBookmark?: false;
  /** The objects that the consumer holds. */
  readonly knownObjects: KnownObjects<Item>;
}

/** Options of a RealFIFO. */
export type RealFIFOOptions<Item> = AtomicOptions<Item> | PlainOptions<Item>;

interface Popped<Item> {
  readonly deltas: Deltas<Item>;
  readonly isInInitialList: boolean;
  /** Number of changes of the first list: the processing of these must not count down a list that arrives later. */
  readonly ofFirstList: number;
}

/** client-go's queue of single changes in their order. */
export class RealFIFO<Item> extends QueueBase<Item> implements QueueWithBatch<Item> {
  /** The option `transformer`. */
  readonly transformer: Transformer<Item> | undefined;
  readonly #options: RealFIFOOptions<Item>;
  readonly #items: Deque<Delta<Item>> = new Deque();
  #inProcess: Deltas<Item> = [];

  /** @throws ERR_KUBELOOM_OPTION for options that exclude each other */
  constructor(options: RealFIFOOptions<Item>) {
    checkRelations(options);
    super('RealFIFO', options);
    this.#options = options;
    this.transformer = options.transformer;
  }

  /** Number of queued changes. */
  get size(): number {
    return this.#items.length;
  }

  /** Queues the transformed item as `Added`. @throws ERR_KUBELOOM_KEY and the error of the transformer */
  add(item: Item): void {
    this.#change({ type: 'Added', object: this.#transform(item) });
  }

  /** Queues the transformed item as `Updated`. @throws ERR_KUBELOOM_KEY and the error of the transformer */
  update(item: Item): void {
    this.#change({ type: 'Updated', object: this.#transform(item) });
  }

  /**
   * Queues the transformed item, or the tombstone unchanged, as `Deleted`.
   *
   * @throws ERR_KUBELOOM_KEY and the error of the transformer
   */
  delete(item: MaybeTombstone<Item>): void {
    this.#change({ type: 'Deleted', object: isTombstone(item) ? item : this.#transform(item) });
  }

  /** Queues a `ReplacedAll` if atomic; otherwise deletions of all missing objects, followed by the items in order. */
  replace(items: readonly Item[], resourceVersion: string): void {
    const objects = items.map((item) => this.#transform(item));
    if (this.#options.atomicEvents === true) {
      // So the reflector receives the error and lists again. client-go finds it during processing.
      for (const object of objects) this.keyOfObject(object);
      this.#append([{ type: 'ReplacedAll', resourceVersion, objects }]);
    } else {
      const listed = new Set(objects.map(this.keyOfObject));
      const missing = missingObjects(this.#newestPending(), this.#options.knownObjects, listed);
      this.#append([
        ...missing.map((object) => ({ type: 'Deleted', object }) as const),
        ...objects.map((object) => ({ type: 'Replaced', object }) as const),
      ]);
    }
    this.sync.replaced(this.#items.length);
  }

  /** Queues a `SyncAll` if atomic; otherwise a `Sync` for every known object without a queued change. */
  resync(): void {
    if (this.#options.atomicEvents === true) return this.#append([{ type: 'SyncAll' }]);
    const newest = this.#newestPending();
    const objects = resyncedObjects(this.#options.knownObjects, (key) => newest.has(key));
    this.#append(objects.map(([, object]) => ({ type: 'Sync', object })));
  }

  /** Queues a bookmark with `emitDeltaTypeBookmark`; ignored otherwise. */
  bookmark(resourceVersion: string): void {
    if (this.#options.emitDeltaTypeBookmark === true) this.#append([{ type: 'Bookmark', resourceVersion }]);
  }

  /** Returns the key of an object, a tombstone, or deltas. */
  keyOf(value: MaybeTombstone<Item> | Deltas<Item>): string {
    return keyOfValue(this.keyFunction, value);
  }

  /**
   * Waits for the next change, processes it and returns it: an array of a single delta.
   *
   * @throws ERR_KUBELOOM_QUEUE_CLOSED when the queue is closed and empty, the signal's reason when aborted, and the
   *   error of `process`
   */
  pop(process: PopProcess<Deltas<Item>>, options?: SignalOptions): Promise<Deltas<Item>> {
    const take = (): Popped<Item> | undefined => this.#take(1);
    return this.consumers.consume(take, (popped) => this.#process(popped, process), options);
  }

  /**
   * Waits for the next change, and takes up to `batchSize` changes of different objects with it. A change of the whole
   * collection is always single, and a single change goes to `processSingle`.
   *
   * @throws ERR_KUBELOOM_QUEUE_CLOSED when the queue is closed and empty, the signal's reason when aborted, and the
   *   error of the called function
   */
  popBatch(
    processBatch: PopProcess<Deltas<Item>>,
    processSingle: PopProcess<Deltas<Item>>,
    options?: SignalOptions,
  ): Promise<Deltas<Item>> {
    return this.consumers.consume(
      () => this.#take(this.#batchLength()),
      (popped) => this.#process(popped, popped.deltas.length === 1 ? processSingle : processBatch),
      options,
    );
  }

  #change(delta: ObjectDelta<Item>): void {
    this.keyOfObject(delta.object);
    this.sync.changed();
    this.#append([delta]);
  }

  #append(deltas: Deltas<Item>): void {
    for (const delta of deltas) this.#items.push(delta);
    this.#options.onDepth?.(this.#items.length);
    this.consumers.changed();
  }

  #take(count: number): Popped<Item> | undefined {
    if (this.#items.length === 0) return undefined;
    this.#inProcess = this.#items.take(count);
    this.#options.onDepth?.(this.#items.length);
    return {
      deltas: this.#inProcess,
      isInInitialList: !this.sync.isDone,
      ofFirstList: Math.min(count, this.sync.left),
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
      this.sync.processed(ofFirstList);
      this.#options.onProcessed?.(deltas.length, performance.now() - startMs);
    }
    return deltas;
  }

  /**
   * Returns the length of the next batch. A batch ends before a second change of a key, before a change of the whole
   * collection (which is a batch by itself), and with the first list. A change whose key fails ends the batch that
   * contains it.
   */
  #batchLength(): number {
    const keys = new Set<string>();
    let lengthMax = Math.min(this.#items.length, this.#options.batchSize ?? BATCH_SIZE);
    if (this.sync.left > 0) lengthMax = Math.min(lengthMax, this.sync.left);
    for (let length = 0; length < lengthMax; length++) {
      const delta = this.#items.at(length)!;
      if (!isObjectDelta(delta)) return Math.max(1, length);
      try {
        const key = this.keyOfObject(delta.object);
        if (keys.has(key)) return length;
        keys.add(key);
      } catch {
        return length + 1;
      }
    }
    return lengthMax;
  }

  /** Returns the newest pending change of every key, keys in order of arrival. */
  #newestPending(): Map<string, ObjectDelta<Item>> {
    const newest = new Map<string, ObjectDelta<Item>>();
    for (const delta of [...this.#inProcess, ...this.#items.toArray()]) {
      if (isObjectDelta(delta)) newest.set(this.keyOfObject(delta.object), delta);
    }
    return newest;
  }

  #transform(item: Item): Item {
    return this.transformer === undefined ? item : this.transformer(item);
  }
}

const CHECKS: OptionChecks<Record<keyof AtomicOptions<unknown>, unknown>> = {
  ...FIFO_CHECKS,
  transformer: callback,
  batchSize: integer(1),
  onDepth: callback,
  onProcessed: callback,
  atomicEvents: flag,
  emitDeltaTypeBookmark: flag,
  knownObjects: aKnownObjects,
};

/** Checks at run time what the type says. */
function checkRelations(options: { readonly [name in keyof AtomicOptions<unknown>]?: unknown }): void {
  checkOptions('options of a RealFIFO', options, CHECKS);
  const { atomicEvents = false, emitDeltaTypeBookmark = false, knownObjects } = options;
  if (atomicEvents && knownObjects !== undefined)
    invalidOption('knownObjects must not be given with atomicEvents: the consumer compares with the store');
  if (!atomicEvents && knownObjects === undefined)
    invalidOption(
      'knownObjects must be given without atomicEvents: the queue compares with them to find deletions',
    );
  if (!atomicEvents && emitDeltaTypeBookmark)
    invalidOption(
      'emitDeltaTypeBookmark needs atomicEvents: without it versions would be delivered out of order',
    );
}

function invalidOption(message: string): never {
  throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
}
