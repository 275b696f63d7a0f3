/**
 * In which order a work queue hands out what waits in it: client-go's hook for custom orderings. It holds
 * keys, each at most once; the queue sees to that.
 */

export interface WorkOrder {
  readonly length: number;
  push(key: unknown): void;
  /** The next one, out of the order. */
  pop(): unknown;
  /** A key that waits was added again. */
  touch(key: unknown): void;
}

/** First in, first out. A Set keeps the order of insertion. */
export class FirstInFirstOut implements WorkOrder {
  readonly #keys: Set<unknown> = new Set();

  get length(): number {
    return this.#keys.size;
  }

  push(key: unknown): void {
    this.#keys.add(key);
  }

  pop(): unknown {
    const [key] = this.#keys;
    this.#keys.delete(key);
    return key;
  }

  touch(): void {
    // Its place is the one that it got first.
  }
}
