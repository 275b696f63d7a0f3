/** Items by the time at which they are due, each once, with the earliest first: a binary heap with places. */
import { assert } from '../errors.ts';

interface Due<T> {
  readonly key: unknown;
  item: T;
  atMs: number;
  /** Among equal times the first in is the first out. */
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

  /** When the next one is due; Infinity when there is none. */
  get nextMs(): number {
    return this.#heap[0]?.atMs ?? Infinity;
  }

  /** Of two times for the same key the earlier counts; of two items the newer. */
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

  /** The one that is due first. */
  pop(): T {
    const [first] = this.#heap;
    assert(first !== undefined, 'a time heap is not popped when empty');
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
