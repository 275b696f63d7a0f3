/** Tests of the generic lower layers over the fake source of the test kit, which users write their tests with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newInformerWithOptions } from '../../../../src/client-go/controller/informer.ts';
import { FakeClock, FakeControllerSource } from '../../../../src/tools/apiserver/testing/index.ts';
import { RecordingHandler, settle, started } from './scene.ts';
import { pod } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

for (const watchList of [false, true]) {
  const how = watchList ? 'a streaming list' : 'a list';

  test(`A plain informer delivers to its handler the changes of a fake source, after ${how}`, async () => {
    const clock = new FakeClock();
    const fake = new FakeControllerSource<Pod>({ watchList });
    for (const name of ['a', 'b']) fake.add(pod(name));
    const handler = new RecordingHandler();
    const options = { clock, random: () => 0, watchErrorHandler: () => undefined };
    const informer = newInformerWithOptions<Pod>({ listerWatcher: fake, handler, ...options });
    const { store, controller } = informer;
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
    await settle();
    // Past the backoff, which is not random here.
    clock.advance(1000);
    await settle();
    assert.deepEqual(handler.take(), ['missing b b@5', 'update a@3 a@6', 'add c@8']);
    assert.deepEqual(store.list(), fake.items());
    fake.sendBookmarks();
    await settle();
    assert.equal(store.lastStoreSyncResourceVersion(), fake.resourceVersion);
    assert.equal(controller.lastSyncResourceVersion(), fake.resourceVersion);
    await stop();
    assert.equal(fake.openWatches, 0);
    assert.equal(clock.pending, 0);
  });
}
