/** The comparison of an entry with a listed object: loose or packed, JSON or msgpack. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MsgpackDecoder } from '../../../../src/shared/record/msgpack.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import type { EncodedObject, Entry } from '../../../../src/replica/store/entry.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { ShardCodec, isPacked, jsonOf, newEntry, newOwner, packRounds, wireObject } from './objects.ts';
import type { ObjectSpec } from './objects.ts';

function assertHas(entry: Entry, object: EncodedObject, expected: boolean, message?: string): void {
  assert.equal((entry.owner as EntryOwner).hasObject(entry.row, object, object.decoder), expected, message);
}

function stateOf(text: string): ObjectSpec {
  return { name: 'a', version: 5, spec: { containers: [{ name: 'main', image: text.repeat(100) }] } };
}

function jsonObject(spec: ObjectSpec): EncodedObject {
  const json = jsonOf(spec);
  // The bytes lie between others, as in a ring or in the log.
  const bytes = Buffer.concat([Buffer.from('before'), json, Buffer.from('behind')]);
  return { bytes, start: 6, length: json.length, decoder: undefined };
}

function encode(shard: ShardCodec, spec: ObjectSpec): EncodedObject {
  return shard.encode(wireObject(spec), '') ?? assert.fail('msgpack has it');
}

function msgpackEntry(owner: EntryOwner, spec: ObjectSpec, { bytes, length, decoder }: EncodedObject): Entry {
  return newEntry(owner, spec, { bytes: bytes.subarray(0, length), decoder });
}

describe('an entry has a listed object', () => {
  for (const [where, willPack] of [
    ['in a chunk', false],
    ['packed', true],
  ] as const) {
    test(`C31 C200 when its bytes are equal, ${where}`, () => {
      const owner = newOwner({ packing: { totalBytesMin: 0, wastedBytesMin: 0 } });
      const entry = newEntry(owner, stateOf('old'));
      if (willPack) packRounds(owner, 2);
      assertHas(entry, jsonObject(stateOf('old')), true);
      assertHas(entry, jsonObject(stateOf('new')), false);
      assertHas(entry, jsonObject(stateOf('longer')), false);
      assert.equal(isPacked(entry), willPack, 'it stays as it was');
    });
  }

  test('C31 C200 when only its msgpack differs, because a shape became a record or another shard wrote it', () => {
    const shard = new ShardCodec();
    const [first, second] = [encode(shard, stateOf('old')), encode(shard, stateOf('old'))];
    assert.notDeepEqual(first.bytes, second.bytes);
    const entry = msgpackEntry(newOwner(), stateOf('old'), first);
    for (const same of [
      first,
      second,
      encode(shard, stateOf('old')),
      encode(new ShardCodec(), stateOf('old')),
    ])
      assertHas(entry, same, true);
    for (const other of [encode(shard, stateOf('new')), encode(new ShardCodec(), stateOf('new'))])
      assertHas(entry, other, false);
    assertHas(entry, jsonObject(stateOf('old')), true, 'what msgpack cannot hold stays JSON');
    assertHas(entry, jsonObject(stateOf('new')), false);
  });

  test('C31 C200 when both are unreadable and their known parts are equal', () => {
    const bytes = Buffer.from('{"metadata":');
    const entry = newEntry(newOwner(), stateOf('old'), { bytes, flags: EntryFlag.Malformed });
    const same = { bytes, start: 0, length: bytes.length, decoder: undefined };
    assertHas(entry, same, true);
    assertHas(entry, { ...same, decoder: new MsgpackDecoder() }, true);
    assertHas(entry, jsonObject(stateOf('old')), false);
  });
});
