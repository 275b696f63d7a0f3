/** Tests of keys, metadata, stores and the mutation cache with the entries of an informer. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { metaNamespaceIndexFunc } from '../../../../src/client-go/cache/indices.ts';
import { newIndexer } from '../../../../src/client-go/cache/indexed-store.ts';
import {
  deletionHandlingMetaNamespaceKeyFunc,
  metaNamespaceKeyFunc,
  objectToName,
} from '../../../../src/kube/keys.ts';
import { MutationCache } from '../../../../src/client-go/cache/mutation-cache.ts';
import { isTombstone } from '../../../../src/kube/tombstone.ts';
import { accessor } from '../../../../src/kube/meta.ts';
import { DeletedFinalStateUnknown } from '../../../../src/replica/store/deleted-final-state-unknown.ts';
import type { CachedObject } from '../../../../src/replica/store/cached-object.ts';
import { NAMESPACE_INDEX } from '../../../../src/replica/store/index-functions.ts';
import { ScriptedReplica } from '../../replica/store/scripted-replica.ts';

function filled(): ScriptedReplica {
  const replica = new ScriptedReplica();
  replica.relist(
    { namespace: 'default', name: 'web-0', version: 7, labels: { app: 'web' } },
    { name: 'node', version: 8 },
  );
  return replica;
}

function entryOf(replica: ScriptedReplica, key: string): CachedObject<unknown> {
  const entry = replica.indexer.getByKey(key);
  assert.ok(entry);
  return entry;
}

describe('an entry of an informer', () => {
  test('has a key, a name and metadata for the generic layers, and so does its tombstone', () => {
    const replica = filled();
    const entry = entryOf(replica, 'default/web-0');
    assert.equal(metaNamespaceKeyFunc(entry), 'default/web-0');
    assert.equal(objectToName(entry).name, 'web-0');
    assert.equal(accessor(entry).resourceVersion, '7');
    assert.deepEqual({ ...accessor(entry).labels }, { app: 'web' });
    const dead = new DeletedFinalStateUnknown(entry);
    assert.equal(isTombstone(entry), false);
    assert.equal(isTombstone(dead), true);
    assert.equal(deletionHandlingMetaNamespaceKeyFunc(dead), 'default/web-0');
  });

  test('can be put into a store, whose resourceVersion and namespace index then follow it', () => {
    const replica = filled();
    const store = newIndexer<CachedObject<unknown>>(metaNamespaceKeyFunc, {
      [NAMESPACE_INDEX]: metaNamespaceIndexFunc,
    });
    for (const entry of replica.indexer.list()) store.add(entry);
    assert.equal(store.lastStoreSyncResourceVersion(), '8');
    assert.equal(store.byIndex(NAMESPACE_INDEX, 'default')[0], entryOf(replica, 'default/web-0'));
    assert.deepEqual(store.indexKeys(NAMESPACE_INDEX, ''), ['node']);
  });

  test('is overlaid by a mutation cache, whose writes are plain objects', () => {
    const replica = filled();
    const cache = new MutationCache<unknown>(replica.indexer);
    const written = { metadata: { namespace: 'default', name: 'web-0', resourceVersion: '10' } };
    cache.mutation(written);
    assert.equal(cache.getByKey('default/web-0'), written);
    cache.onAddOrUpdate(entryOf(replica, 'default/web-0'));
    assert.equal(cache.getByKey('default/web-0'), written);
    replica.put({ namespace: 'default', name: 'web-0', version: 10 });
    assert.equal(cache.getByKey('default/web-0'), entryOf(replica, 'default/web-0'));
  });
});
