/** The identity of an object, read from its first record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdentityReader } from '../../../../src/replica/merge/informer-merge.ts';
import { Notification } from '../../../../src/shared/record/notification.ts';
import type { Identity } from '../../../../src/replica/store/extracted-fields.ts';

const TEXT_OFFSET = 12;

function read(reader: IdentityReader, namespace: string, name: string): Identity {
  const record = {
    ...new Notification(),
    textOffset: TEXT_OFFSET,
    namespaceLength: Buffer.byteLength(namespace),
    nameLength: Buffer.byteLength(name),
  };
  return reader.read(record, Buffer.from(`${'.'.repeat(TEXT_OFFSET)}${namespace}${name}and what follows`));
}

for (const [title, namespace, name] of [
  ['an object in a namespace', 'default', 'web-0'],
  ['an object of the cluster', '', 'node-1'],
  ['a name with a slash', '', 'a/b'],
  ['a name beyond ASCII', 'größe', '名前'],
  ['a name longer than any of Kubernetes', 'n'.repeat(300), 'x'.repeat(3000)],
] as const) {
  test(`key, namespace and name come from the record: ${title}`, () => {
    const identity = read(new IdentityReader(), namespace, name);
    const key = namespace === '' ? name : `${namespace}/${name}`;
    assert.deepEqual([identity.key, identity.namespace, identity.name], [key, namespace, name]);
  });
}

test('objects in changing namespaces get their own identities', () => {
  const reader = new IdentityReader();
  // The characters of the third last one have the codes of the bytes of the next one.
  const wanted = ['a/long-name', 'a/b', 'b/b', 'a/b', 'c', 'a/c', 'Ã©/a', 'é/a', 'è/a'];
  const got = wanted.map((key) => {
    const [namespace = '', name = ''] = key.includes('/') ? key.split('/') : ['', key];
    return read(reader, namespace, name);
  });
  assert.deepEqual(
    got.map(({ namespace, name }) => (namespace === '' ? name : `${namespace}/${name}`)),
    wanted,
  );
});
