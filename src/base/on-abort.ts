/** Listens to a signal with possibly many listeners: more than ten are no leak here. */
import { setMaxListeners } from 'node:events';

/** @returns a function that removes the listener */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  setMaxListeners(0, signal);
  signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}
