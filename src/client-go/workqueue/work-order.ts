/**
 * The order in which a work queue returns its waiting items: client-go's hook for custom orderings. It holds
 * keys; the queue ensures that each is in it at most once.
 */

export interface WorkOrder {
  readonly length: number;
  push(key: unknown): void;
  /** Removes and returns the next key. */
  pop(): unknown;
  /** Called when a waiting key is added again. */
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
    // A key keeps its first place.
  }
}
