/** One request in progress, and everything that must end with it. */
import type { WatchPosition } from './watch-position.ts';

export class Attempt {
  /** Of a watch that is open. */
  position: WatchPosition | undefined;
  readonly #controller = new AbortController();
  readonly #endings: (() => void)[] = [];

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isClosed(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Called when it ends, at once if it has. */
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
