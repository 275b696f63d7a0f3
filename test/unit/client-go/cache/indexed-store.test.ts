/** Tests of Store and Indexer: client-go's store script, transformer, key errors, transactions, indices by object. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { newTTLStore } from '../../../../src/client-go/cache/expiration-cache.ts';
import { UndeltaStore, newIndexer, newStore } from '../../../../src/client-go/cache/indexed-store.ts';
import { KeyError, metaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import type { Store } from '../../../../src/kube/store.ts';
import { idOf, pair, pod, valueIndex } from './objects.ts';
import type { Pair, Pod } from './objects.ts';

const STORES: Readonly<Record<string, () => Store<Pair>>> = {
  store: () => newStore(idOf),
  indexer: () => newIndexer(idOf, valueIndex),
  'store with a transformer': () => newStore(idOf, { transformer: (item) => item }),
  'undelta store': () => new UndeltaStore(() => undefined, idOf),
  'TTL store': () => newTTLStore(idOf, 60_000),
};

describe('what every store does', () => {
  for (const [name, create] of Object.entries(STORES)) {
    test(`a ${name} adds, updates, deletes, lists and replaces`, () => {
      const store = create();
      store.add(pair('foo', 'bar'));
      assert.deepEqual(store.get(pair('foo')), pair('foo', 'bar'));
      store.update(pair('foo', 'baz'));
      assert.deepEqual(store.get(pair('foo')), pair('foo', 'baz'));
      assert.deepEqual(store.getByKey('foo'), pair('foo', 'baz'));
      store.delete(pair('foo'));
      assert.equal(store.get(pair('foo')), undefined);

      for (const item of [pair('a', 'b'), pair('c', 'd'), pair('e', 'e')]) store.add(item);
      assert.deepEqual(store.list(), [pair('a', 'b'), pair('c', 'd'), pair('e', 'e')]);
      store.replace([pair('foo', 'foo'), pair('bar', 'bar')], '5');
      assert.deepEqual(store.list(), [pair('foo', 'foo'), pair('bar', 'bar')]);
      assert.deepEqual(store.listKeys(), ['foo', 'bar']);
      assert.equal(store.size, 2);
      assert.equal(store.lastStoreSyncResourceVersion(), '5');
      store.bookmark('6');
      store.resync();
      assert.equal(store.lastStoreSyncResourceVersion(), '6');
      assert.equal(store.getByKey('a'), undefined);
    });

    test(`a ${name} holds the added item itself; an item without a key is rejected and changes nothing`, () => {
      const store = create();
      const item = pair('a');
      store.add(item);
      assert.equal(store.list()[0], item);
      const keyless = undefined as unknown as Pair;
      const attempts = [
        () => store.add(keyless),
        () => store.update(keyless),
        () => store.delete(keyless),
        () => store.get(keyless),
        () => store.replace([pair('b'), keyless], '9'),
      ];
      for (const attempt of attempts) {
        assert.throws(attempt, (error) => error instanceof KeyError && error.object === keyless);
      }
      assert.deepEqual(store.list(), [item]);
      assert.equal(store.lastStoreSyncResourceVersion(), '');
    });
  }

  test('C97 a store follows the resourceVersion of the written items', () => {
    for (const store of [newStore<Pod>(metaNamespaceKeyFunc), newTTLStore<Pod>(metaNamespaceKeyFunc, 0)]) {
      store.add(pod('a', { resourceVersion: '3' }));
      assert.equal(store.lastStoreSyncResourceVersion(), '3');
      store.update(pod('a', { resourceVersion: '4' }));
      assert.equal(store.lastStoreSyncResourceVersion(), '4');
      store.delete(pod('a', { resourceVersion: '7' }));
      assert.equal(store.lastStoreSyncResourceVersion(), '7');
    }
  });
});

describe('a transformer', () => {
  const upper = {
    transformer: ({ id, value }: Pair): Pair => {
      if (value === 'bad') throw new Error('bad value');
      return { id: `other-${id}`, value: value.toUpperCase() };
    },
  };

  test('C98 add, update, replace and transactions store the result of the transformer under the original key', () => {
    const store = newStore(idOf, upper);
    store.add(pair('a', 'x'));
    assert.deepEqual(store.getByKey('a'), pair('other-a', 'X'));
    store.update(pair('a', 'y'));
    assert.deepEqual(store.getByKey('a'), pair('other-a', 'Y'));
    store.transaction([{ type: 'add', object: pair('b', 'z') }]);
    assert.deepEqual(store.getByKey('b'), pair('other-b', 'Z'));
    store.replace([pair('c', 'w')], '1');
    assert.deepEqual(store.list(), [pair('other-c', 'W')]);
  });

  test('C94 a transformer that throws leaves the store unchanged', () => {
    const store = newStore(idOf, upper);
    store.add(pair('a', 'x'));
    const refusal = { code: 'ERR_KUBELOOM_TRANSFORM', message: /bad value/ };
    assert.throws(() => store.add(pair('b', 'bad')), refusal);
    assert.throws(() => store.update(pair('a', 'bad')), refusal);
    assert.throws(() => store.replace([pair('c', 'c'), pair('a', 'bad')], '9'), refusal);
    assert.deepEqual(store.listKeys(), ['a']);
    const error = store.transaction([{ type: 'add', object: pair('b', 'bad') }]);
    assert.deepEqual(error?.successfulIndices, []);
  });
});

describe('a transaction of a store', () => {
  const keyOfSmall = (item: number): string => {
    if (item > 2) throw new Error('test error');
    return String(item);
  };

  test('C98 a transaction returns undefined when every write was done', () => {
    const store = newStore(keyOfSmall);
    const writes = [1, 2].map((object) => ({ type: 'add', object }) as const);
    assert.equal(store.transaction(writes), undefined);
    assert.deepEqual(store.list(), [1, 2]);
    assert.equal(store.transaction([{ type: 'delete', object: 1 }]), undefined);
    assert.deepEqual(store.list(), [2]);
  });

  test('C98 a transaction leaves out writes without a key, and reports which writes it has done', () => {
    for (const { objects, successful } of [
      { objects: [3, 4], successful: [] },
      { objects: [1, 3, 2, 4], successful: [0, 2] },
    ]) {
      const store = newStore(keyOfSmall);
      const error = store.transaction(objects.map((object) => ({ type: 'add', object })));
      assert.deepEqual(error?.successfulIndices, successful);
      assert.equal(error?.totalTransactions, objects.length);
      assert.equal(error?.code, 'ERR_KUBELOOM_TRANSACTION');
      assert.match(error?.message ?? '', /\(2\/[24]\)/);
      const refused = error?.errors.map((each) => (each as KeyError).object);
      assert.deepEqual(refused, [3, 4]);
      assert.deepEqual(new Set([...store.list(), ...refused]), new Set(objects));
    }
  });

  test('C98 a transaction reports positions among all writes, whether a key or an index value is missing', () => {
    const evenIndex = {
      even: (item: number): string[] => {
        if (item % 2 === 0) throw new Error('even');
        return [String(item)];
      },
    };
    const store = newIndexer(keyOfSmall, evenIndex);
    const error = store.transaction([9, 1, 2, 0].map((object) => ({ type: 'add', object })));
    assert.deepEqual(error?.successfulIndices, [1]);
    const codes = error?.errors.map((each) => (each as KeyError).code.slice('ERR_KUBELOOM_'.length));
    assert.deepEqual(codes, ['KEY', 'INDEX_FUNCTION', 'INDEX_FUNCTION']);
    assert.deepEqual(store.list(), [1]);
  });
});

describe('an indexer', () => {
  test('finds objects by each of their values, but not after a delete or an update', () => {
    const indexer = newIndexer<Pod>(metaNamespaceKeyFunc, {
      byUser: ({ metadata }) => (metadata.annotations?.['users'] ?? '').split(','),
    });
    const users = (name: string, names: string): Pod => pod(name, { annotations: { users: names } });
    const named = (user: string): string =>
      indexer
        .byIndex('byUser', user)
        .map(({ metadata }) => metadata.name)
        .join(' ');
    const added = { one: 'ernie,bert', two: 'bert,oscar', tre: 'ernie,elmo' };
    for (const [name, of] of Object.entries(added)) indexer.add(users(name, of));
    const found = ['ernie', 'bert', 'elmo', 'oscar', 'elmo1'].map(named);
    assert.deepEqual(found, ['one tre', 'one two', 'tre', 'two', '']);
    indexer.delete(users('tre', ''));
    assert.deepEqual([named('ernie'), named('elmo')], ['one', '']);
    indexer.update(users('two', 'oscar'));
    assert.deepEqual([named('bert'), named('oscar')], ['one', 'two']);
    indexer.addIndexers({ byName: ({ metadata }) => [metadata.name] });
    assert.deepEqual(indexer.indexKeys('byName', 'two'), ['two']);
    assert.deepEqual(Object.keys(indexer.getIndexers()), ['byUser', 'byName']);
  });
});

describe('an undelta store', () => {
  test('pushes the complete list after every change, and not for reads', () => {
    const pushed: Pair[][] = [];
    const store = new UndeltaStore<Pair>((items) => pushed.push(items), idOf);
    store.add(pair('a', '2'));
    store.update(pair('a', '1'));
    store.add(pair('b'));
    store.delete(pair('a'));
    store.replace([pair('c', '1')], '0');
    const change = [
      { type: 'add', object: pair('d') } as const,
      { type: 'delete', object: pair('c') } as const,
    ];
    store.transaction(change);
    store.list();
    store.get(pair('a'));
    store.bookmark('4');
    store.resync();
    assert.deepEqual(pushed, [
      [pair('a', '2')],
      [pair('a', '1')],
      [pair('a', '1'), pair('b')],
      [pair('b')],
      [pair('c', '1')],
      [pair('d')],
    ]);
  });

  test('pushes nothing for a rejected write', () => {
    const store = new UndeltaStore<Pair>(() => assert.fail('pushed'), idOf);
    assert.throws(() => store.add(undefined as unknown as Pair), KeyError);
  });
});
