/** A worker thread of a program that reads a shared cache; it does what its parent asks for, and answers. */
import { parentPort, workerData } from 'node:worker_threads';
import { openCache } from '../../../src/thread/index.ts';
import type { CachePort } from '../../../src/thread/index.ts';
import type { Pod } from '../informer/scene.ts';

export type Command =
  | { readonly type: 'list' | 'throw' | 'exit' | 'fill the heap' | 'block' | 'close' }
  /** Answers when there are so many calls. */
  | { readonly type: 'calls'; readonly count: number }
  | { readonly type: 'wait'; readonly resourceVersion: string };

const cache = await openCache<{ pods: Pod }>(workerData as CachePort);
const pods = cache.informer('pods');
const calls: string[] = [];
pods.addEventHandler({
  onAdd: (added, isInInitialList) =>
    calls.push(`add${isInInitialList ? '!' : ''} ${added.object.metadata.name}`),
  onUpdate: (_, current) => calls.push(`update ${current.object.metadata.name}`),
  onDelete: (deleted) => calls.push(`delete ${deleted.object.metadata.name}`),
});
await pods.waitForSync();

function answer(value: unknown): void {
  parentPort?.postMessage(value);
}

async function take(command: Command): Promise<void> {
  switch (command.type) {
    case 'list':
      answer(pods.lister.list().map((entry) => entry.object.metadata));
      break;
    case 'calls':
      while (calls.length < command.count) await new Promise((resolve) => setImmediate(resolve));
      answer(calls);
      break;
    case 'wait':
      await pods.waitForResourceVersion(command.resourceVersion);
      answer(pods.lastSyncResourceVersion());
      break;
    case 'throw':
      throw new Error('the worker failed');
    case 'exit':
      process.exit(3);
    // falls through
    case 'fill the heap': {
      const all: number[][] = [];
      for (;;) all.push(Array.from({ length: 1e5 }, () => all.length));
    }
    case 'block':
      answer('blocked');
      for (;;);
    case 'close':
      await cache.close();
      parentPort?.close();
      break;
  }
}

parentPort?.on('message', (command: Command) => void take(command));
answer('ready');
