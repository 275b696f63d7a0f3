/** Listening to signals with possibly many listeners: more than ten are no leak here. */
import { setMaxListeners } from 'node:events';

/** @returns a function that removes the listener */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  setMaxListeners(0, signal);
  signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
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
