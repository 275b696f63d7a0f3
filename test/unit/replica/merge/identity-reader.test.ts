/** The identity of an object, read from its first record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdentityReader } from '../../../../src/replica/merge/informer-merge.ts';
import { emptyNotification } from '../../../../src/shared/record/notification.ts';
import type { Identity } from '../../../../src/replica/store/entry.ts';

const TEXT_OFFSET = 12;

function read(reader: IdentityReader, namespace: string, name: string): Identity {
  const record = {
    ...emptyNotification(),
    textOffset: TEXT_OFFSET,
    namespaceLength: Buffer.byteLength(namespace),
    nameLength: Buffer.byteLength(name),
  };
  return reader.read(record, Buffer.from(`${'.'.repeat(TEXT_OFFSET)}${namespace}${name}and what follows`));
}

const cases: readonly { readonly title: string; readonly namespace: string; readonly name: string }[] = [
  { title: 'an object in a namespace', namespace: 'default', name: 'web-0' },
  { title: 'an object of the cluster', namespace: '', name: 'node-1' },
  { title: 'a name with a slash', namespace: '', name: 'a/b' },
  { title: 'a name beyond ASCII', namespace: 'größe', name: '名前' },
  { title: 'a name longer than any of Kubernetes', namespace: 'n'.repeat(300), name: 'x'.repeat(3000) },
];

for (const { title, namespace, name } of cases) {
  test(`key, namespace and name are those of the record: ${title}`, () => {
    const identity = read(new IdentityReader(), namespace, name);
    assert.equal(identity.key, namespace === '' ? name : `${namespace}/${name}`);
    assert.equal(identity.namespace, namespace);
    assert.equal(identity.name, name);
  });
}

test('objects in changing namespaces get their own identities', () => {
  const reader = new IdentityReader();
  const wanted = ['a/long-name', 'a/b', 'b/b', 'a/b', 'c', 'a/c'];
  const got = wanted.map((key) => {
    const [namespace = '', name = ''] = key.includes('/') ? key.split('/') : ['', key];
    return read(reader, namespace, name);
  });
  assert.deepEqual(
    got.map(({ namespace, name }) => (namespace === '' ? name : `${namespace}/${name}`)),
    wanted,
  );
});
