/** The ends of a cache in a thread and what was written before them, with both ends in this thread. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SharedIndexInformer } from '../../../src/index.ts';
import { SharedCache } from '../../../src/thread/index.ts';
import type { InformerOptions } from '../../../src/index.ts';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { openCache } from '../../../src/thread/index.ts';
import type { CachePort } from '../../../src/thread/index.ts';
import { SMALL_BACKLOGS, Scene, pod, turns } from '../informer/scene.ts';
import type { Pod } from '../informer/scene.ts';
import { HeldThread } from './held-thread.ts';

interface Types extends Readonly<Record<string, unknown>> {
  readonly pods: Pod;
  readonly others: Pod;
}

async function started(
  scene: Scene,
  count: number,
  options: InformerOptions<Pod> = {},
): Promise<SharedIndexInformer<Pod>> {
  for (let number = 0; number < count; number++) scene.source.add(pod(`pod-${number}`));
  const informer = scene.informer(options);
  await scene.started(informer);
  return informer;
}

/** Changes that fill the ring of a thread that blocks, and then wait as a backlog. */
async function behind(scene: Scene, informer: SharedIndexInformer<Pod>): Promise<void> {
  for (let version = 0; version < 200; version++)
    scene.source.modify(pod('pod-1', { version: `${version}` }));
  while (informer.lastSyncResourceVersion() !== scene.source.resourceVersion) await turns(1);
  const [backlog] = informer.stats().handlers;
  assert.ok((backlog?.notifications ?? 0) > 50, `${backlog?.notifications} notifications wait`);
}

test('C214 C295 close() delivers pending changes on both sides: the handlers in the thread receive every earlier change', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 3);
  const thread = await HeldThread.open(informer);
  const versions: string[] = [];
  thread.pods.addEventHandler({ onUpdate: (_, updated) => versions.push(updated.labels['version'] ?? '') });
  thread.block();
  await behind(scene, informer);
  const closed = thread.reader.close();
  scene.source.modify(pod('pod-1', { version: 'later' }));
  await turns(1);
  thread.unblock();
  await closed;
  assert.deepEqual(
    versions,
    Array.from({ length: 200 }, (_, version) => `${version}`),
  );
  assert.equal(informer.stats().handlers.length, 0);
});

test('C295 the end of an informer comes behind the changes of before: a wait for their version resolves, and handlers receive them', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 3);
  const thread = await HeldThread.open(informer);
  const updated: string[] = [];
  thread.pods.addEventHandler({ onUpdate: (_, { name }) => updated.push(name) });
  await thread.pods.waitForResourceVersion(informer.lastSyncResourceVersion());
  thread.block();
  for (let number = 0; number < 3; number++) scene.source.modify(pod(`pod-${number}`, { app: 'web' }));
  const waiting = thread.pods.waitForResourceVersion(scene.source.resourceVersion);
  await settled(informer);
  await informer.shutdown();
  thread.unblock();
  await waiting;
  while (!thread.pods.isStopped()) await turns(1);
  await thread.cache.close();
  assert.deepEqual(updated, ['pod-0', 'pod-1', 'pod-2']);
  await thread.ended;
});

test('C212 C297 the shutdown of an informer does not wait for a thread that blocks, which receives the end when it goes on', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 3);
  const thread = await HeldThread.open(informer);
  thread.block();
  await behind(scene, informer);
  const version = informer.lastSyncResourceVersion();
  await informer.shutdown();
  assert.equal(informer.stats().handlers.length, 0);
  const waiting = assert.rejects(thread.pods.waitForResourceVersion(version), {
    code: 'ERR_KUBELOOM_STOPPED',
  });
  thread.unblock();
  await waiting;
  assert.ok(Number(thread.pods.lastSyncResourceVersion()) < Number(version));
  await thread.cache.close();
  await thread.ended;
});

test('C211 C212 a thread that was far behind receives the cache as a list, which brings its handlers to the newest states', async () => {
  await using scene = new Scene(SMALL_BACKLOGS);
  const { source } = scene;
  const informer = await started(scene, 300);
  const thread = await HeldThread.open(informer);
  const versions = new Map<string, string>();
  const deleted: string[] = [];
  thread.pods.addEventHandler({
    onAdd: ({ name, resourceVersion }) => versions.set(name, resourceVersion),
    onUpdate: (previous, { name, resourceVersion }) => {
      assert.equal(versions.get(name), previous.resourceVersion);
      versions.set(name, resourceVersion);
    },
    onDelete: ({ name, finalStateUnknown }) => deleted.push(`${name} ${finalStateUnknown === true}`),
  });
  await thread.pods.waitForResourceVersion(informer.lastSyncResourceVersion());
  thread.block();
  for (let round = 0; round < 5; round++) {
    for (let number = 0; number < 300; number++)
      source.modify(pod(`pod-${number}`, { round: `${round}`, text: 'x'.repeat(500) }));
  }
  source.delete(pod('pod-7'));
  while (informer.lastSyncResourceVersion() !== source.resourceVersion) await turns(1);
  assert.ok(informer.health.coalesced > 0);
  assert.ok((informer.stats().handlers[0]?.notifications ?? 0) < 600);
  thread.unblock();
  await thread.pods.waitForResourceVersion(informer.lastSyncResourceVersion());
  const states = (entries: readonly { readonly key: string; readonly resourceVersion: string }[]): string[] =>
    entries.map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).sort();
  assert.deepEqual(states(thread.pods.getIndexer().list()), states(informer.getIndexer().list()));
  await thread.cache.close();
  assert.deepEqual(deleted, ['pod-7 true']);
  versions.delete('pod-7');
  const newest = informer.getIndexer().list();
  assert.deepEqual(versions, new Map(newest.map(({ name, resourceVersion }) => [name, resourceVersion])));
  await thread.ended;
});

test('C213 a list that was cut by a removal leaves no state behind, although the thread keeps its cache open', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 300);
  const thread = new HeldThread(informer);
  thread.block();
  while (thread.reader.exportedStates === 0) await turns(1);
  await informer.shutdown();
  thread.unblock();
  while (!thread.pods.isStopped() || thread.reader.exportedStates > 0) await turns(1);
  assert.equal(thread.pods.hasSynced(), false);
  await thread.cache.close();
  await thread.ended;
});

test('C298 a cache with a stopped informer opens: that informer has stopped there, and the others follow', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 1);
  await using other = new Scene();
  const stopped = await started(other, 1);
  const cache = new SharedCache({ others: stopped, pods: informer });
  await stopped.shutdown();
  const opened = await openCache<Types>(cache.port());
  await opened.informer('pods').waitForSync();
  const others = opened.informer('others');
  while (!others.isStopped()) await turns(1);
  assert.equal(others.health.lastError?.code, 'ERR_KUBELOOM_STOPPED');
  scene.source.add(pod('later'));
  await settled(informer);
  await opened.informer('pods').waitForResourceVersion(informer.lastSyncResourceVersion());
  await cache.close();
  assert.equal(cache.threads, 0);
});

test('C298 an error in the link of a thread ends the caches of that thread with a warning, and nothing else', async (context) => {
  const warned: string[] = [];
  context.mock.method(process, 'emitWarning', (_: string, { code }: { code: string }) => warned.push(code));
  await using scene = new Scene();
  const informer = await started(scene, 3);
  await using cache = new SharedCache({ pods: informer });
  const port = cache.port();
  const broken = await openCache<Types>(port);
  const whole = await openCache<Types>(cache.port());
  await Promise.all([broken, whole].map((opened) => opened.informer('pods').waitForSync()));
  // The thread returns a row that it does not have.
  const { RingMemory, RingProducer } = await import('../../../src/shared/ring/ring.ts');
  const { writeReturned } = await import('../../../src/shared/record/row.ts');
  const returned = new RingProducer(new RingMemory(port.memory.returned));
  assert.ok(writeReturned(returned, 0, [4000]));
  returned.publish();
  scene.source.modify(pod('pod-1', { app: 'web' }));
  await settled(informer);
  const version = informer.lastSyncResourceVersion();
  await whole.informer('pods').waitForResourceVersion(version);
  while (cache.threads > 1) await turns(1);
  assert.deepEqual(warned, ['ERR_KUBELOOM_ASSERTION']);
  assert.equal(broken.informer('pods').health.lastError?.code, 'ERR_KUBELOOM_ASSERTION');
  assert.equal(informer.stats().handlers.length, 1);
  await cache.close();
  assert.equal(cache.exportedStates, 0);
});

test('C215 a port that was opened before is refused, and its first cache goes on', async () => {
  await using scene = new Scene();
  const informer = await started(scene, 2);
  await using cache = new SharedCache({ pods: informer });
  const port = cache.port();
  const first = await openCache<Types>(port);
  await assert.rejects(openCache<Types>(port), { code: 'ERR_KUBELOOM_STARTED', message: /opened before/ });
  await assert.rejects(openCache<Types>({ ...port }), { code: 'ERR_KUBELOOM_STARTED' });
  // A program that has another copy of kubeloom in the thread might send the message.
  port.transferList[0].postMessage({ type: 'open' });
  await first.informer('pods').waitForSync();
  scene.source.add(pod('later'));
  await settled(informer);
  await first.informer('pods').waitForResourceVersion(informer.lastSyncResourceVersion());
  assert.equal(informer.stats().handlers.length, 1);
  await first.close();
  await cache.close();
  assert.equal(informer.stats().handlers.length, 0);
});

test('C213 a port that the program forgets is closed, and one that is open is not', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await using scene = new Scene();
  const informer = await started(scene, 1);
  await using cache = new SharedCache({ pods: informer });
  const ports = new WeakRef<CachePort>(cache.port());
  const opened = await openCache<Types>(cache.port());
  const readers = (): number => cache.ports;
  assert.equal(readers(), 2);
  while (readers() > 1) {
    await turns(1);
    collect();
  }
  assert.equal(ports.deref(), undefined);
  scene.source.add(pod('later'));
  await settled(informer);
  await opened.informer('pods').waitForResourceVersion(informer.lastSyncResourceVersion());
  await opened.close();
});

test('the drain turns the link of a thread once a round, however many informers the thread has', async (context) => {
  await using scene = new Scene();
  const informers: Record<string, SharedIndexInformer<Pod>> = {};
  for (let number = 0; number < 5; number++) informers[`pods-${number}`] = await started(scene, 0);
  const added = new Set<unknown>();
  const { drain } = scene.threads;
  const add = context.mock.method(drain, 'addMaintenance', (maintenance: () => boolean) => {
    added.add(maintenance);
  });
  const cache = new SharedCache(informers);
  const ports = [cache.port(), cache.port()];
  const opened = await Promise.all(ports.map((port) => openCache(port)));
  assert.equal(add.mock.callCount(), 2 * 5);
  assert.equal(added.size, 2);
  await Promise.all(opened.map((one) => one.close()));
  await cache.close();
});
