/** A pause of any length: a timer of Node beyond 24.8 days ends after 1 ms. */
import { realClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { onAbort } from './on-abort.ts';

/** Resolves after the delay; rejects with the signal's reason when the signal is aborted first. */
export function sleep(delayMs: number, signal?: AbortSignal, clock: Clock = realClock): Promise<void> {
  return new Promise((resolve, reject) => {
    let unlisten = (): void => undefined;
    const cancel = clock.schedule(delayMs, () => {
      unlisten();
      resolve();
    });
    if (!signal) return;
    unlisten = onAbort(signal, () => {
      cancel();
      reject(signal.reason as Error);
    });
  });
}
