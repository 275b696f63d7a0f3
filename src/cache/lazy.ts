/**
 * A value that is computed when it is asked for, and again when something has changed: client-go's
 * synctrack.Lazy, for an `evaluate` that takes its time.
 */

export class Lazy<T> {
  readonly #evaluate: () => T | PromiseLike<T>;
  #current: Promise<T> | undefined;

  constructor(evaluate: () => T | PromiseLike<T>) {
    this.#evaluate = evaluate;
  }

  /** Something has changed: the next `get` evaluates. One that is under way gives its value to who waits for it. */
  notify(): void {
    this.#current = undefined;
  }

  /** All who ask between two changes share one evaluation. What it throws is not kept. */
  async get(): Promise<T> {
    if (this.#current) return this.#current;
    const evaluation = this.#start();
    this.#current = evaluation;
    try {
      return await evaluation;
    } catch (error) {
      // Unless a change has made room for a newer one already.
      if (this.#current === evaluation) this.#current = undefined;
      throw error;
    }
  }

  async #start(): Promise<T> {
    return this.#evaluate();
  }
}
