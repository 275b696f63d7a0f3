/** Tests of Controller and plain informers: client-go's controller_test.go with a scripted source and no waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newStore } from '../../../../src/client-go/cache/indexed-store.ts';
import {
  ExplicitKey,
  deletionHandlingMetaNamespaceKeyFunc,
  metaNamespaceKeyFunc,
} from '../../../../src/kube/keys.ts';
import { newController } from '../../../../src/client-go/controller/controller.ts';
import { newInformerWithOptions } from '../../../../src/client-go/controller/informer.ts';
import { processDeltas } from '../../../../src/client-go/controller/process-deltas.ts';
import type { Deltas } from '../../../../src/client-go/queue/delta.ts';
import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { InformerScene, settle, started } from './scene.ts';
import type { Pod } from './scripted-lister-watcher.ts';
import {
  ScriptedListerWatcher,
  added,
  bookmark,
  deleted,
  errorEvent,
  modified,
  pod,
  podList,
} from './scripted-lister-watcher.ts';

test('A handler that deletes each delivered object receives every deletion', async () => {
  await using scene = new InformerScene();
  scene.source.listAnswers.push(podList(1, []));
  scene.handler.onCall = (call): void => {
    const [verb, name = ''] = call.split(/[ @]/);
    if (verb === 'add') scene.source.watching.send(deleted(name, 9));
  };
  await scene.run();
  scene.source.watching.send(added('a-hello', 2), added('b-controller', 3), added('c-framework', 4));
  await settle();
  const deletions = scene.handler.calls.filter((call) => call.startsWith('delete'));
  assert.deepEqual(deletions, ['delete a-hello@9', 'delete b-controller@9', 'delete c-framework@9']);
  assert.deepEqual(scene.informer.store.listKeys(), []);
});

test('A controller has synced when the first list has been processed, not before, and stays synced after a disconnect', async () => {
  await using scene = new InformerScene();
  const { controller } = scene.informer;
  const seen: boolean[] = [];
  scene.handler.onCall = (): unknown => seen.push(controller.hasSynced());
  assert.equal(controller.hasSynced(), false);
  assert.equal(controller.lastSyncResourceVersion(), '');
  scene.source.listAnswers.push(podList(5, [pod('foo', 4), pod('bar', 5)]));
  await scene.run();
  assert.deepEqual(seen, [false, false]);
  assert.equal(controller.hasSynced(), true);
  assert.ok(controller.hasSyncedChecker.isDone);
  assert.equal(controller.lastSyncResourceVersion(), '5');
  scene.source.watching.send(errorEvent(410, 'Expired'));
  await settle();
  assert.equal(controller.hasSynced(), true);
});

test('After lost events and a new list, atomic or not, no object is in the initial list', async () => {
  const store = newStore<Pod>(deletionHandlingMetaNamespaceKeyFunc);
  const plain = new RealFIFO<Pod>({ knownObjects: store });
  const clock = new FakeClock();
  const scenes = [new InformerScene(), new InformerScene()] as const;
  const [atomic, other] = scenes;
  const controller = newController<Pod, Deltas<Pod>>({
    queue: plain,
    listerWatcher: other.source,
    clock,
    random: () => 0,
    watchErrorHandler: () => undefined,
    process: (deltas, isInInitialList) => processDeltas(other.handler, store, deltas, isInInitialList),
  });
  for (const { source } of scenes) source.listAnswers.push(podList(1, [pod('pod-1', 1), pod('pod-0', 1)]));
  await atomic.run();
  const running = controller.run({ signal: other.signal });
  await settle();
  for (const { source } of scenes) {
    source.listAnswers.push(podList(4, [pod('pod-1', 3), pod('pod-2', 4)]));
    source.watching.send(errorEvent(410, 'Expired'));
  }
  await settle();
  atomic.clock.advance(800);
  clock.advance(800);
  await settle();
  for (const { handler } of scenes) {
    assert.deepEqual(handler.calls, [
      'add pod-1@1 initial',
      'add pod-0@1 initial',
      'missing pod-0 pod-0@1',
      'update pod-1@1 pod-1@3',
      'add pod-2@4',
    ]);
  }
  await atomic.stop();
  await other.stop();
  await running;
});

test('The store has the version of an event when the handler is called, and follows bookmarks', async () => {
  await using scene = new InformerScene();
  const { store } = scene.informer;
  const versions: string[] = [];
  scene.handler.onCall = (): unknown => versions.push(store.lastStoreSyncResourceVersion());
  scene.source.listAnswers.push(podList(1, [pod('foo', 1)]));
  await scene.run();
  scene.source.watching.send(modified('foo', 2));
  await settle();
  scene.source.watching.send(deleted('foo', 3));
  await settle();
  assert.deepEqual(versions, ['1', '2', '3']);
  scene.source.watching.send(bookmark(9));
  await settle();
  assert.equal(store.lastStoreSyncResourceVersion(), '9');
});

test('When the transform removes the version, the store keeps its version until the next list', async () => {
  const source = new ScriptedListerWatcher();
  const clock = new FakeClock();
  const { store, controller } = newInformerWithOptions<Pod | ExplicitKey>({
    listerWatcher: source,
    handler: {},
    clock,
    random: () => 0,
    watchErrorHandler: () => undefined,
    transform: (object) => new ExplicitKey(metaNamespaceKeyFunc(object)),
  });
  source.listAnswers.push(podList(1, [pod('foo', 1)]), podList(3, [pod('foo', 2)]));
  const stop = await started(controller);
  source.watching.send(modified('foo', 2));
  await settle();
  assert.equal(store.lastStoreSyncResourceVersion(), '1');
  source.watching.send(errorEvent(410, 'Expired'));
  await settle();
  clock.advance(800);
  await settle();
  assert.equal(store.lastStoreSyncResourceVersion(), '3');
  assert.ok(store.getByKey('foo') instanceof ExplicitKey);
  await stop();
});

test("Store and handler receive only the transform's results, old objects included; it runs once for each object", async () => {
  for (const isStreaming of [false, true]) {
    const seen: string[] = [];
    const transform = (object: Pod): Pod => {
      seen.push(object.metadata.resourceVersion);
      return {
        ...object,
        metadata: { ...object.metadata, resourceVersion: `${object.metadata.resourceVersion}t` },
      };
    };
    const scene = new InformerScene({ transform });
    scene.source.isWatchListUnsupported = !isStreaming;
    scene.source.listAnswers.push(podList(2, [pod('pod1', 2)]));
    await scene.run();
    if (isStreaming) scene.source.watching.send(added('pod1', 2), bookmark(2, 'true'));
    await settle();
    scene.source.watching.send(added('pod2', 3), modified('pod1', 4), deleted('pod2', 5));
    await settle();
    assert.deepEqual(scene.handler.calls, [
      'add pod1@2t initial',
      'add pod2@3t',
      'update pod1@2t pod1@4t',
      'delete pod2@5t',
    ]);
    assert.deepEqual(seen, ['2', '3', '4', '5']);
    assert.equal(scene.informer.store.getByKey('pod1')?.metadata.resourceVersion, '4t');
    await scene.stop();
  }
});

test('C128 A transform that fails is reported, and the object is stored as received: listed, streamed or watched', async () => {
  for (const isStreaming of [false, true]) {
    let isRenaming = false;
    const transform = (): Pod => {
      if (isRenaming) return pod('renamed');
      throw new Error('no');
    };
    const scene = new InformerScene({ transform });
    scene.source.isWatchListUnsupported = !isStreaming;
    scene.source.listAnswers.push(podList(1, [pod('foo', 1)]));
    await scene.run();
    if (isStreaming) scene.source.watching.send(added('foo', 1), bookmark(1, 'true'));
    await settle();
    isRenaming = true;
    scene.source.watching.send(added('bar', 2));
    await settle();
    assert.deepEqual(scene.handler.calls, ['add foo@1 initial', 'add bar@2']);
    assert.deepEqual(scene.errors, ['transform ERR_KUBELOOM_TRANSFORM', 'transform ERR_KUBELOOM_TRANSFORM']);
    assert.equal(scene.informer.controller.hasSynced(), true);
    await scene.stop();
  }
});

test("C125 A handler's error is reported, the informer syncs and continues", async () => {
  await using scene = new InformerScene();
  scene.handler.onCall = (call): void => {
    if (call.includes('bad')) throw new Error('no');
  };
  scene.source.listAnswers.push(podList(2, [pod('bad', 1), pod('good', 2)]));
  await scene.run();
  assert.equal(scene.informer.controller.hasSynced(), true);
  scene.source.watching.send(modified('bad', 3), modified('good', 4));
  await settle();
  assert.deepEqual(scene.handler.calls, [
    'add bad@1 initial',
    'add good@2 initial',
    'update bad@1 bad@3',
    'update good@2 good@4',
  ]);
  assert.deepEqual(scene.errors, ['process ERR_KUBELOOM_PROCESS', 'process ERR_KUBELOOM_PROCESS']);
});

test('Events that came together are processed as a batch, each change delivered in the order of the watch', async () => {
  await using scene = new InformerScene();
  const sizes: number[] = [];
  scene.handler.onCall = (): unknown => sizes.push(scene.informer.store.size);
  scene.source.listAnswers.push(podList(1, []));
  await scene.run();
  let release: () => void = () => undefined;
  scene.handler.onCall = (call): unknown => {
    sizes.push(scene.informer.store.size);
    return call === 'add first@2' ? new Promise<void>((resolve) => (release = resolve)) : undefined;
  };
  scene.source.watching.send(added('first', 2), added('a', 3), added('b', 4), modified('a', 5));
  await settle();
  release();
  await settle();
  assert.deepEqual(scene.handler.take(), ['add first@2', 'add a@3', 'add b@4', 'update a@3 a@5']);
  assert.deepEqual(sizes, [1, 3, 3, 3]);
});

test('A resync delivers the whole store again, unless shouldResync returns false', async () => {
  let isWanted = true;
  const scene = new InformerScene({ resyncPeriodMs: 1000, shouldResync: () => isWanted });
  scene.source.listAnswers.push(podList(1, [pod('foo', 1)]));
  await scene.run();
  scene.clock.advance(1000);
  await settle();
  assert.deepEqual(scene.handler.take(), ['add foo@1 initial', 'update foo@1 foo@1']);
  isWanted = false;
  scene.clock.advance(1000);
  await settle();
  assert.deepEqual(scene.handler.take(), []);
  await scene.stop();
  assert.equal(scene.clock.pending, 0);
});

test('A controller runs once: a second run is a coded error, before and after the stop', async () => {
  const scene = await new InformerScene().run();
  const { controller } = scene.informer;
  await assert.rejects(controller.run({ signal: scene.signal }), { code: 'ERR_KUBELOOM_STARTED' });
  await scene.stop();
  await assert.rejects(controller.run({ signal: new AbortController().signal }), {
    code: 'ERR_KUBELOOM_STARTED',
  });
});

test('A controller stopped before it runs sends no request', async () => {
  const scene = new InformerScene();
  await scene.stop();
  await scene.run();
  await scene.stop();
  assert.deepEqual(scene.source.calls, []);
});

test('A stop waits for the call in progress; the queued changes are not delivered', async () => {
  const scene = new InformerScene();
  scene.source.listAnswers.push(podList(1, []));
  await scene.run();
  let release: () => void = () => undefined;
  scene.handler.onCall = (): Promise<void> => new Promise((resolve) => (release = resolve));
  scene.source.watching.send(added('foo', 2));
  await settle();
  scene.source.watching.send(added('bar', 3));
  await settle();
  let isStopped = false;
  const stopping = scene.stop().then(() => (isStopped = true));
  await settle();
  assert.equal(isStopped, false);
  release();
  await stopping;
  assert.deepEqual(scene.handler.calls, ['add foo@2']);
});
