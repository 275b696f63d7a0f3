/** Entries: how long each part is readable, and that a read never returns another entry's bytes. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import { DeletedFinalStateUnknown } from '../../../../src/replica/store/deleted-final-state-unknown.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import type { ObjectIdentity } from '../../../../src/replica/store/cached-object.ts';
import type { RetainChecks } from '../../../../src/replica/store/entry-owner.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { compactAll, jsonOf, tableOf, borrowed, newEntry, newOwner, wireObject } from './objects.ts';
import type { ObjectSpec } from './objects.ts';

const EXPIRED = { code: 'ERR_KUBELOOM_BORROW_EXPIRED' };
const WEB_0: ObjectSpec = { namespace: 'default', name: 'web-0', version: 4711, labels: { app: 'web' } };
const STACK = '    at file:///app/controller.js:42:7\n    at file:///app/main.js:7:1';

/** Drops the last reference of a superseded entry, then overwrites its former place. */
function endRowAndOverwrite(entry: Entry): void {
  const table = tableOf(entry);
  if (table.referencesOf(entry.row) === 0) entry.addReference();
  entry.dropReference();
  assert.ok(!table.isCurrent(entry));
  const owner = entry.owner as EntryOwner;
  const junk = Buffer.alloc(1 << 20, 'x');
  for (let count = 0; count < 12; count++) {
    const other = newEntry(owner, { name: 'other', version: count }, { bytes: junk });
    assert.equal(other.row, entry.row, 'its row is used again');
    other.addReference();
    other.dropReference();
  }
  compactAll(owner);
}

function assertExpired(entry: Entry): void {
  const others = [() => entry.retain(), () => JSON.stringify(entry)];
  for (const read of [...readsOf(entry), ...others]) assert.throws(read, EXPIRED);
}

function readsOf(entry: Entry): readonly (() => unknown)[] {
  return [() => entry.object, () => entry.metadata, () => entry.copy(), () => entry.bytes()];
}

/** Returns an entry in the cache: with one reference. */
function cached(retainChecks: RetainChecks, spec: ObjectSpec = WEB_0): Entry {
  const entry = newEntry(newOwner({ retainChecks }), spec);
  entry.addReference();
  return entry;
}

describe('a borrowed entry', () => {
  test('strict: is refused as soon as its call has ended, although it is still in the cache', () => {
    const entry = cached('strict');
    borrowed(entry, STACK, () => assert.deepEqual(entry.object, wireObject(WEB_0)));
    assertExpired(entry);
  });

  for (const [who, borrower, message, stack] of [
    [
      'a handler',
      STACK,
      /borrowed by the handler registered at file:\/\/\/app\/controller\.js:42:7$/,
      `\n${STACK}`,
    ],
    ['an index function', 'index function byNode', /borrowed by index function byNode$/, undefined],
  ] as const) {
    test(`strict: the error is one line that names the object and ${who}; a whole stack is its cause`, () => {
      const entry = cached('strict');
      borrowed(entry, borrower, () => entry.object);
      assert.throws(
        () => entry.object,
        (error: Error) => {
          assert.match(error.message, /^default\/web-0@4711 .*retain\(\)/);
          assert.match(error.message, message);
          assert.doesNotMatch(error.message, /\n/);
          return (
            (error.cause as Error | undefined)?.stack?.endsWith(stack ?? '') === (stack ? true : undefined)
          );
        },
      );
    });
  }

  test('strict: two concurrent calls may read it until the second has ended', () => {
    const entry = cached('strict');
    borrowed(entry, 'first', () => {
      borrowed(entry, 'second', () => entry.object);
      assert.equal((entry.object as { kind: string }).kind, 'Pod');
    });
    assertExpired(entry);
  });

  test('strict: identity, labels and fields stay readable', () => {
    const owner = newOwner({ fields: ['spec.nodeName'] });
    const entry = newEntry(owner, { ...WEB_0, fields: ['node-7'], controllerUid: 'rs-1' });
    endRowAndOverwrite(entry);
    const { key, namespace, name, uid, resourceVersion, controllerUid } = entry;
    assert.deepEqual([key, namespace, name, uid], ['default/web-0', 'default', 'web-0', 'uid-of-web-0']);
    assert.deepEqual([resourceVersion, controllerUid], ['4711', 'rs-1']);
    assert.deepEqual([entry.labels, entry.fields], [{ app: 'web' }, { 'spec.nodeName': 'node-7' }]);
    assert.deepEqual([entry.generation, entry.deletionTimestamp], [undefined, undefined]);
  });

  test('off: is readable while it is in the cache or pending, and refused after that, also when it was read before', () => {
    const entry = cached('off');
    assert.deepEqual(entry.object, wireObject(WEB_0));
    assert.ok(entry.metadata);
    endRowAndOverwrite(entry);
    assert.equal(entry.parts?.object, undefined, 'an unreadable object is not cached');
    assertExpired(entry);
  });

  for (const retainChecks of ['strict', 'off'] satisfies RetainChecks[]) {
    test(`${retainChecks}: when retained, it stays readable after it was superseded, from bytes of its own`, () => {
      const owner = newOwner({ retainChecks });
      const entry = newEntry(owner, WEB_0);
      const kept = borrowed(entry, STACK, () => entry.retain());
      assert.equal(kept, entry, 'the same entry, so that identity comparisons hold');
      endRowAndOverwrite(entry);
      assert.equal(owner.slabs.liveBytes, 0, 'the slabs have their bytes back');
      assert.deepEqual(kept.object, wireObject(WEB_0));
      assert.deepEqual(kept.metadata, wireObject(WEB_0).metadata);
      assert.deepEqual(kept.bytes(), jsonOf(WEB_0));
    });
  }

  test('dropping more references than were added fails an assertion, and frees no bytes twice', () => {
    const entry = cached('strict');
    entry.dropReference();
    assert.throws(() => entry.dropReference(), { code: 'ERR_KUBELOOM_ASSERTION' });
  });
});

describe('reading an entry', () => {
  const MANAGED: ObjectSpec = {
    ...WEB_0,
    labels: { größe: 'naïve', emoji: '🧵' },
    managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:metadata': { 'f:labels': {} } } }, {}],
    spec: { text: 'ünï\u2028"\\', managedFields: 'not these', nested: { metadata: { managedFields: 1 } } },
  };

  function readable(spec: ObjectSpec, cacheBytes: number = 2 ** 20): Entry {
    const entry = newEntry(newOwner({ retainChecks: 'off', cacheBytes }), spec);
    entry.addReference();
    return entry;
  }

  test('returns the same object every time while it is cached', () => {
    const entry = readable(WEB_0);
    assert.equal(entry.object, entry.object);
    assert.equal(entry.toJSON(), entry.object);
    assert.equal(entry.metadata, entry.metadata);
  });

  test('a retained object is cached for longer than a borrowed one when it is read again', () => {
    const owner = newOwner({ retainChecks: 'off', cacheBytes: 2 ** 26 });
    const spec = { padding: 'x'.repeat(2 ** 16) };
    const [borrowedFirst, retained, ...later] = Array.from({ length: 6 }, (_, id) =>
      newEntry(owner, { name: `pod-${id}`, version: 1, spec }),
    );
    assert.ok(borrowedFirst && retained);
    const readOthers = (): void => {
      for (const entry of [borrowedFirst, ...later]) assert.ok(entry.object);
    };
    assert.ok(retained.retain().object);
    readOthers();
    assert.equal(borrowedFirst.parts?.object, undefined);
    assert.equal(retained.parts?.object, undefined);
    const { object } = retained;
    readOthers();
    assert.equal(retained.object, object);
  });

  test('caches nothing when the cache may hold nothing, and still reads right', () => {
    const entry = readable(WEB_0, 0);
    assert.deepEqual(entry.object, wireObject(WEB_0));
    assert.ok(entry.metadata);
    assert.equal(entry.parts?.object, undefined, 'a loop over all objects must not keep them');
    assert.equal(entry.parts, undefined);
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

  test('C330 object and copy() parse managedFields when they are read, not for the check of the identity, nor for metadata', () => {
    const spec = { ...WEB_0, managedFields: [{ manager: 'm', long: 'x'.repeat(4000) }] };
    const damaged = jsonOf(spec).toString().replace('"manager":"m"', '"manager" "m"');
    const entry = newEntry(newOwner({ retainChecks: 'off' }), spec, { bytes: Buffer.from(damaged) });
    entry.addReference();
    for (const object of [entry.object, entry.copy()]) {
      const { metadata } = object as { metadata: { name: string; managedFields: unknown } };
      assert.equal(metadata.name, 'web-0');
      assert.throws(() => metadata.managedFields, {
        code: 'ERR_KUBELOOM_MALFORMED_OBJECT',
        message: /^default\/web-0@4711 /,
      });
    }
    assert.deepEqual(Object.keys(entry.metadata), Object.keys(wireObject(WEB_0).metadata));
  });

  test('metadata that states share keeps nothing in memory when the cache of parsed objects forgets it', () => {
    const entry = newEntry(newOwner({ retainChecks: 'off' }), WEB_0);
    entry.addReference();
    entry.facts.isShared = true;
    const { metadata } = entry;
    assert.equal(entry.facts.parts?.sharedMetadata, metadata);
    entry.facts.forgetDecoded();
    assert.equal(entry.facts.parts, undefined);
  });

  test('metadata of an object without any is empty', () => {
    const entry = newEntry(newOwner({ retainChecks: 'off' }), WEB_0, {
      bytes: Buffer.from('{"kind":"Pod"}'),
    });
    assert.deepEqual(entry.metadata, {});
  });

  test('copy() is mutable, deep, and changes no other copy', () => {
    const entry = readable(MANAGED);
    const copy = entry.copy() as { metadata: { labels: Record<string, string> } };
    copy.metadata.labels['app'] = 'changed';
    assert.deepEqual(entry.object, wireObject(MANAGED));
    assert.deepEqual(entry.copy(), wireObject(MANAGED));
  });

  test('bytes() is private memory: writing to it or transferring it does no harm', () => {
    const entry = readable(WEB_0);
    const bytes = entry.bytes();
    assert.deepEqual(bytes, jsonOf(WEB_0));
    assert.equal(bytes.buffer.byteLength, bytes.length, 'the buffer holds nothing else');
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
});

describe('the tombstone of an entry', () => {
  test('answers like the entry, from the last known state', () => {
    const entry = cached('off');
    const dead = new DeletedFinalStateUnknown(entry);
    const read = ({ key, namespace, name, uid, resourceVersion, generation }: ObjectIdentity): unknown => [
      [key, namespace, name],
      [uid, resourceVersion, generation],
    ];
    assert.deepEqual(read(dead), read(entry));
    const { deletionTimestamp, controllerUid, labels, fields } = dead;
    assert.deepEqual([deletionTimestamp, controllerUid], [entry.deletionTimestamp, entry.controllerUid]);
    assert.deepEqual([labels, fields], [entry.labels, entry.fields]);
    assert.equal(labels['app'], 'web');
    assert.equal(dead.metadata, entry.metadata);
    assert.equal(dead.object, entry.object);
  });

  test('keeps identity, labels and uid readable after the call; metadata and object expire', () => {
    const entry = cached('strict');
    const dead = new DeletedFinalStateUnknown(entry);
    borrowed(entry, STACK, () => assert.equal(dead.metadata, entry.metadata));
    assert.deepEqual([dead.labels, dead.uid], [entry.labels, entry.uid]);
    for (const read of [() => dead.metadata, () => dead.object]) assert.throws(read, EXPIRED);
  });
});

describe('an entry that cannot be read', () => {
  test('too large: every read throws with key and limit; its identity is readable', () => {
    const entry = newEntry(newOwner({ retainChecks: 'off', objectBytesMax: 4096 }), WEB_0, {
      flags: EntryFlag.TooLarge,
    });
    for (const read of readsOf(entry))
      assert.throws(read, { code: 'ERR_KUBELOOM_OBJECT_TOO_LARGE', message: /default\/web-0.*4096/ });
    assert.equal(entry.uid, 'uid-of-web-0');
    assert.equal(entry.resourceVersion, '4711');
    entry.addReference();
    assert.equal(entry.retain(), entry);
    entry.dropReference();
    assert.throws(() => entry.object, { code: 'ERR_KUBELOOM_OBJECT_TOO_LARGE' });
  });

  for (const [what, text, flags] of [
    ['cut off, undetected by the shard', '{"metadata":{"name":"web-0"},"spec":{"a":', 0],
    ['marked by the shard', '{"metadata":{}}', EntryFlag.Malformed],
    ['JSON, but no object', '"just text"', EntryFlag.Malformed],
  ] as const) {
    test(`malformed (${what}): reading throws with the key, and bytes() returns the received bytes`, () => {
      const bytes = Buffer.from(text);
      const entry = newEntry(newOwner({ retainChecks: 'off' }), WEB_0, { bytes, flags });
      const malformed = { code: 'ERR_KUBELOOM_MALFORMED_OBJECT', message: /default\/web-0@4711/ };
      assert.throws(() => entry.object, malformed);
      assert.throws(() => entry.copy(), malformed);
      if (flags) assert.throws(() => entry.metadata, malformed);
      assert.deepEqual(entry.bytes(), bytes);
    });
  }
});

describe('an entry sent to another thread', () => {
  const CLONE = { code: 'ERR_KUBELOOM_CLONE', message: /bytes\(\)/ };

  test('is refused by structuredClone, alone or inside an object, borrowed, retained or in a tombstone', () => {
    const entry = newEntry(newOwner({ retainChecks: 'off' }), WEB_0);
    for (const value of [
      entry,
      { pods: [entry] },
      new DeletedFinalStateUnknown(entry),
      new Set([entry.retain()]),
    ]) {
      assert.throws(() => structuredClone(value), CLONE);
    }
  });

  test('is refused before any part of it, msgpack tables included, is copied', () => {
    const owner = newOwner({ retainChecks: 'off' });
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
