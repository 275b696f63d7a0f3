/** Lost wake-ups of threads: everything continues, later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { pod } from '../../kit/objects.ts';
import { Scene } from '../../kit/scene.ts';
import { InsideThreads } from './inside-threads.ts';
import { HANG_MS } from '../../kit/hang.ts';

/** One shard, with rings that the reflector fills. */
const SMALL = { indexerThreads: 1, ringBytes: 2 ** 14, stallTimeoutMs: 1000 };

/** Offsets of the bells in the pipeline's words (src/shared/pipeline-layout.ts); a waiting thread also ends its own waits. */
const REFLECTOR_BELL = 64;
const MAIN_BELL = 128;
const NONE = -1;

type Notify = (words: Int32Array, index: number) => number;

/** Returns a `notify` of which each `every`-th call for other threads has no effect. Its text runs in threads, too. */
function losing(notify: Notify, every: number, own: number): Notify {
  let notifies = 0;
  return (words, index) => (index !== own && ++notifies % every === 0 ? 0 : notify(words, index));
}

/** Loses wake-ups in all threads from now on. */
async function lose(t: TestContext, inside: InsideThreads, every: number): Promise<void> {
  const expression = (own: number): string =>
    `Atomics.notify = (${losing.toString()})(Atomics.notify, ${every}, ${own})`;
  await inside.ran('reflector.js', expression(REFLECTOR_BELL));
  await inside.ran('piscina/dist/worker.js', expression(NONE));
  t.mock.method(Atomics, 'notify', losing(Atomics.notify, every, MAIN_BELL));
}

test('every change arrives without any wake-up of threads, and each missed wake-up is counted', async (t) => {
  await using scene = await Scene.start({ threads: SMALL });
  await scene.populate(10);
  const { informer, handler } = await scene.watching();
  await using inside = await InsideThreads.open();
  await lose(t, inside, 1);
  for (let changes = 1; changes <= 3; changes++) {
    await scene.put(pod(`change-${changes}`));
    await handler.count(10 + changes);
  }
  // More than the rings hold, so that the reflector needs a wake-up, too.
  await scene.put(...Array.from({ length: 1000 }, (_, index) => pod(`many-${index}`)));
  await handler.count(1013);
  await scene.assertEqualsServer(informer);
  const lost = scene.threads.stats().map(({ role, lostWakeups }) => [role, lostWakeups]);
  t.mock.restoreAll();
  t.diagnostic(JSON.stringify(lost));
  const ofMain = lost.at(-1)?.[1];
  assert.ok(Number(ofMain) > 0, JSON.stringify(lost));
  // A slow machine may be the cause of a replacement.
  assert.deepEqual(
    scene.codes().filter((code) => code !== 'ERR_KUBELOOM_THREAD_RESTARTED'),
    [],
  );
});

test('no change is lost when one wake-up in a hundred is lost under a load', async (t) => {
  await using scene = await Scene.start({ threads: SMALL });
  const watching = await scene.watching();
  await using inside = await InsideThreads.open();
  await lose(t, inside, 100);
  const from = await scene.server.revision();
  const mix = { update: 0.5, create: 0.4, delete: 0.1 };
  const { toRevision } = await scene.server.load({ rate: 1000, durationMs: HANG_MS, eventsMax: 3000, mix });
  await watching.handler.reached(toRevision);
  t.mock.restoreAll();
  await scene.assertHistory(watching, from, toRevision);
});
