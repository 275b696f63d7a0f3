/** The thread that made a shared cache ends, at any moment of the thread that opens it: nothing waits for it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { openCache } from '../../../src/thread/index.ts';
import type { CachePort } from '../../../src/thread/index.ts';
import type { Pod } from '../informer/scene.ts';
import type { OwnerOptions } from './owning-worker.ts';

const ENDED = {
  code: 'ERR_KUBELOOM_STOPPED',
  message: /the thread that made this cache port has ended: send/,
};

interface Types extends Readonly<Record<string, unknown>> {
  readonly pods: Pod;
}

/** A thread that shares a cache, and its port in this thread. */
async function owner(options: OwnerOptions): Promise<{ readonly worker: Worker; readonly port: CachePort }> {
  const worker = new Worker(new URL('./owning-worker.js', import.meta.url), { workerData: options });
  const [port] = (await once(worker, 'message')) as [CachePort];
  return { worker, port };
}

test('C445 a port is refused whose thread was terminated before it was opened', async () => {
  const { worker, port } = await owner({ blocks: false });
  await worker.terminate();
  await assert.rejects(openCache(port), ENDED);
});

test('C445 a port is refused that closed without a listener when its thread was terminated', async () => {
  const { worker, port } = await owner({ blocks: false });
  const [end] = port.transferList;
  const closed = once(end, 'close');
  await worker.terminate();
  await closed;
  await assert.rejects(openCache(port), ENDED);
});

test('C445 a thread that blocks is waited for until it is terminated', async () => {
  const { worker, port } = await owner({ blocks: true });
  const opened = assert.rejects(openCache(port), ENDED);
  await worker.terminate();
  await opened;
});

test('C445 the end of the thread that made an open cache ends waits and handlers, and is the last error', async () => {
  const { worker, port } = await owner({ blocks: false });
  await using cache = await openCache<Types>(port);
  const pods = cache.informer('pods');
  const names: string[] = [];
  pods.addEventHandler({ onAdd: (added) => names.push(added.name) });
  await pods.waitForSync();
  const version = assert.rejects(pods.waitForResourceVersion('999999'), { code: 'ERR_KUBELOOM_STOPPED' });
  await worker.terminate();
  await version;
  assert.ok(pods.isStopped());
  assert.match(String(pods.health.lastError?.message), ENDED.message);
  await cache.close();
  assert.deepEqual(names, ['a']);
});
