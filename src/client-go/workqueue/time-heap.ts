/** Items by due time, each once, the earliest first: a binary heap that finds an item's place by key. */
import { assert } from '../../base/errors.ts';

interface Due<T> {
  readonly key: unknown;
  item: T;
  atMs: number;
  /** Items with equal times come out in the order in which they came in. */
  readonly order: number;
  place: number;
}

export class TimeHeap<T> {
  readonly #heap: Due<T>[] = [];
  readonly #byKey: Map<unknown, Due<T>> = new Map();
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Due time of the next item; Infinity when there is none. */
  get nextMs(): number {
    return this.#heap[0]?.atMs ?? Infinity;
  }

  /** Adds an item. For a key that is there, the earlier time and the newer item count. */
  add(key: unknown, item: T, atMs: number): void {
    const known = this.#byKey.get(key);
    if (known) {
      known.item = item;
      if (atMs >= known.atMs) return;
      known.atMs = atMs;
      this.#up(known);
      return;
    }
    const due: Due<T> = { key, item, atMs, order: this.#order++, place: this.#heap.length };
    this.#byKey.set(key, due);
    this.#heap.push(due);
    this.#up(due);
  }

  /** Removes and returns the item that is due first. */
  pop(): T {
    const [first] = this.#heap;
    assert(first !== undefined, 'pop() of an empty time heap');
    this.#byKey.delete(first.key);
    const last = this.#heap.pop() as Due<T>;
    if (last !== first) {
      this.#put(last, 0);
      this.#down(last);
    }
    return first.item;
  }

  clear(): void {
    this.#heap.length = 0;
    this.#byKey.clear();
  }

  #up(due: Due<T>): void {
    while (due.place > 0) {
      const parentPlace = (due.place - 1) >> 1;
      const parent = this.#heap[parentPlace] as Due<T>;
      if (!isBefore(due, parent)) return;
      this.#put(parent, due.place);
      this.#put(due, parentPlace);
    }
  }

  #down(due: Due<T>): void {
    for (;;) {
      const left = this.#heap[2 * due.place + 1];
      const right = this.#heap[2 * due.place + 2];
      const child = right && left && isBefore(right, left) ? right : left;
      if (!child || !isBefore(child, due)) return;
      const { place } = child;
      this.#put(child, due.place);
      this.#put(due, place);
    }
  }

  #put(due: Due<T>, place: number): void {
    this.#heap[place] = due;
    due.place = place;
  }
}

function isBefore<T>(a: Due<T>, b: Due<T>): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
