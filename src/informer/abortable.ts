/** Waiting for something that takes no signal itself. */
import { onAbort } from '../on-abort.ts';

/** Settles as the promise does; rejects with the signal's reason when that is aborted first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    promise.then(resolve, reject).finally(onAbort(signal, abort));
  });
}
