/** Tests of Controller and plain informers: client-go's controller_test.go with a scripted source and no waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExplicitKey, metaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import { newInformerWithOptions } from '../../../../src/client-go/controller/informer.ts';
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
  await scene.send(added('a-hello', 2), added('b-controller', 3), added('c-framework', 4));
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
  await scene.run(podList(5, [pod('foo', 4), pod('bar', 5)]));
  assert.deepEqual(seen, [false, false]);
  assert.equal(controller.hasSynced(), true);
  assert.ok(controller.hasSyncedChecker.isDone);
  assert.equal(controller.lastSyncResourceVersion(), '5');
  await scene.send(errorEvent(410, 'Expired'));
  assert.equal(controller.hasSynced(), true);
});

test('The store has the change, and its version, when the handler is called, and follows bookmarks', async () => {
  await using scene = new InformerScene();
  const { store } = scene.informer;
  const seen: string[] = [];
  scene.handler.onCall = (call): unknown =>
    seen.push(`${call}: ${store.listKeys().join()} ${store.lastStoreSyncResourceVersion()}`);
  await scene.run(podList(1, [pod('foo', 1)]));
  await scene.send(modified('foo', 2));
  await scene.send(deleted('foo', 3));
  assert.deepEqual(seen, ['add foo@1 initial: foo 1', 'update foo@1 foo@2: foo 2', 'delete foo@3:  3']);
  await scene.send(bookmark(9));
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
    await scene.run(podList(2, [pod('pod1', 2)]));
    if (isStreaming) await scene.send(added('pod1', 2), bookmark(2, 'true'));
    await scene.send(added('pod2', 3), modified('pod1', 4), deleted('pod2', 5));
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
    await scene.run(podList(1, [pod('foo', 1)]));
    if (isStreaming) await scene.send(added('foo', 1), bookmark(1, 'true'));
    isRenaming = true;
    await scene.send(added('bar', 2));
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
  await scene.run(podList(2, [pod('bad', 1), pod('good', 2)]));
  assert.equal(scene.informer.controller.hasSynced(), true);
  await scene.send(modified('bad', 3), modified('good', 4));
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
  await scene.run(podList(1, []));
  let release: () => void = () => undefined;
  scene.handler.onCall = (call): unknown => {
    sizes.push(scene.informer.store.size);
    return call === 'add first@2' ? new Promise<void>((resolve) => (release = resolve)) : undefined;
  };
  await scene.send(added('first', 2), added('a', 3), added('b', 4), modified('a', 5));
  release();
  await settle();
  assert.deepEqual(scene.handler.take(), ['add first@2', 'add a@3', 'add b@4', 'update a@3 a@5']);
  assert.deepEqual(sizes, [1, 3, 3, 3]);
});

test('A resync delivers the whole store again, unless shouldResync returns false', async () => {
  let isWanted = true;
  const scene = await new InformerScene({ resyncPeriodMs: 1000, shouldResync: () => isWanted }).run(
    podList(1, [pod('foo', 1)]),
  );
  await scene.advance(1000);
  assert.deepEqual(scene.handler.take(), ['add foo@1 initial', 'update foo@1 foo@1']);
  isWanted = false;
  await scene.advance(1000);
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
  const scene = await new InformerScene().run(podList(1, []));
  let release: () => void = () => undefined;
  scene.handler.onCall = (): Promise<void> => new Promise((resolve) => (release = resolve));
  await scene.send(added('foo', 2));
  await scene.send(added('bar', 3));
  let isStopped = false;
  const stopping = scene.stop().then(() => (isStopped = true));
  await settle();
  assert.equal(isStopped, false);
  release();
  await stopping;
  assert.deepEqual(scene.handler.calls, ['add foo@2']);
});
