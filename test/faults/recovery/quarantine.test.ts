/** An object that ends every thread that works on it, and threads that end too often. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { transformModule } from '../../../src/index.ts';
import type { ErrorContext, KubeloomError } from '../../../src/index.ts';
import { Harness, Recorder, pod } from '../../unit/informer/pipeline/harness.ts';
import { asking } from './asking.ts';

const MODULE = new URL('./user-module.js', import.meta.url).href;

for (const codec of ['json', 'msgpack'] as const) {
  test(`C175 an object that ends two threads is kept with its identity only, and the informer continues (${codec})`, async () => {
    await using harness = await Harness.start({ threads: 2, codec });
    await harness.server.populate({ count: 20 });
    const reported: string[] = [];
    const informer = harness.informer({
      transform: transformModule(MODULE, 'perform'),
      onError: (error: Error, context: ErrorContext) =>
        reported.push(`${(error as KubeloomError).code} ${context.key ?? ''}`),
    });
    const recorder = new Recorder();
    informer.addEventHandler(recorder);
    await harness.synced(informer);
    const objects = [pod('a'), asking('bad', 'exit'), pod('c')];
    await harness.server.apply(objects.map((object) => ({ type: 'create', resource: 'pods', object })));
    await recorder.until(() => recorder.seen.length === 23);
    assert.deepEqual(
      recorder.seen.slice(20).map(({ key }) => key),
      ['default/a', 'default/bad', 'default/c'],
    );
    await harness.assertStoreEqualsServer(informer);
    const bad = informer.getStore().getByKey('default/bad');
    assert.ok(bad);
    assert.match(bad.uid, /./);
    assert.deepEqual(bad.labels, {});
    for (const read of [() => bad.object, () => bad.bytes(), () => bad.metadata]) {
      assert.throws(read, { code: 'ERR_KUBELOOM_QUARANTINED' });
    }
    assert.deepEqual(reported.toSorted(), [
      'ERR_KUBELOOM_QUARANTINED default/bad',
      'ERR_KUBELOOM_THREAD_RESTARTED ',
      'ERR_KUBELOOM_THREAD_RESTARTED ',
    ]);
    // The object's next state is another record.
    const good: V1Pod = pod('bad', { now: 'good' });
    await harness.server.apply([{ type: 'update', resource: 'pods', object: good }]);
    await recorder.until(() => recorder.seen.length === 24);
    assert.equal(informer.getStore().getByKey('default/bad')?.object.metadata?.labels?.['now'], 'good');
  });
}

test('C176 after too many restarts every informer ends with one coded error, and pending waits reject', async () => {
  await using harness = await Harness.start({ threads: 2, codec: 'json' }, {}, { restartsMax: 1 });
  const informers = [harness.informer({ transform: transformModule(MODULE, 'perform') }), harness.informer()];
  const runs = informers.map((informer) =>
    assert.rejects(informer.run(), {
      code: 'ERR_KUBELOOM_THREAD',
      message: /replaced 1 times within 60000 ms/,
    }),
  );
  for (const informer of informers) await informer.waitForSync();
  const waiting = informers.map((informer) => assert.rejects(informer.waitForResourceVersion('999999')));
  await harness.server.apply([{ type: 'create', resource: 'pods', object: asking('bad', 'exit') }]);
  await Promise.all([...runs, ...waiting]);
  assert.ok(informers.every((informer) => informer.isStopped()));
  const codes = harness.errors.map((error) => (error as KubeloomError).code);
  assert.deepEqual(codes.toSorted(), [
    'ERR_KUBELOOM_THREAD',
    'ERR_KUBELOOM_THREAD',
    'ERR_KUBELOOM_THREAD_RESTARTED',
    'ERR_KUBELOOM_THREAD_RESTARTED',
  ]);
});
