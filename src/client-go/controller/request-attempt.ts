/** A request in progress, and the callbacks that end with it. */
import type { WatchProgress } from './watch-progress.ts';

export class RequestAttempt {
  /** Position of an open watch. */
  progress: WatchProgress | undefined;
  readonly #controller = new AbortController();
  readonly #endings: (() => void)[] = [];

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isClosed(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Registers a callback for the end; calls it at once if the request has ended. */
  onClose(end: () => void): void {
    if (this.isClosed) end();
    else this.#endings.push(end);
  }

  close(): void {
    if (this.isClosed) return;
    this.#controller.abort();
    for (const end of this.#endings.splice(0)) end();
  }
}
