/**
 * A signal with a time limit. It keeps its timer itself: `AbortSignal.any` refers to an `AbortSignal.timeout` only
 * weakly, so that Node 20 may collect the limit, which is then never reached.
 */
import { backgroundClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { onAbort } from './on-abort.ts';

export class TimeLimit implements Disposable {
  readonly #ending = new AbortController();
  readonly #release: () => void;

  /** @param signal aborts earlier, with the reason of this signal */
  constructor(limitMs: number, signal: AbortSignal, clock: Clock = backgroundClock) {
    const end = (reason: unknown): void => this.#ending.abort(reason);
    const cancel = clock.schedule(limitMs, () => {
      end(new DOMException(`the limit of ${limitMs / 1000} s was reached`, 'TimeoutError'));
    });
    const unlisten = onAbort(signal, () => end(signal.reason));
    this.#release = () => {
      cancel();
      unlisten();
    };
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends the limit: the signal is not aborted any more. */
  [Symbol.dispose](): void {
    this.#release();
  }
}
