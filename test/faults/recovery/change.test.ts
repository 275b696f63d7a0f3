/** The change from the calling thread to worker threads: which informers cause it, and what else happens during it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../../../src/index.ts';
import type { InformerOptions } from '../../../src/index.ts';
import { START_TIMEOUT_MS } from '../../../src/informer/threads/supervisor-step.ts';
import { FakeClock, FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { SharedCache, openCache } from '../../../src/thread/index.ts';
import { PODS, pod, pods } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';
import { Scene, turns } from '../../kit/scene.ts';
import { PERFORM } from './asking.ts';
import { ChangingTwin } from './changing-twin.ts';

interface Watching {
  readonly source: FakeControllerSource<V1Pod>;
  readonly informer: SharedIndexInformer<V1Pod>;
  readonly handler: RecordingHandler;
  readonly errors: Error[];
}

function watching(twin: ChangingTwin, options: InformerOptions<V1Pod> = {}): Watching {
  const source = new FakeControllerSource<V1Pod>();
  const errors: Error[] = [];
  const informer = new SharedIndexInformer<V1Pod>(source, PODS, {
    threads: twin.threads,
    onError: (error) => errors.push(error),
    ...options,
  });
  const handler = new RecordingHandler();
  informer.addEventHandler(handler);
  return { source, informer, handler, errors };
}

test('C483 a change delivers nothing twice, reports nothing and is no restart', async () => {
  await using twin = new ChangingTwin();
  const { source, informer, handler, errors } = watching(twin);
  for (const one of pods(3)) source.add(one);
  void informer.run();
  await settled(informer);
  twin.readManyChanges();
  source.modify(pod('pod-0'));
  await settled(informer);
  twin.load();
  source.delete(pod('pod-1'));
  await settled(informer);
  source.modify(pod('pod-2'));
  await settled(informer);
  assert.deepEqual(handler.names, [
    'add pod-0',
    'add pod-1',
    'add pod-2',
    'update pod-0',
    'delete pod-1',
    'update pod-2',
  ]);
  assert.deepEqual(errors, []);
  assert.equal(informer.health.phase, 'watching');
  assert.ok(twin.threads.stats().every(({ restarts }) => restarts === 0));
  await informer.shutdown();
});

test('C425 an informer with a module waits for worker threads, which start for it', async () => {
  await using twin = new ChangingTwin();
  const first = watching(twin);
  void first.informer.run();
  await first.informer.waitForSync();
  const second = watching(twin, { transform: PERFORM });
  second.source.add(pod('a'));
  void second.informer.run();
  await turns(50);
  assert.equal(twin.workers.length, 1);
  assert.equal(second.informer.hasSynced(), false);
  twin.load();
  await settled(second.informer);
  assert.deepEqual(second.handler.changedNames, ['add a']);
  await Promise.all([first.informer.shutdown(), second.informer.shutdown()]);
});

test('C425 worker threads run the first informer when it has a module', async () => {
  await using twin = new ChangingTwin();
  const { source, informer, handler } = watching(twin, { transform: PERFORM });
  source.add(pod('a'));
  void informer.run();
  await settled(informer);
  assert.deepEqual([twin.first.length, twin.workers.length], [0, 1]);
  assert.deepEqual(handler.changedNames, ['add a']);
  await informer.shutdown();
});

test('C483 an informer with a module fails, and others go on, when worker threads cannot be started', async () => {
  await using twin = new ChangingTwin();
  const first = watching(twin);
  void first.informer.run();
  await first.informer.waitForSync();
  const second = watching(twin, { transform: PERFORM });
  const run = assert.rejects(second.informer.run(), /worker threads did not start.*: killed/);
  await turns(5);
  twin.workers[0]?.kill(0);
  await run;
  first.source.add(pod('a'));
  await settled(first.informer);
  assert.deepEqual(first.handler.changedNames, ['add a']);
  assert.equal(first.errors.length, 1);
  // Many changes no longer start threads, another module does.
  twin.readManyChanges();
  assert.equal(twin.workers.length, 1);
  const third = watching(twin, { transform: PERFORM });
  void third.informer.run();
  await turns(5);
  assert.equal(twin.workers.length, 2);
  twin.load();
  await third.informer.waitForSync();
  await Promise.all([first.informer.shutdown(), third.informer.shutdown()]);
});

test('C483 worker threads that are neither ready nor dead are given up, and the calling thread goes on', async () => {
  const clock = new FakeClock();
  await using twin = new ChangingTwin([], { clock });
  const { source, informer, handler, errors } = watching(twin);
  void informer.run();
  await informer.waitForSync();
  twin.readManyChanges();
  clock.advance(START_TIMEOUT_MS);
  assert.ok(twin.workers[0]?.isEnded);
  assert.match(String(errors), /not ready within 30000 ms/);
  source.add(pod('a'));
  await settled(informer);
  assert.deepEqual(handler.names, ['add a']);
  await informer.shutdown();
});

test('C425 threads that are unreferenced become worker threads', async () => {
  await using twin = new ChangingTwin();
  const { informer } = watching(twin);
  void informer.run();
  await informer.waitForSync();
  twin.threads.unref();
  assert.equal(twin.workers.length, 1);
  await informer.shutdown();
});

test('C425 objects of a ListerWatcher are no work of the calling thread', async () => {
  await using twin = new ChangingTwin();
  const { source, informer } = watching(twin);
  for (const one of pods(3)) source.add(one);
  void informer.run();
  await settled(informer);
  assert.equal(twin.reads, 0);
  await using scene = await Scene.start({ threads: twin.threads });
  await scene.populate(3);
  await scene.watching();
  assert.ok(twin.reads > 0, 'answers of a server count');
  await informer.shutdown();
});

for (const when of ['before', 'after'] as const) {
  test(`C483 informers that are attached and stopped ${when} the threads are ready work and end as on any thread`, async () => {
    await using twin = new ChangingTwin();
    const first = watching(twin);
    const second = watching(twin);
    void first.informer.run();
    await first.informer.waitForSync();
    twin.readManyChanges();
    if (when === 'after') twin.load();
    second.source.add(pod('b'));
    const running = second.informer.run();
    const stopped = first.informer.shutdown();
    await turns(1);
    twin.load();
    await stopped;
    await settled(second.informer);
    assert.deepEqual(second.handler.changedNames, ['add b']);
    await second.informer.shutdown();
    await running;
    assert.deepEqual([...first.errors, ...second.errors], []);
  });
}

test('C483 threads that are closed while worker threads start end these, and the informers', async () => {
  await using twin = new ChangingTwin();
  const { informer } = watching(twin);
  const run = assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_STOPPED' });
  await informer.waitForSync();
  twin.readManyChanges();
  await twin.threads.close();
  await run;
  twin.load();
  await turns(5);
  assert.equal(twin.workers[0]?.isEnded, true);
});

test('C483 the cache of another thread follows through a change', async () => {
  await using twin = new ChangingTwin();
  const { source, informer } = watching(twin);
  for (const one of pods(3)) source.add(one);
  void informer.run();
  await informer.waitForSync();
  await using shared = new SharedCache({ pods: informer });
  await using cache = await openCache<{ readonly pods: V1Pod }>(shared.port());
  const there = cache.informer('pods');
  const handler = new RecordingHandler();
  there.addEventHandler(handler);
  await there.waitForSync();
  twin.readManyChanges();
  twin.load();
  source.modify(pod('pod-1'));
  await settled(informer);
  await there.waitForResourceVersion(informer.lastSyncResourceVersion());
  await handler.until(() => handler.changedNames.length === 4);
  assert.equal(handler.changedNames.at(-1), 'update pod-1');
  await informer.shutdown();
});
