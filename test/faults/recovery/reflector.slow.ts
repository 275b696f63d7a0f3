/** End or stall of the reflector thread under a load: handlers receive exactly the server's log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../../../src/index.ts';
import type { KubeloomError } from '../../../src/index.ts';
import { FakeControllerSource, settled } from '../../../src/apiserver/testing/index.ts';
import { Harness, PODS, Recorder, pod } from '../../unit/informer/pipeline/harness.ts';
import { EXIT, InsideThreads, STOP, THROW, THROW_SOON } from './inside-threads.ts';

const EVENTS = 3000;

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await setTimeout(5);
}

async function assertHistory(
  harness: Harness,
  informer: SharedIndexInformer<V1Pod>,
  recorder: Recorder,
  load: Promise<{ toRevision: number }>,
  from: number,
): Promise<void> {
  const { toRevision } = await load;
  await recorder.until(() => Number(recorder.latest?.resourceVersion) >= toRevision);
  const log = await harness.server.log('pods', from);
  assert.deepEqual(
    recorder.seen.slice(100).map((seen) => `${seen.type} ${seen.key}@${seen.resourceVersion}`),
    Array.from(log, ([revision, type, key]) => `${type} ${key}@${revision}`),
  );
  await harness.assertStoreEqualsServer(informer);
}

const CASES = [
  { what: 'reflector throws', file: 'reflector.js', expression: THROW_SOON },
  { what: 'reflector exits', file: 'reflector.js', expression: EXIT },
  { what: 'reflector stops answering', file: 'reflector.js', expression: STOP },
  { what: 'shard throws', file: 'piscina/dist/worker.js', expression: THROW },
] as const;

for (const { what, file, expression } of CASES) {
  test(`when a ${what} under a load, a successor replaces it and no change is lost or repeated`, async () => {
    await using harness = await Harness.start({ threads: 2, codec: 'json' }, {}, { stallTimeoutMs: 1000 });
    await harness.server.populate({ count: 100 });
    const from = await harness.server.revision();
    const informer = harness.informer();
    const recorder = new Recorder();
    informer.addEventHandler(recorder);
    await harness.synced(informer);
    await recorder.until(() => recorder.seen.length === 100);
    await using inside = await InsideThreads.open();
    const load = harness.server.load({
      rate: 2000,
      durationMs: 10_000,
      eventsMax: EVENTS,
      mix: { update: 0.8, create: 0.1, delete: 0.1 },
    });
    await recorder.until(() => recorder.seen.length > 500);
    await inside.run(file, expression);
    await assertHistory(harness, informer, recorder, load, from);
    await until(() => harness.errors.length > 0);
    assert.deepEqual(
      harness.errors.map((error) => (error as KubeloomError).code),
      ['ERR_KUBELOOM_THREAD_RESTARTED'],
    );
  });
}

test('C174 an informer with a ListerWatcher resumes where it was when the reflector is replaced', async () => {
  const source = new FakeControllerSource();
  await using harness = await Harness.start({ threads: 2, codec: 'json' });
  const informer = new SharedIndexInformer(source, PODS, {
    threads: harness.threads,
    onError: () => undefined,
  });
  source.add({ ...pod('a') });
  const lines: string[] = [];
  informer.addEventHandler({
    onAdd: (added) => lines.push(`add ${added.key}`),
    onUpdate: (_old, updated) => lines.push(`update ${updated.key}@${updated.resourceVersion}`),
  });
  const running = informer.run();
  // Report an earlier failure of the test, not this rejection.
  running.catch(() => undefined);
  await settled(informer);
  // The whole list may be delivered before the watch is opened.
  await until(() => source.openWatches === 1);
  await using inside = await InsideThreads.open();
  const watches = source.requests.length;
  await inside.run('reflector.js', EXIT);
  source.modify({ ...pod('a') });
  await until(() => source.requests.length > watches);
  await settled(informer);
  assert.deepEqual(lines, ['add default/a', 'update default/a@2']);
  const again = source.requests.slice(watches);
  assert.deepEqual(
    again.map(({ verb }) => verb),
    ['watch'],
  );
  assert.equal(source.openWatches, 1);
  await informer.shutdown();
  await running;
});
