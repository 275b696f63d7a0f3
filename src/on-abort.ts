/** Listens to a signal that may stop many things at once: more than ten listeners are no leak here. */
import { setMaxListeners } from 'node:events';

/** @returns what stops the listening */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  setMaxListeners(0, signal);
  signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}
