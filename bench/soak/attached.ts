/** Threads of the soak that read the main thread's cache. The first keeps its port; every other one opens a new port in each window. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SharedCache } from '../../src/thread/index.ts';
import type { Histories } from '../../test/sim/oracle/histories.ts';
import type { AttachedCommand } from './attached-worker.ts';

const WORKER = new URL('./attached-worker.js', import.meta.url);

class AttachedThread {
  readonly #worker: Worker = new Worker(WORKER);
  isOpen = false;

  /** Rejects when the thread fails. */
  async ask(command: AttachedCommand): Promise<unknown> {
    const answered = once(this.#worker, 'message');
    this.#worker.postMessage(command, command.type === 'open' ? command.port.transferList : []);
    return ((await answered) as unknown[])[0];
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

export class AttachedThreads implements AsyncDisposable {
  readonly #cache: SharedCache;
  readonly #threads: readonly AttachedThread[];

  constructor(cache: SharedCache, count: number) {
    this.#cache = cache;
    this.#threads = Array.from({ length: count }, () => new AttachedThread());
  }

  /** Adds the handlers of a window in every thread. */
  async begin(window: number): Promise<void> {
    await Promise.all(
      this.#threads.map(async (thread, index) => {
        if (!thread.isOpen) await thread.ask({ type: 'open', port: this.#cache.port() });
        thread.isOpen = index === 0;
        await thread.ask({ type: 'begin', window });
      }),
    );
  }

  /** Returns what each thread recorded in the window, up to this version of the cache. */
  async end(resourceVersion: string): Promise<Histories[]> {
    const ended = this.#threads.map((thread) => thread.ask({ type: 'end', resourceVersion }));
    return (await Promise.all(ended)) as Histories[];
  }

  /** Closes the ports that are of one window, and collects garbage in all threads. */
  async rest(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.ask({ type: 'rest', isOver: !thread.isOpen })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
    await this.#cache.close();
  }
}
