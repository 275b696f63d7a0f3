/** Shared caches in worker threads of the program: what they read, and what is left when they end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { SharedIndexInformer } from '../../../src/index.ts';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { SharedCache, openCache } from '../../../src/thread/index.ts';
import { Scene, pod } from '../informer/scene.ts';
import type { Pod } from '../informer/scene.ts';
import { Reading, ended } from './reading.ts';

async function started(scene: Scene, count: number): Promise<SharedIndexInformer<Pod>> {
  for (let number = 0; number < count; number++) scene.source.add(pod(`pod-${number}`, { app: 'web' }));
  const informer = scene.informer();
  await scene.started(informer);
  return informer;
}

/** Checks that the threads have ended, and that no object keeps its bytes once it is deleted. */
async function nothingLeft(
  scene: Scene,
  informer: SharedIndexInformer<Pod>,
  cache: SharedCache,
): Promise<void> {
  await ended(cache);
  await cache.close();
  assert.equal(informer.stats().handlers.length, 0);
  for (const { name, namespace } of informer.getIndexer().list())
    scene.source.delete({ metadata: { name, namespace } });
  await settled(informer);
  assert.deepEqual(informer.stats().storeBytes, { plain: 0, packed: 0 });
}

test('C205 a worker thread reads the objects, receives the changes, and waits for versions', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 3);
  await using cache = new SharedCache({ pods: informer });
  await using reading = await Reading.start(cache.port());
  assert.deepEqual(
    await reading.ask({ type: 'list' }),
    informer
      .getIndexer()
      .list()
      .map((entry) => entry.object.metadata),
  );
  scene.source.modify(pod('pod-1', { app: 'api' }));
  scene.source.delete(pod('pod-2'));
  scene.source.add(pod('pod-3'));
  await settled(informer);
  const version = informer.lastSyncResourceVersion();
  assert.equal(await reading.ask({ type: 'wait', resourceVersion: version }), version);
  assert.deepEqual(
    await reading.ask({ type: 'list' }),
    informer
      .getIndexer()
      .list()
      .map((entry) => entry.object.metadata),
  );
  const calls = ['add! pod-0', 'add! pod-1', 'add! pod-2', 'update pod-1', 'delete pod-2', 'add pod-3'];
  assert.deepEqual(await reading.ask({ type: 'calls' }), calls);
  reading.worker.postMessage({ type: 'close' });
  await reading.exited;
  await ended(cache);
  await cache.close();
});

test('C205 a thread finds objects by namespace, and has no index for it that would take memory', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 3);
  await using cache = new SharedCache({ pods: informer });
  const port = cache.port();
  assert.deepEqual(
    port.informers.map(({ indexers }) => indexers),
    [{}],
  );
  const opened = await openCache<{ pods: Pod }>(port);
  const pods = opened.informer('pods');
  await pods.waitForSync();
  const found = pods.getIndexer().byIndex('namespace', 'ns');
  assert.deepEqual(found.map(({ name }) => name).toSorted(), ['pod-0', 'pod-1', 'pod-2']);
  await opened.close();
});

for (const type of ['exit', 'throw', 'fill the heap', 'block'] as const) {
  test(`C213 a worker thread leaves nothing behind: ${type}`, async () => {
    await using scene = new Scene();
    const informer = await started(scene, 20);
    await using cache = new SharedCache({ pods: informer });
    await using dying = await Reading.start(cache.port());
    assert.equal(cache.threads, 1);
    assert.equal(cache.exportedStates, 20);
    assert.equal(informer.stats().handlers.length, 1);
    if (type === 'block') {
      await dying.ask({ type });
      scene.source.modify(pod('pod-1', { app: 'later' }));
      await dying.worker.terminate();
    } else {
      dying.worker.postMessage({ type });
    }
    await dying.exited;
    await nothingLeft(scene, informer, cache);
  });
}

test('C213 attaching and closing 1,000 times leaves no handler and no reference', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 5);
  await using cache = new SharedCache({ pods: informer });
  for (let count = 0; count < 1000; count++) {
    const opened = await openCache<{ pods: Pod }>(cache.port());
    const pods = opened.informer('pods');
    if (count % 3 === 0) await pods.waitForSync();
    if (count % 7 === 0) scene.source.modify(pod('pod-1', { count: String(count) }));
    if (count % 2 === 0) await opened.close();
    else await Promise.all([ended(cache), opened.close()]);
  }
  await nothingLeft(scene, informer, cache);
});

test('C213 a worker thread that ends before it opens its port leaves nothing behind', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 1);
  await using cache = new SharedCache({ pods: informer });
  const port = cache.port();
  const { transferList } = port;
  const worker = new Worker('process.exit()', { eval: true, workerData: port, transferList });
  await once(worker, 'exit');
  assert.equal(cache.threads, 0);
  await cache.close();
  assert.equal(informer.stats().handlers.length, 0);
});
