/** Tests of ThreadSafeStore: indices, resourceVersion, transactions, and index functions that throw. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import type { IndexValuesFunctions } from '../../../../src/kube/store.ts';
import { ThreadSafeStore } from '../../../../src/client-go/cache/thread-safe-store.ts';
import { tombstone } from '../../../../src/kube/tombstone.ts';
import { Seeded } from '../../kube/json/seeded.ts';
import { FakeEntry } from './objects.ts';

const splitIndex: IndexValuesFunctions<string> = { parts: (text) => text.split(',') };

/** Indexes by the first character; throws for one word. */
const touchyIndex: IndexValuesFunctions<string> = {
  touchy: (text) => {
    if (text === 'bad') throw new Error('bad text');
    return [text.slice(0, 1)];
  },
};

function versioned(resourceVersion: string): object {
  return { metadata: { resourceVersion } };
}

/** Returns all content of an index, for comparisons. */
function indexContent(store: ThreadSafeStore<string>, name: string): Record<string, string[]> {
  return Object.fromEntries(
    store
      .listIndexFuncValues(name)
      .sort()
      .map((value) => [value, store.indexKeys(name, value)]),
  );
}

describe('indices of a store', () => {
  test('C95 a value disappears with its last key, and not earlier', () => {
    const store = new ThreadSafeStore<string>({ same: () => ['value'] });
    store.add('retain', 'retain');
    store.add('delete', 'delete');
    store.delete('delete');
    assert.deepEqual(store.listIndexFuncValues('same'), ['value']);
    assert.deepEqual(store.indexKeys('same', 'value'), ['retain']);
    store.delete('retain');
    assert.deepEqual(store.listIndexFuncValues('same'), []);
  });

  test('indices follow items with several values through adds, updates and deletes', () => {
    const store = new ThreadSafeStore(splitIndex);
    const steps: [() => void, foo: string[], bar: string[], baz: string[]][] = [
      [() => store.add('key1', 'foo'), ['key1'], [], []],
      [() => store.add('key2', 'bar'), ['key1'], ['key2'], []],
      [() => store.update('key2', 'foo,bar'), ['key1', 'key2'], ['key2'], []],
      [() => store.update('key1', 'foo,bar'), ['key1', 'key2'], ['key1', 'key2'], []],
      [() => store.add('key3', 'foo,bar,baz'), ['key1', 'key2', 'key3'], ['key1', 'key2', 'key3'], ['key3']],
      [() => store.update('key1', 'foo'), ['key1', 'key2', 'key3'], ['key2', 'key3'], ['key3']],
      [() => store.update('key2', 'bar'), ['key1', 'key3'], ['key2', 'key3'], ['key3']],
      [() => store.delete('key1'), ['key3'], ['key2', 'key3'], ['key3']],
      [() => store.delete('key3'), [], ['key2'], []],
    ];
    for (const [step, foo, bar, baz] of steps) {
      step();
      assert.deepEqual(store.indexKeys('parts', 'foo'), foo, String(step));
      assert.deepEqual(store.indexKeys('parts', 'bar'), bar, String(step));
      assert.deepEqual(store.indexKeys('parts', 'baz'), baz, String(step));
    }
    assert.deepEqual(store.listIndexFuncValues('parts'), ['bar']);
  });

  test('C94 indices hold only the new items after a replacement', () => {
    const store = new ThreadSafeStore(splitIndex);
    store.add('1', 'old,kept');
    store.add('2', 'old');
    store.replace(Object.entries({ 2: 'kept', 3: 'new' }), '1');
    assert.deepEqual(indexContent(store, 'parts'), { kept: ['2'], new: ['3'] });
    store.update('2', 'other');
    assert.deepEqual(indexContent(store, 'parts'), { new: ['3'], other: ['2'] });
  });

  test('C95 indexKeys is sorted, whatever the order in which the keys came', () => {
    const store = new ThreadSafeStore<string>({ same: () => ['v'] });
    for (const key of ['c', 'a', 'b']) store.add(key, key);
    assert.deepEqual(store.indexKeys('same', 'v'), ['a', 'b', 'c']);
    assert.deepEqual(store.listKeys(), ['c', 'a', 'b']);
  });

  test('index returns an item once, however many values it shares', () => {
    const store = new ThreadSafeStore(splitIndex);
    store.add('1', 'foo,bar');
    store.add('2', 'bar');
    store.add('3', 'baz');
    assert.deepEqual(store.index('parts', 'foo,bar'), ['foo,bar', 'bar']);
    assert.deepEqual(store.index('parts', 'other'), []);
  });

  test('an unknown index is an error to a query, but has no values to list', () => {
    const store = new ThreadSafeStore(splitIndex);
    const unknown = { code: 'ERR_KUBELOOM_NO_INDEX', message: /^index nope does not exist/ };
    assert.throws(() => store.byIndex('nope', 'x'), unknown);
    assert.throws(() => store.indexKeys('nope', 'x'), unknown);
    assert.throws(() => store.index('nope', 'x'), unknown);
    assert.deepEqual(store.listIndexFuncValues('nope'), []);
    assert.deepEqual(store.byIndex('parts', 'unknown value'), []);
    assert.deepEqual(store.indexKeys('parts', 'unknown value'), []);
  });

  test('an item that was changed in place after it was stored still leaves every index', () => {
    const store = new ThreadSafeStore<{ value: string }>({ value: ({ value }) => [value] });
    const item = { value: 'before' };
    store.add('key', item);
    item.value = 'after';
    store.delete('key');
    assert.deepEqual(store.listIndexFuncValues('value'), []);
  });

  test('an index function may return the same array again with other values', () => {
    const shared: string[] = [];
    const store = new ThreadSafeStore<string>({
      shared: (text) => {
        shared[0] = text;
        return shared;
      },
    });
    store.add('1', 'a');
    store.add('2', 'b');
    store.update('1', 'c');
    assert.deepEqual(indexContent(store, 'shared'), { b: ['2'], c: ['1'] });
  });

  test('indices are equal to indices made anew, after 2000 random writes', () => {
    const random = new Seeded(1);
    const words = ['', 'a', 'b', 'a,b', 'b,a', 'c', 'a,a'];
    const store = new ThreadSafeStore(splitIndex);
    for (let round = 0; round < 2000; round++) {
      const key = `k${random.below(8)}`;
      const word = random.pick(words);
      const choice = random.below(10);
      if (choice < 6) store.update(key, word);
      else if (choice < 9) store.delete(key);
      else
        store.transaction([
          { type: 'add', key, object: word },
          { type: 'delete', key: 'k0', object: '' },
        ]);
      const anew = new ThreadSafeStore(splitIndex);
      for (const stored of store.listKeys()) anew.add(stored, store.get(stored) ?? '');
      assert.deepEqual(indexContent(store, 'parts'), indexContent(anew, 'parts'), `round ${round}`);
    }
  });
});

describe('addIndexers', () => {
  test('C96 addIndexers indexes existing items before it returns', () => {
    const store = new ThreadSafeStore<string>();
    store.add('1', 'a,b');
    store.addIndexers(splitIndex);
    assert.deepEqual(store.byIndex('parts', 'b'), ['a,b']);
    store.update('1', 'c');
    assert.deepEqual(store.listIndexFuncValues('parts'), ['c']);
  });

  test('C96 addIndexers adds nothing when one name is taken', () => {
    const store = new ThreadSafeStore(splitIndex);
    store.add('1', 'a');
    const indexers = { fresh: () => ['x'], ...splitIndex };
    assert.throws(() => store.addIndexers(indexers), {
      code: 'ERR_KUBELOOM_INDEXER_CONFLICT',
      message: /indexer conflict: parts/,
    });
    assert.deepEqual(Object.keys(store.getIndexers()), ['parts']);
    assert.throws(() => store.byIndex('fresh', 'x'), { code: 'ERR_KUBELOOM_NO_INDEX' });
  });

  test('C96 addIndexers adds nothing when a function throws for an existing item', () => {
    const store = new ThreadSafeStore(splitIndex);
    store.add('1', 'good');
    store.add('2', 'bad');
    assert.throws(() => store.addIndexers({ fresh: () => ['x'], ...touchyIndex }), {
      code: 'ERR_KUBELOOM_INDEX_FUNCTION',
      message: /index "touchy" .* key "2"/,
    });
    assert.deepEqual(Object.keys(store.getIndexers()), ['parts']);
    store.update('2', 'better');
    store.addIndexers(touchyIndex);
    assert.deepEqual(indexContent(store, 'touchy'), { b: ['2'], g: ['1'] });
  });

  test('getIndexers returns a copy: writing to it changes nothing', () => {
    const store = new ThreadSafeStore(splitIndex);
    const indexers = store.getIndexers() as Record<string, unknown>;
    indexers['mine'] = () => ['x'];
    delete indexers['parts'];
    assert.deepEqual(Object.keys(store.getIndexers()), ['parts']);
    assert.equal(store.getIndexers()['parts'], splitIndex['parts']);
  });
});

describe('an index function that throws', () => {
  function filled(): ThreadSafeStore<string> {
    const store = new ThreadSafeStore<string>({ ...splitIndex, ...touchyIndex });
    store.replace(Object.entries({ 1: 'a', 2: 'b' }), '10');
    return store;
  }
  const unchanged = { parts: { a: ['1'], b: ['2'] }, touchy: { a: ['1'], b: ['2'] } };

  function expectUnchanged(store: ThreadSafeStore<string>): void {
    assert.deepEqual(store.list(), ['a', 'b']);
    assert.deepEqual(indexContent(store, 'parts'), unchanged.parts);
    assert.deepEqual(indexContent(store, 'touchy'), unchanged.touchy);
    assert.equal(store.lastStoreSyncResourceVersion(), '10');
  }

  test('C93 an index function that throws leaves the store and all indices unchanged, and the error names index and key', () => {
    const store = filled();
    const refusal = {
      code: 'ERR_KUBELOOM_INDEX_FUNCTION',
      message: /index "touchy" .* key "2".*bad text/,
      cause: new Error('bad text'),
    };
    assert.throws(() => store.update('2', 'bad'), refusal);
    assert.throws(() => store.add('2', 'bad'), refusal);
    assert.throws(() => store.replace(Object.entries({ 1: 'x', 2: 'bad' }), '20'), refusal);
    expectUnchanged(store);
    assert.throws(() => store.index('touchy', 'bad'), { code: 'ERR_KUBELOOM_INDEX_FUNCTION' });
  });

  test('an index function is not called when an item is removed', () => {
    let calls = 0;
    const store = new ThreadSafeStore<string>({ counted: (text) => (calls++, [text]) });
    store.add('1', 'a');
    store.delete('1');
    assert.equal(calls, 1);
    assert.deepEqual(store.listIndexFuncValues('counted'), []);
  });

  test('C93 an index function that throws excludes its write from a transaction, which reports it and does the others', () => {
    const store = filled();
    const error = store.transaction([
      { type: 'add', key: '3', object: 'c' },
      { type: 'update', key: '1', object: 'bad' },
      { type: 'delete', key: '2', object: 'bad' },
    ]);
    assert.deepEqual(error?.successfulIndices, [0, 2]);
    assert.equal(error?.totalTransactions, 3);
    assert.equal(error?.errors.length, 1);
    assert.deepEqual(store.list(), ['a', 'c']);
    assert.deepEqual(indexContent(store, 'touchy'), { a: ['1'], c: ['3'] });
  });

  test('C94 C93 an index function that does not return an array is also an error', () => {
    const store = new ThreadSafeStore<string>({ wrong: (() => undefined) as unknown as () => string[] });
    assert.throws(() => store.add('1', 'a'), { code: 'ERR_KUBELOOM_INDEX_FUNCTION' });
    assert.equal(store.size, 0);
  });
});

describe('resourceVersion of a store', () => {
  test('C97 the resourceVersion of a store is the version of the last write with a version, even if it is lower', () => {
    const store = new ThreadSafeStore<unknown>();
    const steps: [() => unknown, string][] = [
      [() => undefined, ''],
      [() => store.add('key1', versioned('10')), '10'],
      [() => store.add('key3', versioned('10')), '10'],
      [() => store.add('key4', versioned('20')), '20'],
      [() => store.deleteWithObject('key4', versioned('30')), '30'],
      [() => store.add('key5', 'just a string'), '30'],
      [() => store.add('key5', { metadata: {} }), '30'],
      [() => store.add('key5', versioned('')), '30'],
      [() => store.add('key6', versioned('40')), '40'],
      [() => store.delete('key6'), '40'],
      [() => store.deleteWithObject('key6', tombstone('key6', versioned('99'))), '40'],
      [() => store.add('key7', new FakeEntry('', 'key7')), '42'],
      [
        () =>
          store.transaction([
            { type: 'update', key: 'key9', object: versioned('40') },
            { type: 'update', key: 'key10', object: versioned('30') },
            { type: 'update', key: 'key11', object: versioned('50') },
          ]),
        '50',
      ],
      [() => store.transaction([{ type: 'add', key: 'key12', object: 'none' }]), '50'],
      [() => store.transaction([]), '50'],
      [() => store.bookmark('60'), '60'],
      [() => store.update('key1', versioned('15')), '15'],
      [() => store.replace([['key2', versioned('30')]], '70'), '70'],
      [() => store.replace([], ''), ''],
    ];
    for (const [step, expected] of steps) {
      step();
      assert.equal(store.lastStoreSyncResourceVersion(), expected, String(step));
    }
  });

  test('the gauge receives the last 15 digits of the resourceVersion as a number', () => {
    const seen: number[] = [];
    const store = new ThreadSafeStore<unknown>(
      {},
      { metrics: { setResourceVersion: (version) => seen.push(version) } },
    );
    store.add('1', versioned('12'));
    store.add('2', 'none');
    store.bookmark('1234567890123456789');
    store.bookmark('opaque');
    store.replace([], '');
    assert.deepEqual(seen, [12, 567890123456789, 0]);
  });
});

describe('a ThreadSafeStore', () => {
  test('returns new arrays: the caller may write to them', () => {
    const store = new ThreadSafeStore(splitIndex);
    store.replace(Object.entries({ 1: 'a', 2: 'a' }), '1');
    store.list().length = 0;
    store.listKeys().length = 0;
    store.byIndex('parts', 'a').length = 0;
    store.indexKeys('parts', 'a').length = 0;
    for (const items of [store.list(), store.byIndex('parts', 'a')]) assert.deepEqual(items, ['a', 'a']);
    for (const keys of [store.listKeys(), store.indexKeys('parts', 'a')]) assert.deepEqual(keys, ['1', '2']);
  });

  test('keeps an updated item in its place, and lists a replacement in the order of its items', () => {
    const store = new ThreadSafeStore<string>();
    for (const key of ['b', 'a', 'c']) store.add(key, key);
    store.update('b', 'B');
    assert.deepEqual(store.list(), ['B', 'a', 'c']);
    store.replace(Object.entries({ z: 'z', a: 'a' }), '2');
    assert.deepEqual(store.list(), ['z', 'a']);
    assert.equal(store.size, 2);
    assert.equal(store.get('b'), undefined);
  });
});
