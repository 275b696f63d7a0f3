/** Repeated deaths of a shard under a load of 20,000 events a second. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { KubeloomError } from '../../../src/index.ts';
import { Harness, Recorder } from '../../unit/informer/pipeline/harness.ts';
import { EXIT, InsideThreads, THROW } from './inside-threads.ts';

const DEATHS = 20;
const RATE = 20_000;

test(
  'twenty deaths in a row at 20,000 events/s: the history equals the server’s, and each thread is replaced in time',
  { timeout: 300_000 },
  async (context) => {
    await using harness = await Harness.start(
      { threads: 2, codec: 'json' },
      // The informer must not be so late that it needs a list, because a list skips history.
      {
        isolation: 'process',
        historyEventsMax: 1_000_000,
        historyBytesMax: 2 ** 31,
        watchBacklogEventsMax: 1_000_000,
      },
      { restartsMax: 100 },
    );
    await harness.server.populate({ count: 1000, objectBytes: 600 });
    const from = await harness.server.revision();
    const informer = harness.informer();
    const recorder = new Recorder();
    informer.addEventHandler(recorder);
    await harness.synced(informer);
    await recorder.until(() => recorder.seen.length === 1000);
    await using inside = await InsideThreads.open();
    let isLoaded = false;
    const load = harness.server
      .load({
        rate: RATE,
        durationMs: 60_000,
        eventsMax: 200_000,
        mix: { update: 0.8, create: 0.1, delete: 0.1 },
      })
      .finally(() => (isLoaded = true));
    let underLoad = 0;
    let slowestMs = 0;
    for (let deaths = 1; deaths <= DEATHS; deaths++) {
      const seen = recorder.seen.length;
      const diedMs = performance.now();
      // One of the shards, or now and then the reflector.
      if (deaths % 5 === 0) await inside.run('reflector.js', EXIT);
      else await inside.run('piscina/dist/worker.js', THROW);
      while (harness.errors.length < deaths) await setTimeout(5);
      slowestMs = Math.max(slowestMs, performance.now() - diedMs);
      // Wait for records after it.
      if (!isLoaded) underLoad++;
      await Promise.race([load, recorder.until(() => recorder.seen.length > seen + 1000)]);
    }
    const { toRevision } = await load;
    await recorder.until(() => Number(recorder.latest?.resourceVersion) >= toRevision);
    const log = await harness.server.log('pods', from);
    const expected = Array.from(log, ([revision, type, key]) => `${type} ${key}@${revision}`);
    const actual = recorder.seen
      .slice(1000)
      .map((seen) => `${seen.type} ${seen.key}@${seen.resourceVersion}`);
    assert.equal(actual.length, expected.length);
    assert.deepEqual(actual, expected);
    await harness.assertStoreEqualsServer(informer);
    const codes = new Set(harness.errors.map((error) => (error as KubeloomError).code));
    assert.deepEqual([...codes], ['ERR_KUBELOOM_THREAD_RESTARTED']);
    assert.equal(harness.errors.length, DEATHS);
    context.diagnostic(
      `${expected.length} events, ${underLoad} of ${DEATHS} deaths under load, the longest outage ${Math.round(slowestMs)} ms`,
    );
  },
);
