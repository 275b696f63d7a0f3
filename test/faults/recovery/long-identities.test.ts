/** The longest accepted identity passes through the smallest ring, in every state of its object. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import type { ListerWatcher } from '../../../src/index.ts';
import { NAME_BYTES_MAX, RING_BYTES_MIN } from '../../../src/shared/record/limits.ts';
import { FakeWatch } from '../../../src/tools/apiserver/testing/fake-controller-source.ts';
import { PODS } from '../../kit/objects.ts';
import { PERFORM, asking } from './asking.ts';

/** Longer than a ring of the smallest size. */
const VERSION_BYTES = 100_000;

/** An object whose name parts have the maximal length; its version is not a number and is sent as text. */
function longest(object: V1Pod, tail: string): V1Pod {
  const metadata = {
    ...object.metadata,
    namespace: 'n'.repeat(NAME_BYTES_MAX),
    name: tail.padStart(NAME_BYTES_MAX, 'm'),
    uid: tail.padStart(NAME_BYTES_MAX, 'u'),
    resourceVersion: tail.padStart(VERSION_BYTES, 'v'),
  };
  return { ...object, metadata };
}

function sourceOf(items: readonly V1Pod[]): ListerWatcher<V1Pod> {
  return {
    isWatchListUnsupported: true,
    list: async () => ({ metadata: { resourceVersion: '10' }, items: [...items] }),
    watch: async () => new FakeWatch<V1Pod>(0, () => undefined),
  };
}

test('a ring has at least 16 KiB, and a smaller option is rejected', () => {
  assert.equal(RING_BYTES_MIN, 16384);
  assert.throws(() => new InformerThreads({ ringBytes: RING_BYTES_MIN / 2 }), {
    code: 'ERR_KUBELOOM_OPTION',
  });
});

for (const threads of [0, 1]) {
  test(`the longest identity passes through the smallest ring with ${threads} threads, and longer ones are rejected`, async () => {
    await using informerThreads = new InformerThreads({ indexerThreads: threads, ringBytes: RING_BYTES_MIN });
    const codes: string[] = [];
    const longName = longest({}, 'y');
    longName.metadata = { ...longName.metadata, name: 'm'.repeat(NAME_BYTES_MAX + 1) };
    const pods = [longest({ metadata: { labels: { app: 'web' } } }, 'a'), longName, longest({}, 'z')];
    const informer = new SharedIndexInformer<V1Pod>(sourceOf(pods), PODS, {
      threads: informerThreads,
      onError: (error) => codes.push(error.code),
    });
    const run = informer.run();
    await informer.waitForSync();
    const entries = informer.getStore().list();
    assert.deepEqual(
      entries.map(({ uid, labels, resourceVersion }) => [uid, labels, resourceVersion]),
      [
        [pods[0]?.metadata?.uid, { app: 'web' }, pods[0]?.metadata?.resourceVersion],
        [pods[2]?.metadata?.uid, {}, pods[2]?.metadata?.resourceVersion],
      ],
    );
    while (codes.length === 0) await new Promise(setImmediate);
    assert.deepEqual(codes, ['ERR_KUBELOOM_UNEXPECTED_OBJECT']);
    await informer.shutdown();
    await run;
  });
}

test('C175 an object with the longest identity that ends two threads is kept with its identity only', async () => {
  await using informerThreads = new InformerThreads({ indexerThreads: 1, ringBytes: RING_BYTES_MIN });
  const codes: string[] = [];
  const bad = longest(asking('bad', 'exit'), 'x');
  const informer = new SharedIndexInformer<V1Pod>(sourceOf([bad, longest({}, 'z')]), PODS, {
    threads: informerThreads,
    transform: PERFORM,
    onError: (error) => codes.push(error.code),
  });
  const run = informer.run();
  await informer.waitForSync();
  const [entry, after] = informer.getStore().list();
  assert.equal(entry?.uid, bad.metadata?.uid);
  assert.equal(entry?.resourceVersion, bad.metadata?.resourceVersion);
  assert.throws(() => entry?.object, { code: 'ERR_KUBELOOM_QUARANTINED' });
  assert.match(after?.object.metadata?.name ?? '', /mz$/);
  assert.deepEqual(codes.toSorted(), [
    'ERR_KUBELOOM_QUARANTINED',
    'ERR_KUBELOOM_THREAD_RESTARTED',
    'ERR_KUBELOOM_THREAD_RESTARTED',
  ]);
  await informer.shutdown();
  await run;
});
