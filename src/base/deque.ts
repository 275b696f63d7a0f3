/** A queue in an array. Taking from the head is cheap, while `shift` of a large array moves all elements. */

/** Minimum number of emptied places before the rest is moved. */
const HEAD_MIN = 1024;

export class Deque<T> {
  #places: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#places.length - this.#head;
  }

  /** Number of places in use, including emptied ones at the head. */
  get capacity(): number {
    return this.#places.length;
  }

  push(value: T): void {
    this.#places.push(value);
  }

  /** Returns undefined beyond the end. */
  at(index: number): T | undefined {
    return this.#places[this.#head + index];
  }

  /** Removes and returns the first `count` elements, or all if there are fewer. */
  take(count: number): T[] {
    const end = Math.min(this.#head + count, this.#places.length);
    const taken = this.#places.slice(this.#head, end) as T[];
    this.#places.fill(undefined, this.#head, end);
    this.#head = end;
    if (this.#head === this.#places.length) this.#drop();
    else if (this.#head >= HEAD_MIN && this.#head > this.#places.length / 2) this.#drop();
    return taken;
  }

  toArray(): T[] {
    return this.#places.slice(this.#head) as T[];
  }

  #drop(): void {
    this.#places = this.#places.slice(this.#head);
    this.#head = 0;
  }
}
