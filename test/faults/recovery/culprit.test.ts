/** An object that ends every thread that works on it, and threads that end too often. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod } from '../../kit/objects.ts';
import { Scene } from '../../kit/scene.ts';
import { PERFORM, asking } from './asking.ts';

for (const codec of ['json', 'msgpack'] as const) {
  test(`C175 an informer whose module ends its thread again and again ends by name, and the others continue (${codec})`, async () => {
    await using scene = await Scene.start({ codec, threads: { restartsMax: 2 } });
    await scene.populate(20);
    const other = await scene.watching();
    const { informer, handler } = other;
    const culprit = scene.informer({ transform: PERFORM });
    const ended = assert.rejects(culprit.run(), {
      code: 'ERR_KUBELOOM_THREAD',
      message: /object of this informer.*restarted 2 times within 60000 ms/s,
    });
    await culprit.waitForSync();
    const waiting = assert.rejects(culprit.waitForResourceVersion('999999'));
    await scene.put(pod('a'), asking('bad', 'exit'), pod('c'));
    await Promise.all([ended, waiting]);
    assert.ok(culprit.isStopped());
    await scene.put(pod('d'));
    await handler.until(() => handler.held().size === 24);
    await scene.assertConverged(other);
    assert.ok(!informer.isStopped());
    const codes = scene.codes();
    assert.equal(codes.filter((code) => code === 'ERR_KUBELOOM_THREAD').length, 1);
    assert.deepEqual(new Set(codes), new Set(['ERR_KUBELOOM_THREAD', 'ERR_KUBELOOM_THREAD_RESTARTED']));
  });
}

test('C176 after too many restarts every informer ends with one coded error, and pending waits reject', async () => {
  await using scene = await Scene.start({ threads: { restartsMax: 0 } });
  const informers = [scene.informer({ transform: PERFORM }), scene.informer()];
  const runs = informers.map((informer) =>
    assert.rejects(informer.run(), {
      code: 'ERR_KUBELOOM_THREAD',
      message: /restarted 0 times within 60000 ms/,
    }),
  );
  for (const informer of informers) await informer.waitForSync();
  const waiting = informers.map((informer) => assert.rejects(informer.waitForResourceVersion('999999')));
  await scene.put(asking('bad', 'exit'));
  await Promise.all([...runs, ...waiting]);
  assert.ok(informers.every((informer) => informer.isStopped()));
  assert.deepEqual(scene.codes(), ['ERR_KUBELOOM_THREAD', 'ERR_KUBELOOM_THREAD']);
});
