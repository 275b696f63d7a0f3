/**
 * Entries: what can be read for how long, and that nobody ever reads somebody else's bytes.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { MessageChannel } from 'node:worker_threads';

import { DeletedFinalStateUnknown, EntryFlag } from '../../src/store/entry.ts';
import type { Entry } from '../../src/store/entry.ts';
import type { Lifetimes } from '../../src/options.ts';
import type { EntryOwner } from '../../src/store/entry-owner.ts';
import { jsonOf, lent, newEntry, newOwner, wireObject } from './objects.ts';
import type { ObjectSpec } from './objects.ts';

const EXPIRED = { code: 'ERR_KUBELOOM_BORROW_EXPIRED' };
const WEB_0: ObjectSpec = { namespace: 'default', name: 'web-0', version: 4711, labels: { app: 'web' } };
const STACK = '    at file:///app/controller.js:42:7';

/** The entry was superseded and nobody holds it; then its old place is written over. */
function retireAndOverwrite(entry: Entry): void {
  if (entry.holds === 0) entry.hold();
  entry.letGo();
  assert.equal(entry.slab, undefined);
  const { slabs } = entry.owner as EntryOwner;
  const junk = Buffer.alloc(1 << 20, 'x');
  for (let count = 0; count < 12; count++) {
    const owner = { slab: undefined, offset: 0, storedBytes: 0 };
    slabs.put(owner, junk, 0, junk.length);
    slabs.release(owner);
  }
  while (slabs.hasCompaction) slabs.compact();
}

function assertExpired(entry: Entry): void {
  const reads = [
    () => entry.object,
    () => entry.metadata,
    () => entry.copy(),
    () => entry.bytes(),
    () => entry.retain(),
    () => JSON.stringify(entry),
  ];
  for (const read of reads) assert.throws(read, EXPIRED);
}

describe('a borrowed entry', () => {
  test('strict: is refused as soon as its call is done, though it is still in the cache', () => {
    const entry = newEntry(newOwner({ lifetimes: 'strict' }), WEB_0);
    entry.hold();
    lent(entry, STACK, () => assert.deepEqual(entry.object, wireObject(WEB_0)));
    assertExpired(entry);
  });

  test('strict: the error names the object and says where the handler was registered', () => {
    const entry = newEntry(newOwner(), WEB_0);
    entry.hold();
    lent(entry, STACK, () => entry.object);
    assert.throws(
      () => entry.object,
      ({ message }: Error) => {
        assert.match(message, /default\/web-0@4711/);
        assert.match(message, /retain\(\)/);
        assert.ok(message.includes(STACK), message);
        return true;
      },
    );
  });

  test('strict: two calls at a time may read it until the second is done', () => {
    const entry = newEntry(newOwner(), WEB_0);
    entry.hold();
    lent(entry, 'first', () => {
      lent(entry, 'second', () => entry.object);
      assert.equal((entry.object as { kind: string }).kind, 'Pod');
    });
    assertExpired(entry);
  });

  test('strict: identity, labels and fields stay readable for ever', () => {
    const owner = newOwner({ fields: ['spec.nodeName'] });
    const entry = newEntry(owner, { ...WEB_0, fields: ['node-7'], controllerUid: 'rs-1' });
    retireAndOverwrite(entry);
    assert.equal(entry.key, 'default/web-0');
    assert.equal(entry.namespace, 'default');
    assert.equal(entry.name, 'web-0');
    assert.equal(entry.uid, 'uid-of-web-0');
    assert.equal(entry.resourceVersion, '4711');
    assert.equal(entry.controllerUid, 'rs-1');
    assert.deepEqual(entry.labels, { app: 'web' });
    assert.deepEqual(entry.fields, { 'spec.nodeName': 'node-7' });
    assert.equal(entry.generation, undefined);
    assert.equal(entry.deletionTimestamp, undefined);
  });

  test('fast: is readable while it is in the cache or pending, and refused after that', () => {
    const entry = newEntry(newOwner({ lifetimes: 'fast' }), WEB_0);
    entry.hold();
    assert.deepEqual(entry.object, wireObject(WEB_0));
    entry.letGo();
    assertExpired(entry);
  });

  test('fast: an object that was read before it was superseded is refused all the same', () => {
    const entry = newEntry(newOwner({ lifetimes: 'fast' }), WEB_0);
    entry.hold();
    assert.ok(entry.object && entry.metadata);
    retireAndOverwrite(entry);
    assert.equal(entry.decoded, undefined, 'what nobody may read is not kept');
    assertExpired(entry);
  });

  for (const lifetimes of ['strict', 'fast'] satisfies Lifetimes[]) {
    test(`${lifetimes}: retained, it stays readable after it was superseded, from bytes of its own`, () => {
      const owner = newOwner({ lifetimes });
      const entry = newEntry(owner, WEB_0);
      const kept = lent(entry, STACK, () => entry.retain());
      assert.equal(kept, entry, 'the same entry, so that identity comparisons hold');
      retireAndOverwrite(entry);
      assert.equal(owner.slabs.liveBytes, 0, 'the slabs have their bytes back');
      assert.deepEqual(kept.object, wireObject(WEB_0));
      assert.deepEqual(kept.metadata, wireObject(WEB_0).metadata);
      assert.deepEqual(kept.bytes(), jsonOf(WEB_0));
    });
  }

  test('let go more often than held is an invariant broken, not bytes given away twice', () => {
    const entry = newEntry(newOwner(), WEB_0);
    entry.hold();
    entry.letGo();
    assert.throws(() => entry.letGo(), { code: 'ERR_KUBELOOM_ASSERTION' });
  });
});

describe('reading an entry', () => {
  const MANAGED: ObjectSpec = {
    ...WEB_0,
    labels: { größe: 'naïve', emoji: '🧵' },
    managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:metadata': { 'f:labels': {} } } }, {}],
    spec: { text: 'ünï\u2028"\\', managedFields: 'not these', nested: { metadata: { managedFields: 1 } } },
  };

  function readable(spec: ObjectSpec, cacheBytes?: number): Entry {
    const entry = newEntry(
      newOwner({ lifetimes: 'fast', ...(cacheBytes === undefined ? {} : { cacheBytes }) }),
      spec,
    );
    entry.hold();
    return entry;
  }

  test('gives the object as it was received, text that is not ASCII included', () => {
    assert.deepEqual(readable(MANAGED).object, wireObject(MANAGED));
  });

  test('gives the same object every time while it is remembered', () => {
    const entry = readable(WEB_0);
    assert.equal(entry.object, entry.object);
    assert.equal(entry.toJSON(), entry.object);
    assert.equal(entry.metadata, entry.metadata);
  });

  test('what was retained is remembered for longer than what a handler was only lent', () => {
    const owner = newOwner({ lifetimes: 'fast', cacheBytes: 2 ** 26 });
    const spec = { padding: 'x'.repeat(2 ** 16) };
    const [lentFirst, retained, ...later] = Array.from({ length: 6 }, (_, id) =>
      newEntry(owner, { name: `pod-${id}`, version: 1, spec }),
    );
    assert.ok(lentFirst && retained);
    const { object } = retained.retain();
    for (const entry of [lentFirst, ...later]) assert.ok(entry.object);
    assert.equal(lentFirst.decoded, undefined);
    assert.equal(retained.object, object);
  });

  test('remembers nothing when the cache may hold nothing, and still reads right', () => {
    const entry = readable(WEB_0, 0);
    assert.deepEqual(entry.object, wireObject(WEB_0));
    assert.ok(entry.metadata);
    assert.equal(entry.decoded, undefined, 'a loop over all objects must not keep them');
    assert.equal(entry.decodedMetadata, undefined);
  });

  test('metadata is that of the object without managedFields, whichever is read first', () => {
    const { managedFields: _dropped, ...expected } = wireObject(MANAGED).metadata;
    const metadataFirst = readable(MANAGED);
    assert.deepEqual(metadataFirst.metadata, expected);
    assert.deepEqual(metadataFirst.object, wireObject(MANAGED), 'the object itself keeps them');
    const objectFirst = readable(MANAGED);
    assert.ok(objectFirst.object);
    assert.deepEqual(objectFirst.metadata, expected);
  });

  test('metadata of an object without any is empty', () => {
    const entry = newEntry(newOwner({ lifetimes: 'fast' }), WEB_0, { bytes: Buffer.from('{"kind":"Pod"}') });
    assert.deepEqual(entry.metadata, {});
  });

  test('copy() is mutable, deep, and touches nobody else', () => {
    const entry = readable(MANAGED);
    const copy = entry.copy() as { metadata: { labels: Record<string, string> } };
    copy.metadata.labels['app'] = 'changed';
    assert.deepEqual(entry.object, wireObject(MANAGED));
    assert.deepEqual(entry.copy(), wireObject(MANAGED));
  });

  test('bytes() is memory of its own: writing to it or transferring it does no harm', () => {
    const entry = readable(WEB_0);
    const bytes = entry.bytes();
    assert.deepEqual(bytes, jsonOf(WEB_0));
    assert.equal(bytes.buffer.byteLength, bytes.length, 'nothing of anybody else is behind it');
    bytes.fill(0);
    assert.deepEqual(entry.bytes(), jsonOf(WEB_0));
    structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] });
    assert.deepEqual(entry.object, wireObject(WEB_0));
  });

  test('JSON.stringify gives the object, console.log kind, key and version', () => {
    const entry = readable(WEB_0);
    assert.equal(JSON.stringify(entry), JSON.stringify(wireObject(WEB_0)));
    assert.equal(inspect(entry), 'Pod default/web-0@4711');
    assert.equal(inspect([entry]), '[ Pod default/web-0@4711 ]');
    assert.equal(
      inspect(new DeletedFinalStateUnknown(entry)),
      'DeletedFinalStateUnknown Pod default/web-0@4711',
    );
  });

  test('a resourceVersion that is no number is given as it is', () => {
    const entry = readable({ name: 'n', version: '0007-opaque' });
    assert.equal(entry.resourceVersion, '0007-opaque');
    assert.equal(inspect(entry), 'Pod n@0007-opaque');
  });
});

describe('an entry that cannot be read', () => {
  test('too large: every read says so and names key and limit; what identifies it is there', () => {
    const entry = newEntry(newOwner({ lifetimes: 'fast', recordBytesMax: 4096 }), WEB_0, {
      flags: EntryFlag.TooLarge,
    });
    for (const read of [() => entry.object, () => entry.metadata, () => entry.copy(), () => entry.bytes()]) {
      assert.throws(read, { code: 'ERR_KUBELOOM_OBJECT_TOO_LARGE', message: /default\/web-0.*4096/ });
    }
    assert.equal(entry.uid, 'uid-of-web-0');
    assert.equal(entry.resourceVersion, '4711');
    entry.hold();
    assert.equal(entry.retain(), entry);
    entry.letGo();
    assert.throws(() => entry.object, { code: 'ERR_KUBELOOM_OBJECT_TOO_LARGE' });
  });

  for (const [what, text, flags] of [
    ['cut off, unnoticed by the shard', '{"metadata":{"name":"web-0"},"spec":{"a":', 0],
    ['marked by the shard', '{"metadata":{}}', EntryFlag.Malformed],
    ['JSON, but no object', '"just text"', EntryFlag.Malformed],
  ] as const) {
    test(`malformed (${what}): reading throws with the key, and bytes() shows what came`, () => {
      const bytes = Buffer.from(text);
      const entry = newEntry(newOwner({ lifetimes: 'fast' }), WEB_0, { bytes, flags });
      const malformed = { code: 'ERR_KUBELOOM_MALFORMED_OBJECT', message: /default\/web-0@4711/ };
      assert.throws(() => entry.object, malformed);
      assert.throws(() => entry.copy(), malformed);
      if (flags) assert.throws(() => entry.metadata, malformed);
      assert.deepEqual(entry.bytes(), bytes);
    });
  }
});

describe('an entry on its way to another thread', () => {
  const CLONE = { code: 'ERR_KUBELOOM_CLONE', message: /bytes\(\)/ };

  test('is refused by structuredClone, alone or inside something, on both doors and in tombstones', () => {
    const entry = newEntry(newOwner({ lifetimes: 'fast' }), WEB_0);
    for (const value of [
      entry,
      { pods: [entry] },
      new DeletedFinalStateUnknown(entry),
      new Set([entry.retain()]),
    ]) {
      assert.throws(() => structuredClone(value), CLONE);
    }
  });

  test('is refused before anything of it, msgpack tables included, is copied', () => {
    const owner = newOwner({ lifetimes: 'fast' });
    owner.decoders.set(0, { decode: () => ({}), update: () => {} } as never);
    assert.throws(() => structuredClone(newEntry(owner, WEB_0)), CLONE);
  });

  test('is refused by postMessage', () => {
    const { port1, port2 } = new MessageChannel();
    assert.throws(() => port1.postMessage(newEntry(newOwner(), WEB_0)), CLONE);
    port1.close();
    port2.close();
  });
});
