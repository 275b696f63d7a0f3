/** Calls one after the other, each when the promise of the one before is settled. At once when nothing goes on. */

export class Serial {
  #last: Promise<unknown> | undefined;

  /** What `call` returns, or the promise of it. `call` never throws or rejects. */
  run(call: () => unknown): unknown {
    if (this.#last) return this.#set(this.#last.then(call));
    const result = call();
    return result instanceof Promise ? this.#set(result) : result;
  }

  /** Resolves when nothing goes on any more. */
  async idle(): Promise<void> {
    while (this.#last) await this.#last;
  }

  #set(promise: Promise<unknown>): Promise<unknown> {
    const last = promise.then(() => {
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
    return last;
  }
}
