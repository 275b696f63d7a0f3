/** Packing while another thread has the cache, and nothing changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeloomError } from '../../../src/index.ts';
import { FakeClock, FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import { PackedObjects } from '../../../src/replica/store/packed-objects.ts';
import { SharedCache, openCache } from '../../../src/thread/index.ts';
import { PODS, pod } from '../informer/scene.ts';
import type { Pod } from '../informer/scene.ts';

const OBJECTS = 300;
/** Longer than the pause between two rounds. */
const ROUND_MS = 1000;
const TURNS_MAX = 10_000;

test('C292 a defect of packing is reported, and the informer goes on', async (t) => {
  t.mock.method(PackedObjects.prototype, 'round', function* () {
    yield;
    throw new RangeError('a defect');
  });
  const clock = new FakeClock();
  const source = new FakeControllerSource<Pod>();
  await using threads = new InformerThreads(
    { indexerThreads: 0, compressAfterMs: 500 },
    { clock, packBytesMin: 0 },
  );
  const errors: KubeloomError[] = [];
  const onError = (error: KubeloomError): void => void errors.push(error);
  await using informer = new SharedIndexInformer<Pod>(source, PODS, { threads, onError });
  source.add(pod('pod-1'));
  void informer.run();
  await settled(informer);
  clock.advance(ROUND_MS);
  clock.advance(ROUND_MS);
  assert.deepEqual(
    errors.map(({ code, cause }) => [code, cause]),
    [['ERR_KUBELOOM_ASSERTION', new RangeError('a defect')]],
  );
  source.add(pod('pod-2'));
  await settled(informer);
  assert.equal(informer.getIndexer().size, 2);
});

test('C290 a cache that nothing changes is packed while a thread has it, and holds no unpacked bytes for the thread', async () => {
  const clock = new FakeClock();
  const source = new FakeControllerSource<Pod>();
  await using threads = new InformerThreads(
    { indexerThreads: 0, compressAfterMs: 500 },
    { clock, packBytesMin: 0 },
  );
  await using informer = new SharedIndexInformer<Pod>(source, PODS, { threads });
  const spec = { text: 'the same in all objects '.repeat(40) };
  for (let number = 0; number < OBJECTS; number++) source.add({ ...pod(`pod-${number}`), spec });
  void informer.run();
  await settled(informer);
  await using cache = new SharedCache({ pods: informer });
  await using opened = await openCache<{ pods: Pod }>(cache.port());
  const pods = opened.informer('pods');
  await pods.waitForSync();
  // Nothing is merged from now on.
  for (let turn = 0; turn < TURNS_MAX && informer.stats().storeBytes.plain > 0; turn++) {
    clock.advance(ROUND_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(informer.stats().storeBytes.plain, 0);
  assert.equal(cache.exportedStates, OBJECTS, 'the thread has returned all former rows');
  for (const { name, object } of pods.getIndexer().list()) {
    assert.equal(object.metadata?.name, name);
    assert.deepEqual((object as unknown as { spec: unknown }).spec, spec);
  }
});
