/** Adds an AbortSignal to the wait for a promise. */
import { onAbort } from '../base/on-abort.ts';

/** Settles like the promise; rejects with the signal's reason when the signal is aborted first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    promise.then(resolve, reject).finally(onAbort(signal, abort));
  });
}
