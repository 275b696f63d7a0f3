/** A thread that reads the main thread's cache, for kubeloom-threads.ts. It answers every command once. */
import { parentPort } from 'node:worker_threads';
import { threadCpuMs } from '../../src/base/thread-cpu.ts';
import type { KubeObject } from '../../src/index.ts';
import { openCache } from '../../src/thread/index.ts';
import type { CachePort, ThreadCache, ThreadInformer } from '../../src/thread/index.ts';
import { collectedHeapBytes } from './collected-heap.ts';
import { touchParsed } from './touch.ts';

export type ThreadCommand =
  /** Answers when the cache is synced. */
  | { readonly type: 'open'; readonly port: CachePort }
  | { readonly type: 'close' }
  /** Reads the objects whose place in the list is `part` modulo `parts`; answers with milliseconds of CPU time. */
  | { readonly type: 'scan'; readonly part: number; readonly parts: number }
  /** Adds a handler that reads whole objects; answers after the handler's initial list. */
  | { readonly type: 'handle' }
  /** Answers with the number of updates that the handler received. */
  | { readonly type: 'updates' }
  /** Answers with the bytes of this thread's heap after a collection, and of the buffers. */
  | { readonly type: 'bytes' };

export interface ThreadAnswer {
  readonly value: number;
  /** Sum of the lengths of all keys that were read. */
  readonly checksum: number;
}

interface Types extends Readonly<Record<string, unknown>> {
  readonly pods: KubeObject;
}

class Reader {
  #cache: ThreadCache<Types> | undefined;
  #updates = 0;
  checksum = 0;

  async take(command: ThreadCommand): Promise<number> {
    switch (command.type) {
      case 'open':
        this.#cache = await openCache<Types>(command.port);
        await this.#pods.waitForSync();
        return this.#pods.getIndexer().size;
      case 'close':
        await this.#cache?.close();
        return 0;
      case 'scan':
        return this.#scan(command.part, command.parts);
      case 'handle':
        return this.#handle();
      case 'updates':
        return this.#updates;
      default:
        return collectedHeapBytes() + process.memoryUsage().arrayBuffers;
    }
  }

  get #pods(): ThreadInformer<KubeObject> {
    if (!this.#cache) throw new Error('the thread has no cache');
    return this.#cache.informer('pods');
  }

  #scan(part: number, parts: number): number {
    const cpuBeforeMs = threadCpuMs() ?? 0;
    for (const [place, entry] of this.#pods.lister.list().entries()) {
      if (place % parts === part) this.checksum += touchParsed(entry.object, 'object');
    }
    return (threadCpuMs() ?? 0) - cpuBeforeMs;
  }

  async #handle(): Promise<number> {
    const registration = this.#pods.addEventHandler({
      onUpdate: (_previous, { object }) => {
        this.#updates++;
        this.checksum += touchParsed(object, 'object');
      },
    });
    while (!registration.hasSynced()) await new Promise(setImmediate);
    return 0;
  }
}

const reader = new Reader();

async function answer(command: ThreadCommand): Promise<void> {
  const value = await reader.take(command);
  parentPort?.postMessage({ value, checksum: reader.checksum } satisfies ThreadAnswer);
}

// An error ends the thread, and the program with it.
parentPort?.on('message', (command: ThreadCommand) => void answer(command));
