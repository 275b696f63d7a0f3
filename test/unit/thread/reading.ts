/** A worker thread that reads a shared cache, as its parent sees it. It ends with its scope. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SharedCache } from '../../../src/thread/index.ts';
import type { CachePort } from '../../../src/thread/index.ts';
import type { Command } from './reading-worker.ts';

const WORKER = new URL('./reading-worker.js', import.meta.url);

export class Reading implements AsyncDisposable {
  readonly worker: Worker;
  readonly exited: Promise<unknown>;

  private constructor(port: CachePort) {
    this.worker = new Worker(WORKER, {
      workerData: port,
      transferList: port.transferList,
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    });
    // A failure of the worker is part of the test.
    this.worker.on('error', () => undefined);
    this.exited = new Promise((resolve) => this.worker.once('exit', resolve));
  }

  /** Resolves when the thread's cache has synced, or the thread has ended. */
  static async start(port: CachePort): Promise<Reading> {
    const reading = new Reading(port);
    await Promise.race([once(reading.worker, 'message'), reading.exited]);
    return reading;
  }

  /** Starts a thread and does not wait for it. */
  static begin(port: CachePort): Reading {
    return new Reading(port);
  }

  async ask(command: Command): Promise<unknown> {
    const answer = once(this.worker, 'message');
    this.worker.postMessage(command);
    return ((await answer) as unknown[])[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.worker.terminate();
  }
}

/** Resolves when no thread has the cache. */
export async function ended(cache: SharedCache): Promise<void> {
  while (cache.threads > 0) await new Promise((resolve) => setImmediate(resolve));
}
