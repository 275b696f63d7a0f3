/** End or stall of the reflector thread under a load: handlers receive exactly the server's log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { pod } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';
import { Scene } from '../../kit/scene.ts';
import { EXIT, InsideThreads, STOP, THROW, THROW_SOON } from './inside-threads.ts';
import { HANG_MS } from '../../kit/hang.ts';

const EVENTS = 3000;

const CASES = [
  { what: 'reflector throws', file: 'reflector.js', expression: THROW_SOON },
  { what: 'reflector exits', file: 'reflector.js', expression: EXIT },
  { what: 'reflector stops answering', file: 'reflector.js', expression: STOP },
  { what: 'shard throws', file: 'piscina/dist/worker.js', expression: THROW },
] as const;

for (const { what, file, expression } of CASES) {
  test(`when a ${what} under a load, a successor replaces it and no change is lost or repeated`, async () => {
    await using scene = await Scene.start({ threads: { stallTimeoutMs: 1000 } });
    await scene.populate(100);
    const from = await scene.server.revision();
    const watching = await scene.watching();
    await using inside = await InsideThreads.open();
    const mix = { update: 0.8, create: 0.1, delete: 0.1 };
    const load = scene.server.load({ rate: 2000, durationMs: HANG_MS, eventsMax: EVENTS, mix });
    await watching.handler.count(501);
    await inside.run(file, expression);
    await scene.assertHistory(watching, from, (await load).toRevision);
    // A slow machine may also be the cause of a replacement.
    assert.deepEqual(new Set(scene.codes()), new Set(['ERR_KUBELOOM_THREAD_RESTARTED']));
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
