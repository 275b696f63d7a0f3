/** Promises that resolve when a condition is true, or reject when a signal is aborted first. */
import { onAbort } from '../base/on-abort.ts';

/** Conditions that are checked when the caller reports a possible change. */
export class WaitCondition {
  readonly #waiters: Set<() => void> = new Set();

  get size(): number {
    return this.#waiters.size;
  }

  changed(): void {
    for (const look of this.#waiters) look();
  }

  /** Resolves when `isTrue()` returns true; rejects with the signal's reason when the signal is aborted first. */
  until(isTrue: () => boolean, signal?: AbortSignal): Promise<void> {
    if (isTrue()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let unlisten = (): void => undefined;
      const look = (): void => {
        if (isTrue()) end(resolve);
      };
      const end = (settle: () => void): void => {
        this.#waiters.delete(look);
        unlisten();
        settle();
      };
      this.#waiters.add(look);
      if (signal) unlisten = onAbort(signal, () => end(() => reject(signal.reason as Error)));
    });
  }
}
