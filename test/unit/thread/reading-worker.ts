/** A worker thread of a program that reads a shared cache; it does what its parent asks for, and answers. */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { openCache } from '../../../src/thread/index.ts';
import type { CachePort, OpenCacheOptions } from '../../../src/thread/index.ts';
import type { Pod } from '../informer/scene.ts';
import { stateOf } from './reader-state.ts';
import type { ReaderState } from './reader-state.ts';

export type Command =
  | { readonly type: 'list' | 'calls' | 'throw' | 'exit' | 'fill the heap' | 'block' | 'close' }
  | { readonly type: 'wait'; readonly resourceVersion: string }
  /** Answers with the cache at this version or a newer one, when the handler has received all of it. */
  | { readonly type: 'state'; readonly resourceVersion: string };

const errors: string[] = [];
const options: OpenCacheOptions = {
  onError: ({ code, message }) => {
    // A busy machine makes any handler slow.
    if (code !== 'ERR_KUBELOOM_SLOW_HANDLER') errors.push(message);
  },
};
const cache = await openCache<{ pods: Pod }>(workerData as CachePort, options);
const pods = cache.informer('pods');
const calls: string[] = [];
const received = new Map<string, string>();

const registration = pods.addEventHandler({
  onAdd: (added, isInInitialList) => {
    calls.push(`add${isInInitialList ? '!' : ''} ${added.object.metadata.name}`);
    received.set(added.key, added.resourceVersion);
  },
  onUpdate: (previous, current) => {
    calls.push(`update ${current.object.metadata.name}`);
    assert.equal(received.get(current.key), previous.resourceVersion);
    received.set(current.key, current.resourceVersion);
  },
  onDelete: (deleted) => {
    calls.push(`delete ${deleted.name}`);
    assert.ok(received.delete(deleted.key));
  },
});

/** Resolves when the handler has received what is in the cache: the cache has a version before the handler does. */
async function delivered(): Promise<void> {
  while (registration.backlog.notifications > 0) await new Promise(setImmediate);
}

async function stateAt(resourceVersion: string): Promise<ReaderState> {
  await pods.waitForResourceVersion(resourceVersion);
  await delivered();
  const versions = Array.from(received, ([key, version]) => `${key}@${version}`);
  return { cached: stateOf(pods.getIndexer()), received: versions.sort(), errors };
}

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
      await delivered();
      answer(calls);
      break;
    case 'wait':
      await pods.waitForResourceVersion(command.resourceVersion);
      answer(pods.lastSyncResourceVersion());
      break;
    case 'state':
      answer(await stateAt(command.resourceVersion));
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
