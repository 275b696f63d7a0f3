/** Lists whose items are null or absent, as some servers send an empty list, and values that are no lists. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ListPager } from '../../../src/client-go/index.ts';
import { SharedIndexInformer, labelSelectorAsSelector } from '../../../src/index.ts';
import type { KubeObject } from '../../../src/index.ts';
import { FakeWatch } from '../../../src/tools/apiserver/testing/fake-controller-source.ts';
import type { KubeList, ListerWatcher } from '../../../src/kube/lister-watcher.ts';
import { extractList, itemsOf, listAccessor } from '../../../src/kube/meta.ts';
import { PODS } from '../../kit/objects.ts';

const METADATA = { resourceVersion: '529' };
const EMPTY: readonly object[] = [
  { kind: 'PodList', apiVersion: 'v1', metadata: METADATA, items: null },
  { kind: 'PodList', apiVersion: 'v1', metadata: METADATA },
  { metadata: METADATA, items: null },
  { metadata: METADATA },
];
const NO_LISTS: readonly unknown[] = [
  undefined,
  'text',
  {},
  { kind: 'Status', metadata: METADATA },
  { kind: 'Table', metadata: METADATA, rows: [] },
  { kind: 'AllowList', metadata: { ...METADATA, name: 'a' } },
  { metadata: { ...METADATA, name: 'a' } },
  { metadata: METADATA, items: 'none' },
];

describe('a list whose items are null or absent', () => {
  test('C264 is empty for functions on lists and for pagers', async () => {
    for (const list of EMPTY) {
      assert.deepEqual(extractList(list), []);
      assert.equal(listAccessor(list).resourceVersion, '529');
      const pager = new ListPager(() => Promise.resolve({ ...list } as KubeList<KubeObject>));
      assert.deepEqual((await pager.list({})).list.items, []);
      await pager.eachListItem({}, () => assert.fail('no item'));
    }
  });

  test('C264 is empty for the informer of a ListerWatcher', async () => {
    for (const list of EMPTY) {
      const source: ListerWatcher<KubeObject> = {
        isWatchListUnsupported: true,
        list: () => Promise.resolve({ ...list } as KubeList<KubeObject>),
        watch: () => Promise.resolve(new FakeWatch<KubeObject>(0, () => undefined)),
      };
      const informer = new SharedIndexInformer<KubeObject>(source, PODS, { threads: { indexerThreads: 0 } });
      void informer.run();
      await informer.waitForSync();
      assert.deepEqual(informer.getStore().list(), []);
      await informer.shutdown();
    }
  });
});

test('A Status, a Table and a single object are not empty lists', async () => {
  for (const value of NO_LISTS) {
    assert.equal(itemsOf(value), undefined, JSON.stringify(value));
    const pager = new ListPager(() => Promise.resolve(value as KubeList<KubeObject>));
    await assert.rejects(
      pager.eachListItem({}, () => undefined),
      { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' },
    );
  }
});

test('A label selector may have null in the place of labels, expressions and values', () => {
  const all = JSON.parse('{ "matchLabels": null, "matchExpressions": null }') as object;
  assert.equal(labelSelectorAsSelector(all).isEverything, true);
  const exists = JSON.parse(
    '{ "matchExpressions": [{ "key": "a", "operator": "Exists", "values": null }] }',
  ) as object;
  assert.equal(labelSelectorAsSelector(exists).matches({ a: '' }), true);
});
