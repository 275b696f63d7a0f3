/**
 * client-go's FIFO: the newest object of each key, keys in order of arrival. A deletion removes the object from the
 * queue without reaching the consumer. It suits consumers that need only the latest state.
 */
import type { MaybeTombstone } from './delta.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { FIFO_CHECKS } from './queue-base.ts';
import type { FIFOOptions } from './queue-base.ts';
import type { RequeueingQueue } from './queue.ts';

/** client-go's queue of the latest object of each key. */
export class FIFO<Item> extends KeyedQueue<Item, Item> implements RequeueingQueue<Item, Item> {
  constructor(options: FIFOOptions<Item> = {}) {
    checkOptions('options of a FIFO', options, FIFO_CHECKS as OptionChecks<FIFOOptions<Item>>);
    super('FIFO', options);
  }

  /** Queues the item; an item of a queued key takes the place of the queued item. @throws ERR_KUBELOOM_KEY */
  add(item: Item): void {
    const key = this.keyOfObject(item);
    this.sync.changed();
    this.set(key, item);
  }

  /** Queues the item as `add` does. */
  update(item: Item): void {
    this.add(item);
  }

  /** Queues the item unless the key is queued. @throws ERR_KUBELOOM_KEY */
  addIfNotPresent(item: Item): void {
    const key = this.keyOfObject(item);
    this.sync.changed();
    if (!this.values.has(key)) this.set(key, item);
  }

  /** Removes the item of the key from the queue; an item in processing is not put back. @throws ERR_KUBELOOM_KEY */
  delete(item: MaybeTombstone<Item>): void {
    const key = this.keyOfObject(item);
    this.sync.changed();
    this.remove(key);
  }

  /** Replaces all items. If two items share a key, the last item counts, in the place of the first. */
  replace(items: readonly Item[], _resourceVersion: string): void {
    this.replaceAll(new Map(items.map((item) => [this.keyOfObject(item), item])));
    this.replaced();
  }

  /** No effect: all objects are already queued. */
  resync(): void {}

  /** Returns the queued items in the order in which their keys arrived, without an item in processing. */
  list(): Item[] {
    return [...this.values.values()];
  }

  /** Returns the queued item with the key of this item; undefined if the key is not queued. @throws ERR_KUBELOOM_KEY */
  get(item: Item): Item | undefined {
    return this.getByKey(this.keyOfObject(item));
  }

  /** Returns the queued item of this key; undefined if the key is not queued. */
  getByKey(key: string): Item | undefined {
    return this.values.get(key);
  }

  /** Returns the item that was queued during the processing; without it, the item that is put back. */
  protected override merged(putBack: Item, queued: Item | undefined): Item {
    return queued ?? putBack;
  }
}
