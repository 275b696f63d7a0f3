/** Threads that throw, end or stall are replaced, and handlers notice nothing. */
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
  test(`C173 C178 a shard whose module does \`${deed}\` is replaced, and handlers receive everything once`, async () => {
    await using folder = new TemporaryFolder();
    await using scene = await Scene.start({ threads: { stallTimeoutMs: 1000 }, codec: 'msgpack' });
    await scene.populate(50);
    const { informer, handler } = await scene.watching({ transform: PERFORM });
    await scene.put(pod('a'), asking('b', deed, folder.file('b')), pod('c'), pod('d'));
    await handler.count(54);
    assert.deepEqual(handler.names.slice(50), ['add a', 'add b', 'add c', 'add d']);
    await scene.assertEqualsServer(informer);
    assert.equal(informer.getStore().getByKey('default/b')?.object.metadata?.name, 'b');
    // A slow machine may also be the cause of a replacement.
    assert.deepEqual(new Set(scene.codes()), new Set(['ERR_KUBELOOM_THREAD_RESTARTED']));
    const stats = scene.threads.stats();
    assert.ok(stats.some(({ restarts }) => restarts > 0));
    assert.ok(stats.every(({ incarnation, restarts }) => incarnation === restarts + 1));
  });
}

test('C174 an informer with a ListerWatcher resumes where it was when the reflector is replaced', async () => {
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
  const [request, ...others] = source.requests.slice(watches);
  assert.deepEqual([request?.verb, others], ['watch', []]);
  assert.equal(source.openWatches, 1);
});
