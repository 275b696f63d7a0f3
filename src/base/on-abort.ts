/** Listening to signals, also to a signal that was aborted before, and with many listeners: more than ten are no leak here. */
import { setMaxListeners } from 'node:events';
import { inspectable } from './errors.ts';

/**
 * Calls `callback` when the signal is aborted, before it returns when that has happened already. No other code listens to the
 * event of a signal: a listener that comes too late would wait for ever.
 *
 * @returns a function that removes the listener; a callback that uses it must not run before it is assigned
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  setMaxListeners(0, signal);
  signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}

/** Settles like the promise; rejects with the signal's reason when the signal is aborted first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const unlisten = onAbort(signal, () => reject(signal.reason as Error));
    void promise.then(resolve, reject).finally(unlisten);
  });
}

/**
 * Returns whether an error is the end of a call that this signal has ended: the signal's reason itself, or the `AbortError`
 * into which a library has put it. An `AbortError` without a cause counts as well, once the signal is aborted.
 */
export function isAbortOf(error: unknown, signal: AbortSignal | undefined): boolean {
  if (!signal?.aborted) return false;
  const reason: unknown = signal.reason;
  if (error === reason) return true;
  const read = inspectable(error);
  if (!(read instanceof Error) || read.name !== 'AbortError') return false;
  return read.cause === undefined || read.cause === reason;
}
