/** Repeated deaths of shards and the reflector, which throw, exit or stop answering, under a load of 20,000 events a second. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { Scene } from '../../kit/scene.ts';
import { EXIT, InsideThreads, STOP, THROW, THROW_SOON } from './inside-threads.ts';
import { HANG_MS } from '../../kit/hang.ts';

const DEATHS = 20;
const RATE = 20_000;
/** Ends of the reflector, by the number of the death; all others are of shards. */
const REFLECTOR_DEEDS: Readonly<Record<number, string>> = { 5: EXIT, 10: THROW_SOON, 15: STOP };

test('caches and handlers converge although twenty threads die in a row at 20,000 events a second', async (context) => {
  await using scene = await Scene.start({
    server: { isolation: 'process' },
    threads: { restartsMax: 100 },
  });
  await scene.populate(1000);
  const watching = await scene.watching();
  const { handler } = watching;
  await using inside = await InsideThreads.open();
  /** Errors but the report that a busy machine lets the handler fall behind, which delays nothing else. */
  const codes = (): string[] => scene.codes().filter((code) => code !== 'ERR_KUBELOOM_SLOW_HANDLER');
  let isLoaded = false;
  const mix = { update: 0.8, create: 0.1, delete: 0.1 };
  const load = scene.server
    .load({ rate: RATE, durationMs: HANG_MS, eventsMax: 200_000, mix })
    .finally(() => (isLoaded = true));
  let underLoad = 0;
  for (let deaths = 1; deaths <= DEATHS; deaths++) {
    const seen = handler.calls.length;
    // One of the shards, or now and then the reflector.
    const deed = REFLECTOR_DEEDS[deaths];
    if (deed === undefined) await inside.end('piscina/dist/worker.js', THROW);
    else await inside.end('reflector.js', deed);
    await scene.untilReported(() => codes().length >= deaths);
    // Wait for records after it.
    if (!isLoaded) underLoad++;
    await Promise.race([load, handler.until(() => handler.calls.length > seen + 1000)]);
  }
  await load;
  await settled(watching.informer);
  await scene.assertConverged(watching);
  const events = handler.calls.length - 1000;
  // A slow machine may also be the cause of a restart.
  assert.deepEqual(new Set(codes()), new Set(['ERR_KUBELOOM_THREAD_RESTARTED']));
  context.diagnostic(`${events} events, ${underLoad} of ${DEATHS} deaths under load`);
});
