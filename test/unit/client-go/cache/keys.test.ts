/** Tests of keys, object names and tombstones: valid values, results and errors. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { inspect } from 'node:util';

import {
  indexFuncToKeyFuncAdapter,
  metaNamespaceIndexFunc,
} from '../../../../src/client-go/cache/indices.ts';
import {
  ExplicitKey,
  KeyError,
  ObjectName,
  deletionHandlingMetaNamespaceKeyFunc,
  deletionHandlingObjectToName,
  keyOf,
  metaNamespaceKeyFunc,
  metaObjectToName,
  objectToName,
  parseObjectName,
  splitMetaNamespaceKey,
} from '../../../../src/kube/keys.ts';
import { isTombstone, tombstone } from '../../../../src/kube/tombstone.ts';
import type { Tombstone } from '../../../../src/kube/tombstone.ts';
import { DeletedFinalStateUnknown } from '../../../../src/replica/store/deleted-final-state-unknown.ts';
import type { Borrowed } from '../../../../src/replica/store/cached-object.ts';
import { Seeded } from '../../kube/json/seeded.ts';
import { FakeEntry, pod } from './objects.ts';

/** A tombstone of an informer; only its key may be read. */
function informerTombstone(key: string): DeletedFinalStateUnknown<unknown> {
  const get = (): never => {
    throw new Error('expired');
  };
  const last = Object.defineProperty({ key }, 'object', { get });
  return new DeletedFinalStateUnknown(last as unknown as Borrowed<unknown>);
}

const KEY_FUNCTIONS = [metaNamespaceKeyFunc, deletionHandlingMetaNamespaceKeyFunc];

describe('metaNamespaceKeyFunc', () => {
  test('C99 a key is namespace/name, and only the name for an object without a namespace', () => {
    for (const keyFunction of KEY_FUNCTIONS) {
      assert.equal(keyFunction(pod('web-0', { namespace: 'default' })), 'default/web-0');
      assert.equal(keyFunction(pod('node-1')), 'node-1');
      assert.equal(keyFunction(pod('node-1', { namespace: '' })), 'node-1');
    }
  });

  test('C99 key functions accept an entry of an informer without decoding its metadata', () => {
    const entry = new FakeEntry('default', 'web-0');
    for (const keyFunction of KEY_FUNCTIONS) assert.equal(keyFunction(entry), 'default/web-0');
    assert.equal(metaNamespaceKeyFunc(new FakeEntry('', 'node-1')), 'node-1');
    assert.equal(entry.metadataReads, 0);
  });

  test("reads the metadata of a custom resource with fields that have the names of an entry's fields", () => {
    const resource = { key: 'other', name: 'other', namespace: 'other', ...pod('a', { namespace: 'b' }) };
    assert.equal(metaNamespaceKeyFunc(resource), 'b/a');
  });

  test('C99 key functions return an explicit key unchanged', () => {
    for (const keyFunction of KEY_FUNCTIONS) assert.equal(keyFunction(new ExplicitKey('a/b/c')), 'a/b/c');
    assert.equal(String(new ExplicitKey('a/b')), 'a/b');
  });

  test('C99 key functions throw a KeyError for a value without metadata or name', () => {
    const metadata = [
      'text',
      { namespace: 'default' },
      { name: '' },
      { name: 7 },
      { name: 'a', namespace: 7 },
    ];
    const keyless = [
      undefined,
      null,
      'default/web-0',
      5,
      {},
      ...metadata.map((each) => ({ metadata: each })),
    ];
    for (const object of keyless) {
      for (const keyFunction of KEY_FUNCTIONS) {
        const isKeyError = (error: unknown): boolean =>
          error instanceof KeyError && error.code === 'ERR_KUBELOOM_KEY' && error.object === object;
        assert.throws(() => keyFunction(object), isKeyError, inspect(object));
      }
    }
  });

  test('C99 only the deletion-handling key function takes a tombstone, and returns its key', () => {
    const dead = tombstone('default/web-0', pod('other'));
    const refused = { code: 'ERR_KUBELOOM_KEY', message: /deletion-handling/ };
    assert.throws(() => metaNamespaceKeyFunc(dead), refused);
    assert.equal(deletionHandlingMetaNamespaceKeyFunc(dead), 'default/web-0');
    const fromInformer = informerTombstone('default/web-1');
    assert.throws(() => metaNamespaceKeyFunc(fromInformer), KeyError);
    assert.equal(deletionHandlingMetaNamespaceKeyFunc(fromInformer), 'default/web-1');
  });
});

describe('KeyError', () => {
  test('unwraps to the error of the key function, also when it is nested', () => {
    const cause = new Error('no id');
    const error = new KeyError(100, cause);
    assert.equal(error.cause, cause);
    assert.equal(error.object, 100);
    const nested = new KeyError(100, error);
    assert.equal((nested.cause as KeyError).cause, cause);
    assert.match(nested.message, /no id/);
  });

  test('does not print the object, which may be a Secret', () => {
    const secret = { kind: 'Secret', metadata: {}, data: { password: 'aHVudGVyMg' } };
    let printed = '';
    try {
      metaNamespaceKeyFunc(secret);
    } catch (error) {
      printed = `${inspect(error, { depth: 10 })} ${JSON.stringify(error)}`;
    }
    assert.match(printed, /a Secret/);
    assert.doesNotMatch(printed, /aHVudGVyMg/);
  });

  test('is the result of keyOf for any error of a key function and any key that is not a string', () => {
    const cause = new Error('no id');
    const failing = (): string => {
      throw cause;
    };
    assert.throws(() => keyOf(failing, 1), { name: 'KeyError', cause });
    assert.throws(() => keyOf((() => undefined) as unknown as () => string, 1), KeyError);
    const ownError = (error: unknown): boolean =>
      error instanceof KeyError && !(error.cause instanceof KeyError);
    assert.throws(() => keyOf<unknown>(metaNamespaceKeyFunc, 1), ownError);
    const empty = (): string => '';
    assert.equal(keyOf(empty, 1), '');
  });
});

describe('object names', () => {
  test('survive parsing and printing: 500 random keys; a leading slash is not printed, two are rejected', () => {
    const random = new Seeded(413);
    const letters = [...'abcdefghi/'];
    for (let round = 0; round < 500; round++) {
      const key = Array.from({ length: 10 }, () => random.pick(letters)).join('');
      const parts = key.split('/');
      if (parts.length > 2) {
        assert.throws(() => parseObjectName(key), { code: 'ERR_KUBELOOM_KEY' }, key);
        assert.throws(() => splitMetaNamespaceKey(key), { code: 'ERR_KUBELOOM_KEY' }, key);
        continue;
      }
      const [namespace = '', name = ''] = parts.length === 2 ? parts : ['', key];
      assert.deepEqual(parseObjectName(key), new ObjectName(namespace, name));
      assert.deepEqual(splitMetaNamespaceKey(key), { namespace, name });
      assert.equal(parseObjectName(key).toString(), key.startsWith('/') ? key.slice(1) : key);
    }
  });

  test('come from objects, entries, metadata and, when deletions are handled, tombstones', () => {
    const expected = new ObjectName('default', 'web-0');
    assert.deepEqual(objectToName(pod('web-0', { namespace: 'default' })), expected);
    assert.deepEqual(objectToName(new FakeEntry('default', 'web-0')), expected);
    assert.deepEqual(metaObjectToName({ namespace: 'default', name: 'web-0' }), expected);
    assert.deepEqual(metaObjectToName({ name: 'node-1' }), new ObjectName('', 'node-1'));
    assert.deepEqual(deletionHandlingObjectToName(tombstone('default/web-0', undefined)), expected);
    assert.deepEqual(deletionHandlingObjectToName(pod('web-0', { namespace: 'default' })), expected);
    assert.throws(() => metaObjectToName({ namespace: 'default' }), KeyError);
  });
});

describe('tombstones', () => {
  test('are distinguished from objects by their mark, also those of informers', () => {
    const fromInformer: Tombstone = informerTombstone('a/b');
    for (const dead of [tombstone('a/b', pod('b')), tombstone('a/b', undefined), fromInformer]) {
      assert.equal(isTombstone(dead), true);
      assert.equal(dead.key, 'a/b');
    }
    for (const other of [undefined, 'a/b', pod('b'), new FakeEntry('a', 'b'), { finalStateUnknown: true }]) {
      assert.equal(isTombstone(other), false);
    }
  });
});

describe('index functions', () => {
  test("metaNamespaceIndexFunc returns the namespace, '' for an object without one", () => {
    assert.deepEqual(metaNamespaceIndexFunc(pod('a', { namespace: 'b' })), ['b']);
    assert.deepEqual(metaNamespaceIndexFunc(new FakeEntry('b', 'a')), ['b']);
    assert.deepEqual(metaNamespaceIndexFunc(pod('a')), ['']);
    assert.throws(() => metaNamespaceIndexFunc('a'), { code: 'ERR_KUBELOOM_OPTION' });
  });

  test('one with exactly one value can be a key function', () => {
    const keyFunction = indexFuncToKeyFuncAdapter((values: readonly string[]) => values);
    assert.equal(keyFunction(['a']), 'a');
    assert.equal(keyFunction(['']), '');
    assert.throws(() => keyFunction([]), { code: 'ERR_KUBELOOM_KEY', message: /no value/ });
    assert.throws(() => keyFunction(['a', 'b']), { code: 'ERR_KUBELOOM_KEY', message: /2 values/ });
  });
});
