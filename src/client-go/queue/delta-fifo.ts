/**
 * client-go's DeltaFIFO: for each key all changes since it was last popped, keys in the order in which they
 * came. A consumer receives every change of an object; changes of different objects come in no particular order.
 * A key never overtakes another one.
 *
 * A call that throws (no key, the transformer) has changed nothing. An item in processing counts as
 * queued, so that a list that arrives meanwhile includes it in its comparison.
 */
import { metaNamespaceKeyFunc } from '../../kube/keys.ts';
import type { KeyFunction } from '../../kube/store.ts';
import { isTombstone, tombstone } from '../../kube/tombstone.ts';
import type { DoneChecker } from '../../base/done-checker.ts';
import { KubeloomError } from '../../base/errors.ts';
import { lastKnownObject, newestDelta } from './delta.ts';
import type { Deltas, MaybeTombstone, ObjectDelta, Transformer } from './delta.ts';
import { keyOfObject, keyOfValue } from './key-of.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { deletionsOfMissing, syncsOfKnown } from './known-objects.ts';
import type { KnownObjects } from './known-objects.ts';
import type { PopProcess, RequeueingQueue } from './queue.ts';

export interface DeltaFIFOOptions<Item> {
  /** Default `metaNamespaceKeyFunc`. */
  readonly keyFunction?: KeyFunction<Item>;
  /** The objects that the consumer has. Without it `resync` does nothing, and a list deletes only queued objects. */
  readonly knownObjects?: KnownObjects<Item>;
  /** Queues items of a list as `Replaced`. Default false: as `Sync`, as in old releases. */
  readonly emitDeltaTypeReplaced?: boolean;
  readonly transformer?: Transformer<Item>;
  readonly name?: string;
}

type ObjectDeltas<Item> = readonly ObjectDelta<Item>[];

export class DeltaFIFO<Item> implements RequeueingQueue<Item, ObjectDeltas<Item>> {
  readonly transformer: Transformer<Item> | undefined;
  readonly #keyFunction: KeyFunction<Item>;
  readonly #known: KnownObjects<Item> | undefined;
  readonly #replaceType: 'Replaced' | 'Sync';
  readonly #queue: KeyedQueue<ObjectDelta<Item>[]>;

  constructor(options: DeltaFIFOOptions<Item> = {}) {
    this.transformer = options.transformer;
    this.#keyFunction = options.keyFunction ?? metaNamespaceKeyFunc;
    this.#known = options.knownObjects;
    this.#replaceType = options.emitDeltaTypeReplaced === true ? 'Replaced' : 'Sync';
    this.#queue = new KeyedQueue(options.name ?? 'DeltaFIFO', (putBack, queued = []) =>
      queued.reduce<ObjectDelta<Item>[]>(appendDelta, [...putBack]),
    );
  }

  get name(): string {
    return this.#queue.sync.name;
  }

  /** Number of queued keys. */
  get size(): number {
    return this.#queue.size;
  }

  add(item: Item): void {
    this.#change({ type: 'Added', object: this.#transform(item) });
  }

  update(item: Item): void {
    this.#change({ type: 'Updated', object: this.#transform(item) });
  }

  /** Queues a deletion. Ignored when the object is neither queued nor known. */
  delete(item: MaybeTombstone<Item>): void {
    const key = keyOfObject(this.#keyFunction, item);
    if (!this.#isPending(key) && this.#known?.getByKey(key) === undefined) this.#queue.sync.changed();
    else this.#change({ type: 'Deleted', object: isTombstone(item) ? item : this.#transform(item) });
  }

  /** Queues the items, and then a deletion for every queued or known object that is not among them. */
  replace(items: readonly Item[], _resourceVersion: string): void {
    const keys = new Set<string>();
    const changes = items.map((item): [string, ObjectDelta<Item>] => {
      const object = this.#transform(item);
      const key = keyOfObject(this.#keyFunction, object);
      keys.add(key);
      return [key, { type: this.#replaceType, object }];
    });
    const pending = this.#newestPending();
    for (const [key, { object }] of pending) {
      if (keys.has(key)) continue;
      changes.push([key, { type: 'Deleted', object: tombstone(key, lastKnownObject(object)) }]);
    }
    changes.push(...deletionsOfMissing(this.#known, (key) => keys.has(key) || pending.has(key)));
    for (const [key, delta] of changes) this.#append(key, delta);
    this.#queue.replaced();
  }

  resync(): void {
    for (const [key, delta] of syncsOfKnown(this.#known, (key) => this.#isPending(key))) {
      this.#append(key, delta);
    }
  }

  /** Puts back the deltas of a pop, unless their key is queued again. */
  addIfNotPresent(deltas: ObjectDeltas<Item>): void {
    if (!Array.isArray(deltas)) {
      throw new KubeloomError('ERR_KUBELOOM_DELTAS_EXPECTED', 'addIfNotPresent takes the deltas of a pop.');
    }
    const key = this.keyOf(deltas);
    this.#queue.sync.changed();
    if (!this.#queue.has(key)) this.#queue.set(key, [...deltas]);
  }

  /** Returns the newest object of every queued key. */
  list(): MaybeTombstone<Item>[] {
    return Array.from(this.#queue.entries(), ([, deltas]) => newestDelta(deltas)!.object);
  }

  listKeys(): string[] {
    return Array.from(this.#queue.entries(), ([key]) => key);
  }

  get(item: MaybeTombstone<Item>): ObjectDeltas<Item> | undefined {
    return this.getByKey(this.keyOf(item));
  }

  /** Returns a copy. */
  getByKey(key: string): ObjectDeltas<Item> | undefined {
    return this.#queue.get(key)?.slice();
  }

  /** Returns the key of an object, a tombstone, or deltas. */
  keyOf(value: MaybeTombstone<Item> | Deltas<Item>): string {
    return keyOfValue(this.#keyFunction, value);
  }

  pop(process: PopProcess<ObjectDeltas<Item>>, signal?: AbortSignal): Promise<ObjectDeltas<Item>> {
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

  #change(delta: ObjectDelta<Item>): void {
    const key = keyOfObject(this.#keyFunction, delta.object);
    this.#queue.sync.changed();
    this.#append(key, delta);
  }

  #append(key: string, delta: ObjectDelta<Item>): void {
    this.#queue.set(key, appendDelta(this.#queue.get(key) ?? [], delta));
  }

  #transform(item: Item): Item {
    return this.transformer === undefined ? item : this.transformer(item);
  }

  #isPending(key: string): boolean {
    return this.#queue.has(key) || this.#queue.inProcess?.key === key;
  }

  #newestPending(): Map<string, ObjectDelta<Item>> {
    const pending = new Map<string, ObjectDelta<Item>>();
    const { inProcess } = this.#queue;
    if (inProcess !== undefined) pending.set(inProcess.key, newestDelta(inProcess.value)!);
    for (const [key, deltas] of this.#queue.entries()) pending.set(key, newestDelta(deltas)!);
    return pending;
  }
}

/**
 * Adds one more change to those of its key, and returns the same array. Of two consecutive deletions the one with
 * more information stays: a later deletion replaces a tombstone, but not a final state.
 */
function appendDelta<Item>(deltas: ObjectDelta<Item>[], next: ObjectDelta<Item>): ObjectDelta<Item>[] {
  const newest = deltas.at(-1);
  if (newest?.type !== 'Deleted' || next.type !== 'Deleted') deltas.push(next);
  else if (isTombstone(newest.object)) deltas[deltas.length - 1] = next;
  return deltas;
}
