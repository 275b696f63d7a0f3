/** Tests of the generic lower layers over the fake source of the test kit, which users write their tests with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newStore } from '../../../../src/client-go/cache/indexed-store.ts';
import { metaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import { newInformerWithOptions } from '../../../../src/client-go/controller/informer.ts';
import { Reflector } from '../../../../src/client-go/controller/reflector.ts';
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
