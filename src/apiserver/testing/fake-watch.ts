/** One open watch of a fake source: a queue of events that either side can end. */
import type { Watch, WatchEvent } from '../../kube/list-watch.ts';

export class FakeWatch<T> implements Watch<T> {
  /** The version up to which this watch has all its events. */
  position: number;
  readonly #onStop: () => void;
  readonly #events: WatchEvent<T>[] = [];
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(position: number, onStop: () => void) {
    this.position = position;
    this.#onStop = onStop;
  }

  send(event: WatchEvent<T>): void {
    if (this.#isOver) return;
    this.#events.push(event);
    this.#look();
  }

  /** Ends the watch from the server's side: events that were sent are still read. */
  end(): void {
    this.#isOver = true;
    this.#look();
  }

  stop(): void {
    this.#events.length = 0;
    this.end();
    this.#onStop();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<T>, void, void> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event) {
          yield event;
        } else if (this.#isOver) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      // A consumer that leaves the loop closes the watch, as over HTTP.
      this.stop();
    }
  }

  #look(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
