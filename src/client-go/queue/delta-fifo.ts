/**
 * client-go's DeltaFIFO: for each key all changes since the last pop, keys in order of arrival. A consumer receives
 * every change of an object; changes of different objects come in no particular order. A key never overtakes an earlier
 * key.
 *
 * A call that throws (no key, the transformer) leaves the queue unchanged. An item in processing counts as queued, so
 * that a list that arrives during the processing includes it in the comparison.
 */
import { isTombstone } from '../../kube/tombstone.ts';
import { KubeloomError } from '../../base/errors.ts';
import { keyOfValue, newestDelta } from './delta.ts';
import type { Deltas, MaybeTombstone, ObjectDelta, Transformer } from './delta.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { aKnownObjects, missingObjects, resyncedObjects } from './known-objects.ts';
import type { KnownObjects } from './known-objects.ts';
import { callback, flag, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { FIFO_CHECKS } from './queue-base.ts';
import type { FIFOOptions } from './queue-base.ts';
import type { RequeueingQueue } from './queue.ts';

/** Options of a DeltaFIFO. */
export interface DeltaFIFOOptions<Item> extends FIFOOptions<Item> {
  /**
   * The objects that the consumer holds. If it is absent, `resync` has no effect, and a list deletes only queued
   * objects.
   */
  readonly knownObjects?: KnownObjects<Item>;
  /** Queues items of a list as `Replaced`. Default false: as `Sync`, as in old releases. */
  readonly emitDeltaTypeReplaced?: boolean;
  /** Changes every object, except tombstones, before it is queued. Default: none. */
  readonly transformer?: Transformer<Item>;
}

const CHECKS: OptionChecks<DeltaFIFOOptions<unknown>> = {
  ...FIFO_CHECKS,
  knownObjects: aKnownObjects,
  emitDeltaTypeReplaced: flag,
  transformer: callback,
};

type ObjectDeltas<Item> = readonly ObjectDelta<Item>[];

/** client-go's queue of the changes of each key, in the order in which the keys came. */
export class DeltaFIFO<Item>
  extends KeyedQueue<Item, ObjectDeltas<Item>, ObjectDelta<Item>[]>
  implements RequeueingQueue<Item, ObjectDeltas<Item>>
{
  /** The option `transformer`. */
  readonly transformer: Transformer<Item> | undefined;
  readonly #known: KnownObjects<Item> | undefined;
  readonly #replaceType: 'Replaced' | 'Sync';

  constructor(options: DeltaFIFOOptions<Item> = {}) {
    checkOptions('options of a DeltaFIFO', options, CHECKS as OptionChecks<DeltaFIFOOptions<Item>>);
    super('DeltaFIFO', options);
    this.transformer = options.transformer;
    this.#known = options.knownObjects;
    this.#replaceType = options.emitDeltaTypeReplaced === true ? 'Replaced' : 'Sync';
  }

  /** Queues the transformed item as `Added`. @throws ERR_KUBELOOM_KEY and the error of the transformer */
  add(item: Item): void {
    this.#change({ type: 'Added', object: this.#transform(item) });
  }

  /** Queues the transformed item as `Updated`. @throws ERR_KUBELOOM_KEY and the error of the transformer */
  update(item: Item): void {
    this.#change({ type: 'Updated', object: this.#transform(item) });
  }

  /** Queues a deletion. Ignored when the object is neither queued nor known. */
  delete(item: MaybeTombstone<Item>): void {
    const key = this.keyOfObject(item);
    if (!this.#isPending(key) && this.#known?.getByKey(key) === undefined) this.sync.changed();
    else this.#change({ type: 'Deleted', object: isTombstone(item) ? item : this.#transform(item) });
  }

  /** Queues the items, followed by a deletion for every queued or known object that is not among them. */
  replace(items: readonly Item[], _resourceVersion: string): void {
    const listed = items.map((item): [string, Item] => {
      const object = this.#transform(item);
      return [this.keyOfObject(object), object];
    });
    const missing = missingObjects(this.#newestPending(), this.#known, new Set(listed.map(([key]) => key)));
    for (const [key, object] of listed) this.#append(key, { type: this.#replaceType, object });
    for (const object of missing) this.#append(object.key, { type: 'Deleted', object });
    this.replaced();
  }

  /** Queues a `Sync` for every known object whose key is neither queued nor in processing. */
  resync(): void {
    for (const [key, object] of resyncedObjects(this.#known, (key) => this.#isPending(key))) {
      this.#append(key, { type: 'Sync', object });
    }
  }

  /** Puts back the deltas of a pop, unless their key is queued again. */
  addIfNotPresent(deltas: ObjectDeltas<Item>): void {
    if (!Array.isArray(deltas)) {
      throw new KubeloomError('ERR_KUBELOOM_OPTION', 'addIfNotPresent takes deltas: pass what pop() gave');
    }
    const key = this.keyOf(deltas);
    this.sync.changed();
    if (!this.values.has(key)) this.set(key, [...deltas]);
  }

  /** Returns the newest object of every queued key. */
  list(): MaybeTombstone<Item>[] {
    return Array.from(this.values.values(), (deltas) => newestDelta(deltas)!.object);
  }

  /**
   * Returns a copy of the queued deltas of the object's key; undefined if the key is not queued.
   *
   * @throws ERR_KUBELOOM_KEY
   */
  get(item: MaybeTombstone<Item>): ObjectDeltas<Item> | undefined {
    return this.getByKey(this.keyOf(item));
  }

  /** Returns a copy. */
  getByKey(key: string): ObjectDeltas<Item> | undefined {
    return this.values.get(key)?.slice();
  }

  /** Returns the key of an object, a tombstone, or deltas. */
  keyOf(value: MaybeTombstone<Item> | Deltas<Item>): string {
    return keyOfValue(this.keyFunction, value);
  }

  /** Returns the deltas that are put back, followed by the deltas that were queued during the processing. */
  protected override merged(
    putBack: ObjectDelta<Item>[],
    queued: ObjectDelta<Item>[] = [],
  ): ObjectDelta<Item>[] {
    return queued.reduce(appendDelta<Item>, [...putBack]);
  }

  #change(delta: ObjectDelta<Item>): void {
    const key = this.keyOfObject(delta.object);
    this.sync.changed();
    this.#append(key, delta);
  }

  #append(key: string, delta: ObjectDelta<Item>): void {
    this.set(key, appendDelta(this.values.get(key) ?? [], delta));
  }

  #transform(item: Item): Item {
    return this.transformer === undefined ? item : this.transformer(item);
  }

  #isPending(key: string): boolean {
    return this.values.has(key) || this.inProcess?.key === key;
  }

  #newestPending(): Map<string, ObjectDelta<Item>> {
    const pending = new Map<string, ObjectDelta<Item>>();
    const { inProcess } = this;
    if (inProcess !== undefined) pending.set(inProcess.key, newestDelta(inProcess.value)!);
    for (const [key, deltas] of this.values) pending.set(key, newestDelta(deltas)!);
    return pending;
  }
}

/**
 * Appends a change to the changes of a key, and returns the same array. Of two consecutive deletions it keeps the
 * deletion with more information: a later deletion replaces a tombstone, but not a final state.
 */
function appendDelta<Item>(deltas: ObjectDelta<Item>[], next: ObjectDelta<Item>): ObjectDelta<Item>[] {
  const newest = deltas.at(-1);
  if (newest?.type !== 'Deleted' || next.type !== 'Deleted') deltas.push(next);
  else if (isTombstone(newest.object)) deltas[deltas.length - 1] = next;
  return deltas;
}
