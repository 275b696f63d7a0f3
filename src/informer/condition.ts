/** A promise that settles with a condition, is told when to look, and gives up with an AbortSignal. */
import { onAbort } from '../on-abort.ts';

export class Condition {
  readonly #waiters: Set<() => void> = new Set();

  /** Who waits. */
  get size(): number {
    return this.#waiters.size;
  }

  /** Something may have become true. */
  changed(): void {
    for (const look of this.#waiters) look();
  }

  /** Resolves when `isTrue()`; rejects with the signal's reason when it is aborted first. */
  until(isTrue: () => boolean, signal?: AbortSignal): Promise<void> {
    if (isTrue()) return Promise.resolve();
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    const { promise, resolve, reject } = withResolvers();
    let unlisten = (): void => {};
    const look = (): void => {
      if (!isTrue()) return;
      this.#waiters.delete(look);
      unlisten();
      resolve();
    };
    const abort = (): void => {
      this.#waiters.delete(look);
      reject(signal?.reason as Error);
    };
    this.#waiters.add(look);
    if (signal) unlisten = onAbort(signal, abort);
    return promise;
  }
}

/** `Promise.withResolvers` is not in Node 20. */
function withResolvers<T = void>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (reason: Error) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
