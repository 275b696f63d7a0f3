/** Items by due time, the earliest first, each key once. */
import { assert } from '../base/errors.ts';
import { HeapData } from '../base/heap-data.ts';

interface Due<T> {
  readonly item: T;
  readonly atMs: number;
  /** Items with equal times come out in the order in which they came in. */
  readonly order: number;
}

export class TimeHeap<T> {
  readonly #heap: HeapData<Due<T>, unknown> = new HeapData(
    (a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order),
  );
  #order = 0;

  get size(): number {
    return this.#heap.size;
  }

  *keys(): IterableIterator<unknown> {
    for (const { key } of this.#heap.nodes()) yield key;
  }

  /** Due time of the next item; Infinity when there is none. */
  get nextMs(): number {
    return this.#heap.first?.item.atMs ?? Infinity;
  }

  /** Adds an item. For a key that is there, the earlier time and the newer item count. */
  add(key: unknown, item: T, atMs: number): void {
    const known = this.#heap.get(key);
    if (known) this.#heap.set(key, { item, atMs: Math.min(atMs, known.atMs), order: known.order });
    else this.#heap.set(key, { item, atMs, order: this.#order++ });
  }

  /** Removes and returns the item that is due first, with the key. */
  pop(): { readonly key: unknown; readonly item: T } {
    const { first } = this.#heap;
    assert(first !== undefined, 'pop() of an empty time heap');
    this.#heap.delete(first.key);
    return { key: first.key, item: first.item.item };
  }

  clear(): void {
    this.#heap.clear();
  }
}
