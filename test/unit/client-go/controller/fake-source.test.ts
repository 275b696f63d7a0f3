/** Tests of the generic lower layers over the fake source of the test kit, which users write their tests with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newIndexer, newStore } from '../../../../src/client-go/cache/indexed-store.ts';
import { deletionHandlingMetaNamespaceKeyFunc, metaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import { newController } from '../../../../src/client-go/controller/controller.ts';
import { newIndexerInformer, newInformerWithOptions } from '../../../../src/client-go/controller/informer.ts';
import { processDeltas } from '../../../../src/client-go/controller/process-deltas.ts';
import { Reflector } from '../../../../src/client-go/controller/reflector.ts';
import { DeltaFIFO } from '../../../../src/client-go/queue/delta-fifo.ts';
import { FakeClock, FakeControllerSource } from '../../../../src/tools/apiserver/testing/index.ts';
import { RecordingHandler, settle, started } from './scene.ts';
import { pod } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

/** Without and with streaming lists. */
const SOURCES = [false, true] as const;

function source(watchList: boolean, ...names: readonly string[]): FakeControllerSource<Pod> {
  const made = new FakeControllerSource<Pod>({ watchList });
  for (const name of names) made.add(pod(name));
  return made;
}

/** Advances past the backoff, which is not random here, and waits until everything else is done. */
async function passed(clock: FakeClock): Promise<void> {
  await settle();
  clock.advance(1000);
  await settle();
}

for (const watchList of SOURCES) {
  const how = watchList ? 'a streaming list' : 'a list';

  test(`A reflector keeps a store equal to a fake source, starting with ${how}`, async () => {
    const clock = new FakeClock();
    const fake = source(watchList, 'a', 'b');
    const store = newStore<Pod>(metaNamespaceKeyFunc);
    const reflector = new Reflector(fake, { kind: 'Pod' }, store, { clock, random: () => 0 });
    const stop = await started(reflector);
    fake.modify(pod('a'));
    fake.delete(pod('b'));
    fake.add(pod('c'));
    await settle();
    assert.deepEqual(store.list(), fake.items());
    assert.equal(reflector.lastSyncResourceVersion(), fake.resourceVersion);
    assert.equal(store.lastStoreSyncResourceVersion(), fake.resourceVersion);
    fake.addDropWatch(pod('d'));
    fake.deleteDropWatch(pod('a'));
    fake.resetWatch();
    await passed(clock);
    assert.deepEqual(store.listKeys(), ['c', 'd']);
    assert.equal(reflector.lastSyncResourceVersion(), fake.resourceVersion);
    await stop();
    assert.equal(fake.openWatches, 0);
    assert.equal(clock.pending, 0);
  });

  test(`A reflector of an empty fake source, after ${how}, receives the first object`, async () => {
    const clock = new FakeClock();
    const fake = source(watchList);
    const store = newStore<Pod>(metaNamespaceKeyFunc);
    const reflector = new Reflector(fake, undefined, store, { clock, random: () => 0 });
    const stop = await started(reflector);
    fake.add(pod('a'));
    await settle();
    assert.deepEqual(store.listKeys(), ['a']);
    assert.equal(reflector.lastSyncResourceVersion(), '1');
    await stop();
  });

  test(`A plain informer delivers to its handler the changes of a fake source, after ${how}`, async () => {
    const clock = new FakeClock();
    const fake = source(watchList, 'a', 'b');
    const handler = new RecordingHandler();
    const errors: string[] = [];
    const { store, controller } = newInformerWithOptions<Pod>({
      listerWatcher: fake,
      handler,
      clock,
      random: () => 0,
      watchErrorHandler: ({ code }) => errors.push(code),
    });
    const stop = await started(controller);
    await controller.hasSyncedChecker.done;
    await settle();
    assert.deepEqual(handler.take(), ['add a@1 initial', 'add b@2 initial']);
    fake.modify(pod('a'));
    fake.delete(pod('b'));
    await settle();
    assert.deepEqual(handler.take(), ['update a@1 a@3', 'delete b@4']);
    fake.add(pod('b'));
    await settle();
    handler.take();
    fake.modifyDropWatch(pod('a'));
    fake.deleteDropWatch(pod('b'));
    fake.addDropWatch(pod('c'));
    fake.resetWatch();
    await passed(clock);
    assert.deepEqual(handler.take(), ['missing b b@5', 'update a@3 a@6', 'add c@8']);
    assert.deepEqual(store.list(), fake.items());
    fake.sendBookmarks();
    await settle();
    assert.equal(store.lastStoreSyncResourceVersion(), fake.resourceVersion);
    await stop();
    assert.equal(fake.openWatches, 0);
    assert.equal(clock.pending, 0);
  });
}

test('An ordinary end of a watch of a fake source is followed by a watch, without a list', async () => {
  const clock = new FakeClock();
  const fake = source(false, 'a');
  const store = newStore<Pod>(metaNamespaceKeyFunc);
  const stop = await started(new Reflector(fake, undefined, store, { clock, random: () => 0 }));
  clock.advance(2000);
  fake.endWatches();
  await settle();
  fake.add(pod('b'));
  await settle();
  assert.deepEqual(
    fake.requests.map(({ verb, options }) => `${verb} ${options.resourceVersion}`),
    ['list 0', 'watch 1', 'watch 1'],
  );
  assert.deepEqual(store.listKeys(), ['a', 'b']);
  await stop();
});

test('Errors of a fake source are reported, and the informer lists as soon as they end', async () => {
  const clock = new FakeClock();
  const fake = source(false, 'a');
  const errors: string[] = [];
  const handler = new RecordingHandler();
  const { controller } = newInformerWithOptions<Pod>({
    listerWatcher: fake,
    handler,
    clock,
    random: () => 0,
    watchErrorHandler: ({ code }, during) => errors.push(`${during} ${code}`),
  });
  fake.listError = new Error('no list');
  const stop = await started(controller);
  assert.equal(controller.hasSynced(), false);
  fake.listError = undefined;
  fake.watchError = new Error('no watch');
  await passed(clock);
  assert.deepEqual(handler.take(), ['add a@1 initial']);
  fake.watchError = undefined;
  fake.add(pod('b'));
  clock.advance(10_000);
  await settle();
  assert.deepEqual(handler.take(), ['add b@2']);
  assert.deepEqual(errors, ['list ERR_KUBELOOM_LISTER_WATCHER', 'watch ERR_KUBELOOM_LISTER_WATCHER']);
  await stop();
});

test('An indexer informer finds objects of a fake source by its indices', async () => {
  const fake = new FakeControllerSource<Pod>();
  const labelled = (name: string, app: string): Pod => {
    const made = pod(name);
    return { ...made, metadata: { ...made.metadata, labels: { app } } };
  };
  fake.add(labelled('a', 'web'));
  const indexers = { app: ({ metadata }: Pod) => [metadata.labels?.['app'] ?? ''] };
  const { store, controller } = newIndexerInformer(fake, undefined, 0, {}, indexers);
  const stop = await started(controller);
  await controller.hasSyncedChecker.done;
  fake.add(labelled('b', 'web'));
  fake.modify(labelled('a', 'db'));
  await settle();
  assert.deepEqual(store.indexKeys('app', 'web'), ['b']);
  assert.deepEqual(store.listIndexFuncValues('app').toSorted(), ['db', 'web']);
  await stop();
});

test('A controller with a DeltaFIFO resyncs the known objects of a fake source', async () => {
  const clock = new FakeClock();
  const fake = source(false, 'a');
  const store = newIndexer<Pod>(deletionHandlingMetaNamespaceKeyFunc, {});
  const queue = new DeltaFIFO<Pod>({ knownObjects: store, emitDeltaTypeReplaced: true });
  const handler = new RecordingHandler();
  const controller = newController({
    queue,
    listerWatcher: fake,
    clock,
    random: () => 0,
    fullResyncPeriodMs: 5000,
    process: (deltas, isInInitialList) => processDeltas(handler, store, deltas, isInInitialList),
  });
  const stop = await started(controller);
  assert.deepEqual(handler.take(), ['add a@1 initial']);
  clock.advance(5000);
  await settle();
  assert.deepEqual(handler.take(), ['update a@1 a@1']);
  fake.delete(pod('a'));
  await settle();
  assert.deepEqual(handler.take(), ['delete a@2']);
  clock.advance(5000);
  await settle();
  assert.deepEqual(handler.take(), []);
  await stop();
  assert.equal(clock.pending, 0);
});
