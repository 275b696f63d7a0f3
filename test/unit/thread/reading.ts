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
  /** Errors that ended the thread. */
  readonly failures: NodeJS.ErrnoException[] = [];

  private constructor(port: CachePort, maxOldGenerationSizeMb: number = 32) {
    this.worker = new Worker(WORKER, {
      workerData: port,
      transferList: port.transferList,
      resourceLimits: { maxOldGenerationSizeMb },
    });
    // A failure of the worker is part of the test.
    this.worker.on('error', (error: NodeJS.ErrnoException) => this.failures.push(error));
    this.exited = new Promise((resolve) => this.worker.once('exit', resolve));
  }

  /** Resolves when the thread's cache has synced, or the thread has ended. */
  static async start(port: CachePort): Promise<Reading> {
    const reading = new Reading(port);
    await Promise.race([once(reading.worker, 'message'), reading.exited]);
    return reading;
  }

  /** Starts a thread and does not wait for it. */
  static begin(port: CachePort, maxOldGenerationSizeMb?: number): Reading {
    return new Reading(port, maxOldGenerationSizeMb);
  }

  async ask(command: Command): Promise<unknown> {
    const answer = once(this.worker, 'message');
    const ports = command.type === 'reopen' ? command.port.transferList : [];
    this.worker.postMessage(command, ports);
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
