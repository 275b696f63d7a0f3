/** Runs calls one after the other, each when the previous call's promise has settled; at once when none is pending. */

export class CallQueue {
  #last: Promise<unknown> | undefined;

  /** Returns the result of `call`, or a promise of it. `call` must not throw or reject. */
  run(call: () => unknown): unknown {
    if (this.#last) return this.#set(this.#last.then(call));
    const result = call();
    return result instanceof Promise ? this.#set(result) : result;
  }

  /** Resolves when no call is pending. */
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
