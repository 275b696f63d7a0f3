/**
 * An unbounded queue of pairs in two growing arrays: what a listener has not been told yet. It doubles when
 * full and shrinks when a burst is over. The listener's loop is its only reader, the merge its only writer.
 */

const CAPACITY_MIN = 64;
/** Kept once it was needed: one batch of the merge must not make the ring grow and shrink every time. */
const CAPACITY_KEPT = 1024;

export class GrowingRing<First, Second> {
  #firsts: (First | undefined)[] = Array.from({ length: CAPACITY_MIN });
  #seconds: (Second | undefined)[] = Array.from({ length: CAPACITY_MIN });
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(first: First | undefined, second: Second | undefined): void {
    if (this.#length === this.#firsts.length) this.#resize(this.#length * 2);
    const at = (this.#head + this.#length) & (this.#firsts.length - 1);
    this.#firsts[at] = first;
    this.#seconds[at] = second;
    this.#length++;
  }

  get first(): First | undefined {
    return this.#firsts[this.#head];
  }

  get second(): Second | undefined {
    return this.#seconds[this.#head];
  }

  shift(): void {
    this.#firsts[this.#head] = undefined;
    this.#seconds[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#firsts.length - 1);
    this.#length--;
    const capacity = this.#firsts.length;
    if (capacity > CAPACITY_KEPT && this.#length < capacity / 8) this.#resize(capacity / 2);
  }

  get capacity(): number {
    return this.#firsts.length;
  }

  #resize(capacity: number): void {
    const mask = this.#firsts.length - 1;
    const firsts: (First | undefined)[] = Array.from({ length: capacity });
    const seconds: (Second | undefined)[] = Array.from({ length: capacity });
    for (let index = 0; index < this.#length; index++) {
      firsts[index] = this.#firsts[(this.#head + index) & mask];
      seconds[index] = this.#seconds[(this.#head + index) & mask];
    }
    this.#firsts = firsts;
    this.#seconds = seconds;
    this.#head = 0;
  }
}
