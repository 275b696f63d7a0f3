/** Threads that throw, end or stall: new threads list again, and handlers receive the difference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { pod } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';
import { Scene } from '../../kit/scene.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { PERFORM, asking } from './asking.ts';
import { EXIT, InsideThreads } from './inside-threads.ts';

for (const deed of ['exit', 'wait', 'loop']) {
  test(`C173 C178 when the module of a shard does \`${deed}\`, new threads list again, and handlers receive every object once`, async () => {
    await using folder = new TemporaryFolder();
    await using scene = await Scene.start({ threads: { stallTimeoutMs: 1000 }, codec: 'msgpack' });
    await scene.populate(50);
    const watching = await scene.watching({ transform: PERFORM });
    const { informer, handler } = watching;
    await scene.put(pod('a'), asking('b', deed, folder.file('b')), pod('c'), pod('d'));
    await handler.until(() => handler.changedNames.length >= 54);
    assert.deepEqual(handler.changedNames.slice(50), ['add a', 'add b', 'add c', 'add d']);
    await scene.assertConverged(watching);
    assert.equal(informer.getStore().getByKey('default/b')?.object.metadata?.name, 'b');
    // A slow machine may also be the cause of a restart.
    assert.deepEqual(new Set(scene.codes()), new Set(['ERR_KUBELOOM_THREAD_RESTARTED']));
    assert.ok(scene.threads.stats().some(({ restarts }) => restarts > 0));
  });
}

test('C174 an informer with a ListerWatcher lists again after the reflector has ended', async () => {
  const source = new FakeControllerSource<V1Pod>();
  await using scene = await Scene.start();
  const informer = scene.sourced(source);
  source.add(pod('a'));
  const handler = new RecordingHandler();
  informer.addEventHandler(handler);
  void scene.run(informer);
  await settled(informer);
  // The whole list may be delivered before the watch is opened.
  await scene.until(() => source.openWatches === 1);
  await using inside = await InsideThreads.open();
  const watches = source.requests.length;
  await inside.run('reflector.js', EXIT);
  source.modify(pod('a'));
  await scene.until(() => source.requests.length > watches);
  await settled(informer);
  assert.deepEqual(handler.lines, ['add default/a@1', 'update default/a@2']);
  await scene.until(() => source.openWatches === 1);
  assert.deepEqual(
    source.requests.slice(watches).map(({ verb }) => verb),
    ['list', 'watch'],
  );
});
