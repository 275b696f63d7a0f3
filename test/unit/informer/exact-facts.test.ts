/** Facts of objects that no record of the smallest ring can have, from end to end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  InformerThreads,
  SharedIndexInformer,
  label,
  ownerUid,
  parseLabelSelector,
} from '../../../src/index.ts';
import type { KubeObject, ListerWatcher } from '../../../src/index.ts';
import { FakeWatch } from '../../../src/tools/apiserver/testing/fake-controller-source.ts';
import { PODS } from '../../kit/objects.ts';

const RING_BYTES = 16 * 1024;
const MANY = Array.from({ length: 9300 }, (_, n) => [`label-${String(n).padStart(56, '0')}`, 'v'.repeat(63)]);
const LABELS = { tier: 'secret', ...Object.fromEntries(MANY), last: 'é' };
const LARGE: KubeObject & { readonly spec: object } = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'large',
    namespace: 'default',
    uid: 'uid-large',
    resourceVersion: '5',
    labels: LABELS,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Job', name: 'job', uid: 'uid-job', controller: true }],
  },
  spec: { nodeName: 'n'.repeat(50_000) },
};

function sourceOf(items: readonly KubeObject[], version: string = '9'): ListerWatcher<KubeObject> {
  return {
    isWatchListUnsupported: true,
    list: () => Promise.resolve({ metadata: { resourceVersion: version }, items: [...items] }),
    watch: () => Promise.resolve(new FakeWatch<KubeObject>(0, () => undefined)),
  };
}

const WAYS: Readonly<Record<string, object>> = {
  'as received': {},
  'in msgpack': { codec: 'msgpack' },
  'after a transform of the main thread': { transform: (object: KubeObject) => object },
};

describe('labels, uid, owner and declared fields of 1.2 MiB', () => {
  for (const [way, options] of Object.entries(WAYS)) {
    test(`C261 are exact and in all indexes, with the smallest ring, ${way}`, async () => {
      await using threads = new InformerThreads({ indexerThreads: 0, ringBytes: RING_BYTES });
      const errors: Error[] = [];
      const informer = new SharedIndexInformer<KubeObject>(sourceOf([LARGE]), PODS, {
        threads,
        fields: ['spec.nodeName'],
        indexers: { tier: label('tier'), owner: ownerUid() },
        onError: (error: Error) => errors.push(error),
        ...options,
      });
      void informer.run();
      await informer.waitForSync();
      const [entry] = informer.getStore().list();
      assert.ok(entry);
      assert.deepEqual([entry.uid, entry.controllerUid, entry.labels], ['uid-large', 'uid-job', LABELS]);
      assert.equal(entry.fields['spec.nodeName'], 'n'.repeat(50_000));
      const indexer = informer.getIndexer();
      assert.deepEqual(indexer.byIndex('tier', 'secret'), [entry]);
      assert.deepEqual(indexer.byIndex('owner', 'uid-job'), [entry]);
      assert.equal(parseLabelSelector('tier=secret,last').matches(entry.labels), true);
      assert.deepEqual(entry.object, LARGE);
      assert.deepEqual(errors, []);
      await informer.shutdown();
    });
  }
});

test('C262 versions of lists and objects are opaque text of any length, which the watch sends back', async () => {
  for (const length of [155, 100_000]) {
    const versionOf = (letter: string): string => letter.repeat(length);
    const requested: (string | undefined)[] = [];
    const source = sourceOf([
      { ...LARGE, metadata: { ...LARGE.metadata, labels: {}, resourceVersion: versionOf('b') } },
    ]);
    const list = source.list.bind(source);
    const watch: ListerWatcher<KubeObject>['watch'] = (given, signal) => {
      requested.push(given.resourceVersion);
      return source.watch(given, signal);
    };
    const informer = new SharedIndexInformer<KubeObject>(
      {
        isWatchListUnsupported: true,
        list: async (...given) => ({
          ...(await list(...given)),
          metadata: { resourceVersion: versionOf('a') },
        }),
        watch,
      },
      PODS,
      { threads: { indexerThreads: 0 } },
    );
    void informer.run();
    await informer.waitForSync();
    assert.equal(informer.getStore().getByKey('default/large')?.resourceVersion, versionOf('b'));
    while (requested.length === 0) await new Promise(setImmediate);
    assert.deepEqual(requested, [versionOf('a')]);
    assert.equal(informer.lastSyncResourceVersion(), versionOf('a'));
    await informer.shutdown();
  }
});
