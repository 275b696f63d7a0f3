/** An array that is cheap to take from at its head: `shift` of a large array moves all of it. */

/** Below, the emptied head is not worth moving the rest. */
const HEAD_MIN = 1024;

export class Deque<T> {
  #slots: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#slots.length - this.#head;
  }

  /** Slots in use, emptied ones at the head included. */
  get capacity(): number {
    return this.#slots.length;
  }

  push(value: T): void {
    this.#slots.push(value);
  }

  /** Undefined beyond the end. */
  at(index: number): T | undefined {
    return this.#slots[this.#head + index];
  }

  /** Takes the first `count`, at most all. */
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
