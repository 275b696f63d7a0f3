/** Members of entries: what is parsed alone equals the member of the whole, and states share what has not changed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { specChanged, statusChanged } from '../../../../src/controller/predicates.ts';
import { deepFreeze } from '../../../../src/base/deep-freeze.ts';
import { DeletedFinalStateUnknown } from '../../../../src/replica/store/deleted-final-state-unknown.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import type { ObjectFacts } from '../../../../src/replica/store/extracted-fields.ts';
import { randomJson, writeJson } from '../../kube/json/random-json.ts';
import type { Json } from '../../kube/json/random-json.ts';
import { Seeded } from '../../kube/json/seeded.ts';
import {
  ShardCodec,
  borrowed,
  factsOf,
  extractedText,
  identityOf,
  newEntry,
  newOwner,
  packRounds,
} from './objects.ts';
import type { ObjectSpec } from './objects.ts';

const PACK_ALL = { totalBytesMin: 0, wastedBytesMin: 0 };
const NAMES = ['spec', 'status', 'data', 'kind', 'absent'];

/** Returns an entry in the cache with this text. */
function entryOf(owner: EntryOwner, text: string, version = 1): Entry {
  const entry = newEntry(owner, { name: 'web-0', version }, { bytes: Buffer.from(text) });
  entry.addReference();
  return entry;
}

/** Returns an entry in the cache with this object in msgpack; undefined for what stays JSON. */
function msgpackEntry(
  owner: EntryOwner,
  codec: ShardCodec,
  text: string,
  facts?: ObjectFacts,
): Entry | undefined {
  const encoded = codec.encode(JSON.parse(text) as object, text);
  if (encoded === undefined) return undefined;
  const { bytes, decoder } = encoded;
  const entry = newEntry(owner, SPEC, { bytes, decoder, ...(facts ? { facts } : {}) });
  entry.addReference();
  return entry;
}

/** Two states of an object with the same facts, as an update that leaves the metadata alone gives them. */
class States {
  readonly owner: EntryOwner;
  readonly #facts = factsOf(identityOf(SPEC), extractedText(SPEC));
  #version = 0;

  constructor(options: Parameters<typeof newOwner>[0] = {}) {
    this.owner = newOwner({ guard: deepFreeze, packing: PACK_ALL, ...options });
  }

  next(object: object): Entry {
    const bytes = Buffer.from(JSON.stringify({ kind: 'Pod', metadata: { name: 'web-0' }, ...object }));
    const spec = { ...SPEC, version: ++this.#version };
    const entry = newEntry(this.owner, spec, { bytes, facts: this.#facts });
    entry.addReference();
    return entry;
  }

  /** Calls back as a handler with both states is called. */
  update<T>(before: Entry, after: Entry, call: () => T): T {
    after.follow(before);
    return borrowed(before, '', () => borrowed(after, '', call));
  }
}

const SPEC: ObjectSpec = { name: 'web-0', version: 1 };

describe('a member', () => {
  test('C330 equals the member of the parsed object, whatever the object is, in msgpack or JSON, packed or not', () => {
    const random = new Seeded(7);
    const codec = new ShardCodec();
    for (let count = 0; count < 300; count++) {
      const members = Array.from({ length: random.below(6) }, () => {
        const value = writeJson(randomJson(random, 3), random, { spaces: 0.1, escapes: 0.1 });
        return `"${random.pick(NAMES.slice(0, 4))}":${value}`;
      });
      const owner = newOwner({ packing: PACK_ALL });
      const text = `{"kind":"Pod",${[...members, '"z":0'].join(',')}}`;
      const packed = random.chance(0.3) ? msgpackEntry(owner, codec, text) : undefined;
      const entry = packed ?? entryOf(owner, text);
      if (random.chance(0.3)) packRounds(owner, 2);
      const order = random.shuffle(NAMES);
      borrowed(entry, '', () => {
        const read = order.map((name) => entry.member(name));
        const object = entry.object as Readonly<Record<string, unknown>>;
        const whole = order.map((name) => (Object.hasOwn(object, name) ? object[name] : undefined));
        assert.deepEqual(read, whole, entry.bytes().toString());
      });
    }
  });

  test('C330 is found by the text of the key, which may contain a backslash or half a surrogate pair', () => {
    const entry = entryOf(newOwner(), String.raw`{"a\b":1,"\ud800":2,"c\\d":3}`);
    const read = (): unknown[] =>
      ['a\\b', 'a\b', '\ud800', 'c\\d', '\ufffd'].map((name) => entry.member(name));
    borrowed(entry, '', () => assert.deepEqual(read(), [undefined, 1, 2, 3, undefined]));
  });

  test('has the error of the object when there is none to read', () => {
    const owner = newOwner();
    for (const [text, flags, code] of [
      ['{"spec":{"a":1}', 0, 'ERR_KUBELOOM_MALFORMED_OBJECT'],
      ['{"spec":{"a":}}', 0, 'ERR_KUBELOOM_MALFORMED_OBJECT'],
      ['{}', EntryFlag.TooLarge, 'ERR_KUBELOOM_OBJECT_TOO_LARGE'],
    ] as const) {
      const entry = newEntry(owner, SPEC, { bytes: Buffer.from(text), flags });
      entry.addReference();
      borrowed(entry, '', () => assert.throws(() => entry.spec, { code }));
      assert.throws(() => entry.status, { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
    }
  });

  test('C330 is read right, and is within the budget, when listers read what calls have compared', () => {
    for (const cacheBytes of [0, 2 ** 20]) {
      const states = new States({ cacheBytes, retainChecks: 'off' });
      const { table, decodedCache } = states.owner;
      const compared = [1, 2, 3, 4].map((status) => states.next({ spec: { a: [1] }, status }));
      const [first, ...others] = compared as [Entry, ...Entry[]];
      let before = first;
      for (const object of others) {
        states.update(before, object, () => {
          assert.equal(specChanged({ type: 'update', previous: before, object }), false);
        });
        before = object;
        assert.deepEqual(table.handOut(object.row).spec, { a: [1] });
        assert.ok(decodedCache.costBytes <= cacheBytes);
      }
    }
  });

  test('is kept from call to call only while the cache of parsed objects counts it', () => {
    const states = new States({ retainChecks: 'off' });
    const [first, second, third] = [1, 2, 3].map((status) => states.next({ spec: { a: 1 }, status })) as [
      Entry,
      Entry,
      Entry,
    ];
    assert.ok(first.spec);
    for (const [previous, object] of [
      [first, second],
      [second, third],
    ] as const) {
      const change = { type: 'update', previous, object } as const;
      states.update(previous, object, () => assert.equal(specChanged(change), false));
    }
    first.forgetDecoded();
    assert.equal(third.facts.parts?.hasValues, false);
  });

  test('C330 is the last with its key, although the state before has another there, and may have an empty key', () => {
    const owner = newOwner();
    const before = entryOf(owner, '{"x":1,"status":1,"spec":{}}', 1);
    const after = entryOf(owner, '{"x":1,"status":1,"status":2}', 2);
    after.follow(before);
    borrowed(before, '', () =>
      borrowed(after, '', () => {
        assert.equal(before.status, 1);
        assert.deepEqual([after.member('x'), after.status], [1, 2]);
      }),
    );
    const entries = ['{"kind":"Pod","spec":{"a":1}}', '{"":5,"spec":{"a":1}}'].map((text) =>
      entryOf(owner, text),
    );
    const empty = entries.map((entry) => borrowed(entry, '', () => entry.member('')));
    assert.deepEqual(empty, [undefined, 5]);
  });

  test('counts once in the cache of parsed objects, together with the other members of an entry', () => {
    const entry = entryOf(newOwner({ retainChecks: 'off' }), '{"spec":{"a":1},"data":{"b":2}}');
    assert.ok(entry.spec);
    const { decodedCache } = entry.owner;
    const { costBytes } = decodedCache;
    assert.ok(entry.member('data'));
    assert.equal(decodedCache.costBytes, costBytes);
  });

  test('is also on tombstones and on retained entries', () => {
    const entry = entryOf(newOwner(), '{"spec":{"a":1},"data":{"b":2}}');
    borrowed(entry, '', () => {
      const tombstone = new DeletedFinalStateUnknown(entry);
      assert.deepEqual(
        [tombstone.spec, tombstone.status, tombstone.member('data')],
        [{ a: 1 }, undefined, { b: 2 }],
      );
      entry.retain();
    });
    entry.dropReference();
    assert.deepEqual([entry.spec, entry.member('data')], [{ a: 1 }, { b: 2 }]);
  });
});

describe('in an update', () => {
  test('C331 a member with unchanged bytes has the same value in both states, in any order of reads', () => {
    for (const isNewFirst of [true, false]) {
      const states = new States();
      let before = states.next({ spec: { a: [1] }, status: { n: 0 } });
      for (let n = 1; n < 5; n++) {
        const after = states.next({ spec: { a: [1] }, status: { n } });
        states.update(before, after, () => {
          const [x, y] = isNewFirst ? [after, before] : [before, after];
          assert.equal(x.spec, y.spec);
          assert.deepEqual(x.spec, { a: [1] });
          assert.notEqual(x.status, y.status);
          assert.deepEqual([before.status, after.status], [{ n: n - 1 }, { n }]);
        });
        before.dropReference();
        before = after;
      }
    }
  });

  test('C330 C331 members are those of the object, and shared while their bytes stay, through random updates', () => {
    const random = new Seeded(33);
    for (let object = 0; object < 300; object++) {
      const states = new States({ cacheBytes: random.pick([0, 1000, 2 ** 20]) });
      const members: Record<string, Json> = { spec: randomJson(random, 3), status: 0, data: null };
      let before = states.next(members);
      for (let update = 0; update < 20; update++) {
        const changed = random.pick(['spec', 'status', 'data', 'none']);
        const old = { ...members };
        if (changed !== 'none') members[changed] = randomJson(random, 3);
        const after = states.next(members);
        if (random.chance(0.05)) packRounds(states.owner, 2);
        states.update(before, after, () => {
          for (const name of random.shuffle(Object.keys(members))) {
            const read = new Map(random.shuffle([before, after]).map((state) => [state, state.member(name)]));
            const [previous, current] = [read.get(before), read.get(after)];
            assert.deepEqual([previous, current], [old[name], members[name]]);
            if (name !== changed) assert.equal(previous, current);
          }
        });
        before.dropReference();
        before = after;
      }
      before.dropReference();
    }
  });

  test('C331 values that were read before the call are one value in the call', () => {
    for (const isObjectRead of [false, true]) {
      const states = new States();
      const [before, after] = [1, 2].map((status) => states.next({ spec: { a: [1] }, status })) as [
        Entry,
        Entry,
      ];
      for (const entry of [before, after]) {
        states.owner.keep(entry);
        assert.ok(isObjectRead ? entry.object : entry.spec);
      }
      states.update(before, after, () => {
        assert.equal(after.spec, before.spec);
        assert.equal(after.spec, before.spec);
        assert.deepEqual([before.status, after.status], [1, 2]);
      });
    }
  });

  test('C331 a state that is the newer in one call and the older in another has one value with both others', () => {
    const states = new States();
    const [first, second, third] = [1, 2, 3].map((status) => states.next({ spec: { a: 1 }, status })) as [
      Entry,
      Entry,
      Entry,
    ];
    states.update(first, second, () =>
      states.update(second, third, () => {
        const { spec } = third;
        assert.equal(second.spec, spec);
        assert.equal(first.spec, spec);
      }),
    );
  });

  test('C331 each state in msgpack has values of its own, and specChanged compares what they hold', () => {
    const owner = newOwner();
    const codec = new ShardCodec();
    const facts = factsOf(identityOf(SPEC), extractedText(SPEC));
    const [before, after] = [0, 1].map((n) =>
      msgpackEntry(owner, codec, `{"spec":{"a":[1]},"status":{"n":${n}}}`, facts),
    ) as [Entry, Entry];
    after.follow(before);
    borrowed(before, '', () =>
      borrowed(after, '', () => {
        assert.deepEqual([before.spec, before.status], [{ a: [1] }, { n: 0 }]);
        assert.deepEqual(
          [after.spec, after.status, after.member('absent')],
          [{ a: [1] }, { n: 1 }, undefined],
        );
        assert.notEqual(before.spec, after.spec);
        assert.equal(after.spec, after.spec);
        const change = { type: 'update', previous: before, object: after } as const;
        assert.deepEqual([specChanged(change), statusChanged(change)], [false, true]);
      }),
    );
  });

  test('an unchanged member is parsed once for all states after the second update', () => {
    const states = new States();
    let before = states.next({ spec: { a: 1 }, status: 0 });
    const seen = new Set<unknown>();
    for (let n = 1; n < 6; n++) {
      const after = states.next({ spec: { a: 1 }, status: n });
      states.update(before, after, () => seen.add(after.spec));
      before.dropReference();
      before = after;
    }
    // The first update finds the member, the second finds equal bytes and keeps the value.
    assert.equal(seen.size, 2);
  });

  test('C331 one value is the value of the whole call, however little is cached, and of no later call', () => {
    const owner = newOwner({ cacheBytes: 0 });
    const facts = factsOf(identityOf(SPEC), extractedText(SPEC));
    const [before, after] = [1, 2].map((version) => {
      const bytes = Buffer.from(`{"spec":{"a":1},"status":${version}}`);
      const entry = newEntry(owner, { ...SPEC, version }, { bytes, facts });
      entry.addReference();
      return entry;
    }) as [Entry, Entry];
    after.follow(before);
    borrowed(before, '', () =>
      borrowed(after, '', () => {
        assert.equal(before.spec, after.spec);
        assert.equal(after.spec, after.spec);
        assert.deepEqual(after.object, { spec: { a: 1 }, status: 2 });
        assert.equal(before.spec, after.spec);
      }),
    );
    assert.deepEqual([before.parts, after.parts], [undefined, undefined]);
  });

  test('C332 a state whose predecessor cannot be read is readable, and counts as changed', () => {
    const states = new States();
    for (const flags of [EntryFlag.TooLarge, EntryFlag.Malformed]) {
      const before = newEntry(states.owner, SPEC, { bytes: Buffer.from('{}'), flags });
      before.addReference();
      const after = states.next({ spec: { a: 1 }, status: 'y' });
      states.update(before, after, () => {
        assert.deepEqual([after.spec, after.status], [{ a: 1 }, 'y']);
        const change = { type: 'update', previous: before, object: after } as const;
        assert.deepEqual([specChanged(change), statusChanged(change)], [true, true]);
      });
    }
  });

  test('C331 a member is the last with its name in each state, although its bytes are at one place', () => {
    const states = new States();
    const texts = ['{"spec":1,"data":0,"spec":2}', '{"spec":1,"data":0,"x":2}', '{"spec":1,"data":0,"x":2}'];
    const facts = factsOf(identityOf(SPEC), extractedText(SPEC));
    const entries = texts.map((text, at) => {
      const entry = newEntry(states.owner, { ...SPEC, version: at }, { bytes: Buffer.from(text), facts });
      entry.addReference();
      return entry;
    });
    const read: unknown[] = [];
    for (const [at, after] of entries.entries()) {
      const before = entries[at - 1];
      if (!before) continue;
      states.update(before, after, () => {
        read.push(before.spec, before.member('absent'), after.spec);
        const change = { type: 'update', previous: before, object: after } as const;
        read.push(specChanged(change));
      });
    }
    assert.deepEqual(read, [2, undefined, 1, true, 1, undefined, 1, false]);
  });

  test('C332 specChanged and statusChanged compare bytes, and parse nothing', () => {
    const states = new States();
    const before = states.next({ spec: { a: 1 }, status: 'x' });
    const after = states.next({ spec: { a: 1 }, status: 'y' });
    states.update(before, after, () => {
      const change = { type: 'update', previous: before, object: after } as const;
      assert.deepEqual([specChanged(change), statusChanged(change)], [false, true]);
      assert.equal(states.owner.decodedCache.misses, 0);
      const added = { type: 'add', object: after, isInInitialList: false } as const;
      assert.deepEqual([specChanged(added), statusChanged(added)], [true, true]);
    });
    const without = states.next({ spec: { a: 1 } });
    states.update(after, without, () => {
      const change = { type: 'update', previous: after, object: without } as const;
      assert.deepEqual([specChanged(change), statusChanged(change)], [false, true]);
    });
  });
});
