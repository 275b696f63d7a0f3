/** Tests of the mutation cache: own writes over a store, with all orders of handler calls and responses. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { newIndexer } from '../../../../src/client-go/cache/indexed-store.ts';
import { metaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import { MutationCache } from '../../../../src/client-go/cache/mutation-cache.ts';
import type { MutationCacheOptions } from '../../../../src/client-go/cache/mutation-cache.ts';
import type { Indexer } from '../../../../src/kube/store.ts';
import { tombstone } from '../../../../src/kube/tombstone.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { pod } from './objects.ts';
import type { Pod } from './objects.ts';

interface Scene {
  readonly store: Indexer<Pod>;
  readonly cache: MutationCache<Pod>;
  readonly clock: FakeClock;
  /** Returns the resourceVersion of the object under the key `pod`. */
  readonly seen: (key?: string) => string | undefined;
  readonly byApp: (app: string) => (string | undefined)[];
}

function scene(options: Omit<MutationCacheOptions<Pod>, 'indexer' | 'clock'> = {}): Scene {
  const store = newIndexer<Pod>(metaNamespaceKeyFunc, {
    app: ({ metadata }) => [metadata.labels?.['app'] ?? metadata.name],
  });
  const clock = new FakeClock();
  const cache = new MutationCache(store, { ...options, indexer: store, clock });
  return {
    store,
    cache,
    clock,
    seen: (key = 'pod') => cache.getByKey(key)?.metadata.resourceVersion,
    byApp: (app) => cache.byIndex('app', app).map(({ metadata }) => metadata.resourceVersion),
  };
}

function state(uid: string, resourceVersion: string, name = 'pod'): Pod {
  return pod(name, { uid, resourceVersion });
}

describe('a mutation', () => {
  test('C101 an own write is visible while it is newer than the store, and dropped when it is not', () => {
    const { store, cache, seen, byApp } = scene();
    store.add(state('uid-1', '9'));
    cache.mutation(state('uid-1', '10'));
    assert.equal(seen(), '10');
    assert.deepEqual(byApp('pod'), ['10']);
    store.update(state('uid-1', '11'));
    assert.deepEqual(byApp('pod'), ['11']);
    store.update(state('uid-1', '9'));
    assert.equal(seen(), '9');
  });

  test('is compared as a number of any length', () => {
    const { store, cache, seen } = scene();
    store.add(state('uid-1', '90071992547409930'));
    cache.mutation(state('uid-1', '90071992547409931'));
    assert.equal(seen(), '90071992547409931');
    cache.mutation(state('uid-1', '90071992547409929'));
    assert.equal(seen(), '90071992547409931');
  });

  test('of an object missing in the store is visible only with includeAdds', () => {
    for (const includeAdds of [false, true]) {
      const { cache, seen, byApp } = scene({ includeAdds });
      cache.mutation(state('uid-1', '2'));
      assert.equal(seen(), includeAdds ? '2' : undefined);
      assert.deepEqual(byApp('pod'), includeAdds ? ['2'] : []);
      assert.deepEqual(byApp('other'), []);
    }
  });

  test('is returned once when the index has its object already', () => {
    const { store, cache, byApp } = scene({ includeAdds: true });
    store.add(state('uid-1', '1'));
    cache.mutation(state('uid-1', '2'));
    assert.deepEqual(byApp('pod'), ['2']);
  });

  test('is older than everything without a resourceVersion, and rejected with one that is not a number', () => {
    const { store, cache, seen } = scene();
    store.add(state('uid-1', '1'));
    cache.mutation(pod('pod'));
    assert.equal(seen(), '1');
    cache.mutation(state('uid-1', '5'));
    assert.throws(() => cache.mutation(state('uid-1', 'opaque')), { code: 'ERR_KUBELOOM_RESOURCE_VERSION' });
    assert.throws(() => cache.mutation({ metadata: {} } as Pod), { code: 'ERR_KUBELOOM_KEY' });
    assert.equal(seen(), '5');
  });

  test('is kept for the given time, 5 minutes by default', () => {
    for (const [options, ttlMs] of [
      [{}, 300_000],
      [{ ttlMs: 50 }, 50],
    ] as const) {
      const { store, cache, clock, seen, byApp } = scene({ ...options, includeAdds: true });
      store.add(state('uid-1', '1'));
      cache.mutation(state('uid-1', '2'));
      cache.mutation(state('uid-2', '2', 'added'));
      clock.advance(ttlMs);
      assert.deepEqual([seen(), byApp('added')], ['2', ['2']]);
      clock.advance(1);
      assert.deepEqual([seen(), byApp('added')], ['1', []]);
    }
  });

  test('is evicted when the cache is full: 100 are kept by default, the least recently used goes first', () => {
    for (const [options, sizeMax] of [
      [{}, 100],
      [{ sizeMax: 3 }, 3],
    ] as const) {
      const { cache, seen } = scene({ ...options, includeAdds: true });
      for (let index = 0; index < sizeMax; index++) cache.mutation(state('u', '2', `pod-${index}`));
      assert.equal(seen('pod-0'), '2');
      cache.mutation(state('u', '2', 'one-more'));
      assert.deepEqual([seen('pod-0'), seen('pod-1'), seen('pod-2')], ['2', undefined, '2']);
      assert.equal(seen('one-more'), '2');
    }
  });
});

describe('onAddOrUpdate', () => {
  const cases = [
    { title: 'an equal state drops the own write', version: '2', expected: '1' },
    { title: 'a newer state drops the own write', version: '3', expected: '1' },
    { title: 'an older state keeps the own write', version: '1', expected: '2' },
  ];
  for (const { title, version, expected } of cases) {
    test(title, () => {
      const { store, cache, seen } = scene();
      cache.mutation(state('uid-1', '2'));
      cache.onAddOrUpdate(state('uid-1', version));
      // Older than the own write, so the result shows whether the own write is still there.
      store.add(state('uid-1', '1'));
      assert.equal(seen(), expected);
    });
  }
});

describe('onDelete', () => {
  const cases = [
    ['of the same object drops the own write, however old the state', 'uid-1', '1', undefined],
    ['of another object, newer, drops the own write', 'uid-2', '4', undefined],
    ['of another object at the same version drops the own write', 'uid-2', '3', undefined],
    ['of another object, older, keeps the own write', 'uid-2', '1', '3'],
  ] as const;
  for (const [title, uid, version, expected] of cases) {
    test(title, () => {
      for (const isInferred of [false, true]) {
        const { store, cache, seen } = scene({ includeAdds: true });
        store.add(state('uid-1', '2'));
        cache.mutation(state('uid-1', '3'));
        const deleted = state(uid, version);
        store.delete(deleted);
        cache.onDelete(isInferred ? tombstone('pod', deleted) : deleted);
        assert.equal(seen(), expected);
      }
    });
  }

  test('of a tombstone without a state changes nothing', () => {
    const { cache, seen } = scene({ includeAdds: true });
    cache.mutation(state('uid-1', '3'));
    cache.onDelete(tombstone<Pod>('pod', undefined));
    assert.equal(seen(), '3');
  });

  test('clears a stale added object from byIndex', () => {
    const { cache, byApp } = scene({ includeAdds: true });
    cache.mutation(state('uid-1', '2'));
    assert.deepEqual(byApp('pod'), ['2']);
    cache.onDelete(state('uid-1', '1'));
    assert.deepEqual(byApp('pod'), []);
  });

  test('C101 a late write of a deleted object is ignored, one of its successor is not', () => {
    const { store, cache, seen, byApp } = scene({ includeAdds: true });
    store.add(state('uid-1', '1'));
    const updated = state('uid-1', '2');
    store.update(updated);
    store.delete(updated);
    cache.onAddOrUpdate(updated);
    cache.onDelete(updated);
    for (const late of [updated, state('uid-1', '3'), state('uid-0', '1'), state('uid-0', '2')]) {
      cache.mutation(late);
      assert.deepEqual([seen(), byApp('pod')], [undefined, []], JSON.stringify(late));
    }
    cache.mutation(state('uid-2', '3'));
    assert.equal(seen(), '3');
  });

  test('C101 the store wins over a late write of an object when a new one has its name', () => {
    const { store, cache, seen } = scene({ includeAdds: true });
    store.add(state('uid-1', '1'));
    const updated = state('uid-1', '2');
    store.update(updated);
    store.delete(updated);
    const successor = state('uid-2', '3');
    store.add(successor);
    cache.onAddOrUpdate(updated);
    cache.onDelete(updated);
    cache.onAddOrUpdate(successor);
    cache.mutation(updated);
    assert.equal(seen(), '3');
    // No state of the old object remains, even after the store has lost its successor.
    store.delete(successor);
    assert.equal(seen(), undefined);
  });

  test('leaves a mark that is dropped when the store has a successor', () => {
    const { store, cache, seen } = scene({ includeAdds: true });
    cache.onDelete(state('uid-1', '2'));
    store.add(state('uid-2', '3'));
    assert.equal(seen(), '3');
    store.delete(state('uid-2', '3'));
    cache.mutation(state('uid-1', '2'));
    assert.equal(seen(), '2');
  });
});

test('byIndex without an indexer is an error', () => {
  const { store } = scene();
  assert.throws(() => new MutationCache(store).byIndex('app', 'x'), { code: 'ERR_KUBELOOM_NO_INDEX' });
});
