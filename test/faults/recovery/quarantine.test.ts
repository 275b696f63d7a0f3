/** An object that ends every thread that works on it, and threads that end too often. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod } from '../../kit/objects.ts';
import { Scene } from '../../kit/scene.ts';
import { PERFORM, asking } from './asking.ts';

for (const codec of ['json', 'msgpack'] as const) {
  test(`C175 an object that ends two threads is kept with its identity only, and the informer continues (${codec})`, async () => {
    await using scene = await Scene.start({ codec });
    await scene.populate(20);
    const { informer, handler } = await scene.watching({ transform: PERFORM });
    await scene.put(pod('a'), asking('bad', 'exit'), pod('c'));
    await handler.count(23);
    assert.deepEqual(handler.names.slice(20), ['add a', 'add bad', 'add c']);
    await scene.assertEqualsServer(informer);
    const bad = informer.getStore().getByKey('default/bad');
    assert.ok(bad);
    assert.match(bad.uid, /./);
    assert.deepEqual(bad.labels, {});
    for (const read of [() => bad.object, () => bad.bytes(), () => bad.metadata]) {
      assert.throws(read, { code: 'ERR_KUBELOOM_QUARANTINED' });
    }
    const reported = scene.errors.map(({ code, context }) => `${code} ${context.key ?? ''}`);
    assert.deepEqual(reported.toSorted(), [
      'ERR_KUBELOOM_QUARANTINED default/bad',
      'ERR_KUBELOOM_THREAD_RESTARTED ',
      'ERR_KUBELOOM_THREAD_RESTARTED ',
    ]);
    // The object's next state is another record.
    await scene.put(pod('bad', { now: 'good' }));
    await handler.count(24);
    assert.equal(informer.getStore().getByKey('default/bad')?.object.metadata?.labels?.['now'], 'good');
  });
}

test('C176 after too many restarts every informer ends with one coded error, and pending waits reject', async () => {
  await using scene = await Scene.start({ threads: { restartsMax: 1 } });
  const informers = [scene.informer({ transform: PERFORM }), scene.informer()];
  const runs = informers.map((informer) =>
    assert.rejects(informer.run(), {
      code: 'ERR_KUBELOOM_THREAD',
      message: /replaced 1 times within 60000 ms/,
    }),
  );
  for (const informer of informers) await informer.waitForSync();
  const waiting = informers.map((informer) => assert.rejects(informer.waitForResourceVersion('999999')));
  await scene.put(asking('bad', 'exit'));
  await Promise.all([...runs, ...waiting]);
  assert.ok(informers.every((informer) => informer.isStopped()));
  assert.deepEqual(scene.codes().toSorted(), [
    'ERR_KUBELOOM_THREAD',
    'ERR_KUBELOOM_THREAD',
    'ERR_KUBELOOM_THREAD_RESTARTED',
    'ERR_KUBELOOM_THREAD_RESTARTED',
  ]);
});
