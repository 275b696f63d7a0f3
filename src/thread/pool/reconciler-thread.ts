/** A thread that reconciles, seen from the main thread. */
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort, ResourceLimits } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { CachePort } from '../main/shared-cache.ts';
import { workerUrl } from '../../informer/threads/worker-backend.ts';
import type { Answer, PoolTask, ReconcileTask } from './messages.ts';

/** A thread that reconciles a single key at a time. */
export interface ReconcilerThread {
  /** Resolves with the reason after every kind of exit; no code of the thread runs after that. */
  readonly exited: Promise<unknown>;
  /** Loads the module and opens the cache; must be the first call. Rejects with the reason after the thread exited. */
  open(): Promise<Answer>;
  /** Reconciles a key. The previous call must have settled. Rejects with the reason after the thread exited. */
  run(task: ReconcileTask): Promise<Answer>;
  /** Aborts the signal of the task with this number. */
  abort(number: number): void;
  /** Terminates the thread, also while it works; resolves after the exit. */
  end(): Promise<void>;
}

export interface ThreadSettings {
  /** URL of the module that reconciles. */
  readonly module: string;
  readonly cache: CachePort;
  readonly resourceLimits: ResourceLimits | undefined;
}

/**
 * A Piscina pool with a single thread. A pool of many threads reports neither the thread of a task nor the exit of a
 * failed thread, and until that exit the key must not run in another thread. Such a pool's task queue would also be a
 * second queue, without the priorities and limits of the work queue: here the task queue is empty once the thread has
 * started.
 */
export class PiscinaThread implements ReconcilerThread {
  readonly #settings: ThreadSettings;
  readonly #pool: Piscina;
  readonly #aborts: MessagePort;
  readonly #threadAborts: MessagePort;
  readonly exited: Promise<unknown>;
  #exit!: (reason: unknown) => void;

  constructor(settings: ThreadSettings) {
    const { resourceLimits } = settings;
    this.#settings = settings;
    this.#pool = new Piscina({
      filename: fileURLToPath(workerUrl('reconciler')),
      // The first task starts the thread; Piscina does not replace a thread that ended.
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: Infinity,
      // A thread without a key reads the records of the cache instead of waiting for the next key.
      atomics: 'disabled',
      recordTiming: false,
      ...(resourceLimits && { resourceLimits }),
    });
    // The reason of the exit contains errors outside a task.
    this.#pool.on('error', () => undefined);
    ({ port1: this.#aborts, port2: this.#threadAborts } = new MessageChannel());
    this.exited = new Promise((resolve) => (this.#exit = resolve));
    void this.exited.then(() => this.#close());
  }

  open(): Promise<Answer> {
    const { module, cache } = this.#settings;
    const task: PoolTask = { type: 'open', module, cache, aborts: this.#threadAborts };
    const answer = this.#run(task, [...cache.transferList, this.#threadAborts]);
    const [worker] = this.#pool.threads;
    let reason: unknown;
    worker?.once('error', (error: unknown) => (reason = error));
    worker?.once('exit', (code: number) => this.#exit(reason ?? new Error(`exit code ${code}`)));
    return answer;
  }

  run(task: ReconcileTask): Promise<Answer> {
    return this.#run(task, []);
  }

  abort(number: number): void {
    this.#aborts.postMessage(number);
  }

  async end(): Promise<void> {
    await this.#pool.destroy();
    await this.exited;
  }

  async #run(task: PoolTask, transferList: MessagePort[]): Promise<Answer> {
    try {
      return (await this.#pool.run(task, { transferList })) as Answer;
    } catch (error) {
      // No thread was started, for example.
      if (this.#pool.threads.length === 0 && task.type === 'open') this.#exit(error);
      await this.#pool.destroy();
      throw await this.exited;
    }
  }

  /** Rejects a task that the thread did not receive, and closes the task's ports. */
  async #close(): Promise<void> {
    await this.#pool.destroy();
    const [cachePort] = this.#settings.cache.transferList;
    for (const port of [this.#aborts, this.#threadAborts, cachePort]) port.close();
  }
}
