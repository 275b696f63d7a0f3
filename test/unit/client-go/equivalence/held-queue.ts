/** A queue that holds its changes back until a test releases them, and records the pops. */
import { deltasText } from '../queue/notation.ts';
import type { AnyQueue } from '../queue/replay.ts';

export interface HeldQueue {
  readonly queue: AnyQueue;
  /** Popped values, one text for each pop. */
  readonly popped: readonly string[];
  /** Resolves when all queued changes have been processed; then the queue holds changes again. */
  readonly release: () => Promise<void>;
}

/** Holds the changes of this queue: its `pop` waits for a release first. */
export function held(queue: AnyQueue): HeldQueue {
  const popped: string[] = [];
  let isHeld = true;
  let wake: () => void = () => undefined;
  let released: () => void = () => undefined;
  const pop = queue.pop.bind(queue);
  const close = queue.close.bind(queue);
  Object.assign(queue, {
    async pop(...[process, { signal } = {}]: Parameters<AnyQueue['pop']>) {
      while (isHeld || queue.size === 0) {
        if (!isHeld) released();
        isHeld = true;
        if (signal?.aborted !== true) await new Promise<void>((resolve) => (wake = resolve));
        signal?.throwIfAborted();
      }
      const deltas = await pop(process, signal && { signal });
      popped.push(deltasText(deltas));
      return deltas;
    },
    close() {
      close();
      wake();
    },
  });
  const release = (): Promise<void> =>
    new Promise((resolve) => {
      isHeld = false;
      released = resolve;
      wake();
    });
  return { queue, popped, release };
}
