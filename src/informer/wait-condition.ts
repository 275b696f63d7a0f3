/** Promises that resolve when a condition is true. The caller reports possible changes; an AbortSignal ends the wait. */
import { onAbort } from '../base/on-abort.ts';

export class WaitCondition {
  readonly #waiters: Set<() => void> = new Set();

  /** Number of pending promises. */
  get size(): number {
    return this.#waiters.size;
  }

  /** Checks all conditions again. */
  changed(): void {
    for (const look of this.#waiters) look();
  }

  /** Resolves when `isTrue()` returns true; rejects with the signal's reason when the signal is aborted first. */
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

/** Replacement of `Promise.withResolvers`, which Node 20 does not have. */
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

/** Settles like the promise; rejects with the signal's reason when the signal is aborted first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    promise.then(resolve, reject).finally(onAbort(signal, abort));
  });
}
