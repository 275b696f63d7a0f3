/** Many real threads: more of them than processors, threads that end at any point, and threads of the informer that are replaced. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import { seededRandom, settled, startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { InsideThreads, THROW, THROW_SOON } from '../../faults/recovery/inside-threads.ts';
import { PODS } from '../../kit/objects.ts';
import { kubeConfigOf } from '../../kit/scene.ts';
import { wholeNumber } from '../shared/ring/random.ts';
import { Scene, pod, turns } from '../informer/scene.ts';
import type { Pod } from '../informer/scene.ts';
import { stateOf } from './reader-state.ts';
import type { ReaderState } from './reader-state.ts';
import { Reading, ended } from './reading.ts';
import { SharedCache } from '../../../src/thread/index.ts';
import { HANG_MS } from '../../kit/hang.ts';

/** Threads that end with their scope. */
class Readings implements AsyncDisposable {
  readonly all: Reading[] = [];

  static async start(cache: SharedCache, count: number): Promise<Readings> {
    const readings = new Readings();
    const started = Array.from({ length: count }, () => Reading.start(cache.port()));
    readings.all.push(...(await Promise.all(started)));
    return readings;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((reading) => reading[Symbol.asyncDispose]()));
  }
}

/** Asserts that every thread has the main thread's cache, object for object, and that its handler has received it. */
async function assertLevel<T>(informer: SharedIndexInformer<T>, readings: readonly Reading[]): Promise<void> {
  await settled(informer);
  const resourceVersion = informer.lastSyncResourceVersion();
  const expected = stateOf(informer.getIndexer());
  for (const reading of readings) {
    const state = (await reading.ask({ type: 'state', resourceVersion })) as ReaderState;
    assert.deepEqual(state.errors, []);
    assert.deepEqual(state.cached, expected);
    assert.deepEqual(
      state.received,
      expected.map((line) => line.split(' ')[0]),
    );
  }
}

/** Asserts that nothing is left of threads that have ended. */
async function assertNothingLeft(scene: Scene, informer: SharedIndexInformer<Pod>): Promise<void> {
  assert.equal(informer.stats().handlers.length, 0);
  for (const { name } of informer.getIndexer().list()) scene.source.delete(pod(name));
  await settled(informer);
  assert.deepEqual(informer.stats().storeBytes, { plain: 0, packed: 0 });
}

const THREADS = 16;
const REPLACEMENTS = 2;

test(`${THREADS} threads have the server's objects after shards and reflectors of the main thread were replaced`, async () => {
  await using server = await startEmbeddedApiServer({ isolation: 'process', historyEventsMax: 1_000_000 });
  await server.populate({ count: 500 });
  await using threads = new InformerThreads({ indexerThreads: 2 });
  const options = { threads, backoff: { initialMs: 5, maxMs: 50 }, onError: () => undefined };
  await using informer = new SharedIndexInformer(kubeConfigOf(server), PODS, options);
  void informer.run();
  await informer.waitForSync();
  await using cache = new SharedCache({ pods: informer });
  await using readings = await Readings.start(cache, THREADS);
  await using inside = await InsideThreads.open();
  const restarts = (): number => threads.stats().reduce((sum, { restarts: count }) => sum + count, 0);
  const mix = { update: 80, create: 10, delete: 10 };
  for (let round = 0; round < REPLACEMENTS; round++) {
    const load = server.load({ rate: 500, durationMs: HANG_MS, eventsMax: 1000, mix, seed: round });
    for (const [file, expression] of [
      ['piscina/dist/worker.js', THROW],
      ['reflector.js', THROW_SOON],
    ] as const) {
      const before = restarts();
      await inside.run(file, expression);
      while (restarts() === before) await turns(1);
    }
    await load;
  }
  await assertLevel(informer, readings.all);
  const versions = await server.state('pods');
  const expected = Array.from(versions, ([key, version]) => `${key}@${version}`).sort();
  const [first] = stateOf(informer.getIndexer());
  assert.ok(first !== undefined);
  assert.deepEqual(
    stateOf(informer.getIndexer()).map((line) => line.split(' ')[0]),
    expected,
  );
});

/** Ends of a thread, by the parent or from within. */
const ENDS = ['terminate', 'exit', 'throw', 'fill the heap', 'block', 'close'] as const;
const LIVES = 60;
const AT_ONCE = 3;
const OBJECTS = 200;

/**
 * Changes objects while the thread starts, lists and follows, and ends it after a random number of changes.
 *
 * @param deleted names of objects that the source does not have
 */
async function oneLife(scene: Scene, cache: SharedCache, deleted: Set<string>, seed: number): Promise<void> {
  const random = seededRandom(seed);
  await using reading = Reading.begin(cache.port());
  const end = ENDS[seed % ENDS.length] ?? 'terminate';
  const changes = wholeNumber(random, 0, 400);
  for (let change = 0; change < changes; change++) {
    const name = `pod-${wholeNumber(random, 0, OBJECTS - 1)}`;
    if (random() < 0.2 && deleted.size < OBJECTS / 2 && !deleted.has(name)) {
      scene.source.delete(pod(name));
      deleted.add(name);
    } else {
      scene.source.modify(pod(name, { change: `${seed}-${change}` }));
      deleted.delete(name);
    }
    if (random() < 0.1) scene.source.add(pod(`life-${seed}-${change}`));
    if (random() < 0.3) await turns(1);
  }
  if (end === 'terminate') {
    await reading.worker.terminate();
    return;
  }
  // A thread that is not ready takes it then. One that blocks has to be terminated, with all that has no room by then.
  reading.worker.postMessage({ type: end });
  if (end === 'block') {
    for (let change = 0; change < 50; change++) {
      scene.source.modify(pod('pod-0', { change: `${seed}-blocked-${change}` }));
      await turns(1);
    }
    await reading.worker.terminate();
  }
  await reading.exited;
}

test('a thread that ends at any point leaves nothing held, and no call of the main thread waits for it', async (t) => {
  await using scene = new Scene();
  for (let number = 0; number < OBJECTS; number++) scene.source.add(pod(`pod-${number}`));
  const informer = scene.informer();
  await scene.started(informer);
  const cache = new SharedCache({ pods: informer });
  const deleted = new Set<string>();
  {
    await using steady = await Readings.start(cache, 2);
    for (let seed = 0; seed < LIVES; seed += AT_ONCE) {
      const lives = Array.from({ length: AT_ONCE }, (_, index) =>
        oneLife(scene, cache, deleted, seed + index),
      );
      await Promise.all(lives);
      if (seed % 10 === 0) await scene.relisted(informer);
    }
    await assertLevel(informer, steady.all);
    while (cache.threads > 2) await turns(1);
    assert.equal(informer.stats().handlers.length, 2);
    assert.equal(cache.exportedStates, 2 * informer.getIndexer().size);
  }
  await ended(cache);
  await cache.close();
  await assertNothingLeft(scene, informer);
  t.diagnostic(`${LIVES} threads ended, errors ${scene.codes.join(' ')}`);
});
