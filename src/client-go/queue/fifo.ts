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

  add(item: Item): void {
    const key = this.keyOfObject(item);
    this.sync.changed();
    this.set(key, item);
  }

  update(item: Item): void {
    this.add(item);
  }

  addIfNotPresent(item: Item): void {
    const key = this.keyOfObject(item);
    this.sync.changed();
    if (!this.values.has(key)) this.set(key, item);
  }

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

  list(): Item[] {
    return [...this.values.values()];
  }

  get(item: Item): Item | undefined {
    return this.getByKey(this.keyOfObject(item));
  }

  getByKey(key: string): Item | undefined {
    return this.values.get(key);
  }

  protected override merged(putBack: Item, queued: Item | undefined): Item {
    return queued ?? putBack;
  }
}
