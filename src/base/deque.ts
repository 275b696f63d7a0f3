/** A queue in an array. Taking from the head is cheap, while `shift` of a large array moves all elements. */

/** Minimum number of emptied slots before the rest is moved. */
const HEAD_MIN = 1024;

export class Deque<T> {
  #slots: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#slots.length - this.#head;
  }

  /** Number of slots in use, including emptied ones at the head. */
  get capacity(): number {
    return this.#slots.length;
  }

  push(value: T): void {
    this.#slots.push(value);
  }

  /** Returns undefined beyond the end. */
  at(index: number): T | undefined {
    return this.#slots[this.#head + index];
  }

  /** Removes and returns the first `count` elements, or all if there are fewer. */
  take(count: number): T[] {
    const end = Math.min(this.#head + count, this.#slots.length);
    const taken = this.#slots.slice(this.#head, end) as T[];
    this.#slots.fill(undefined, this.#head, end);
    this.#head = end;
    if (this.#head === this.#slots.length) this.#drop();
    else if (this.#head >= HEAD_MIN && this.#head > this.#slots.length / 2) this.#drop();
    return taken;
  }

  toArray(): T[] {
    return this.#slots.slice(this.#head) as T[];
  }

  #drop(): void {
    this.#slots = this.#slots.slice(this.#head);
    this.#head = 0;
  }
}
