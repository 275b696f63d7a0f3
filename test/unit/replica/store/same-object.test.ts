/** The comparison of an entry with a listed object: loose or packed, JSON or msgpack. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { MsgpackEncoder, encodeStructures } from '../../../../src/indexer/msgpack-encoder.ts';
import { MsgpackDecoder } from '../../../../src/shared/record/msgpack.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import type { EncodedObject, Entry } from '../../../../src/replica/store/entry.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { isPacked, jsonOf, newEntry, newOwner, packRounds, wireObject } from './objects.ts';
import type { ObjectSpec } from './objects.ts';

const SHAPE_BYTES_MAX = 4096;

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

/** One shard with its msgpack tables. */
class Codec {
  readonly #encoder: MsgpackEncoder = new MsgpackEncoder(SHAPE_BYTES_MAX);
  readonly #decoder: MsgpackDecoder = new MsgpackDecoder();

  encode(spec: ObjectSpec): EncodedObject {
    const bytes = this.#encoder.encode(wireObject(spec), '') ?? Buffer.alloc(0);
    const { first, structures } = this.#encoder.takeNewStructures();
    for (const record of encodeStructures(first, structures, SHAPE_BYTES_MAX)) this.#decoder.update(record);
    return { bytes: Buffer.from(bytes), start: 0, length: bytes.length, decoder: this.#decoder };
  }
}

function msgpackEntry(owner: EntryOwner, spec: ObjectSpec, { bytes, length, decoder }: EncodedObject): Entry {
  return newEntry(owner, spec, { bytes: bytes.subarray(0, length), decoder });
}

describe('an entry has a listed object', () => {
  for (const [where, willPack] of [
    ['in a chunk', false],
    ['packed', true],
  ] as const) {
    test(`C31 C200 when its bytes are the same, ${where}`, () => {
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
    const shard = new Codec();
    const [first, second] = [shard.encode(stateOf('old')), shard.encode(stateOf('old'))];
    assert.notDeepEqual(first.bytes, second.bytes);
    const entry = msgpackEntry(newOwner(), stateOf('old'), first);
    for (const same of [first, second, shard.encode(stateOf('old')), new Codec().encode(stateOf('old'))])
      assertHas(entry, same, true);
    for (const other of [shard.encode(stateOf('new')), new Codec().encode(stateOf('new'))])
      assertHas(entry, other, false);
    assertHas(entry, jsonObject(stateOf('old')), true, 'what msgpack cannot hold stays JSON');
    assertHas(entry, jsonObject(stateOf('new')), false);
  });

  test('C31 C200 when both are unreadable and their known parts are the same', () => {
    const bytes = Buffer.from('{"metadata":');
    const entry = newEntry(newOwner(), stateOf('old'), { bytes, flags: EntryFlag.Malformed });
    const same = { bytes, start: 0, length: bytes.length, decoder: undefined };
    assertHas(entry, same, true);
    assertHas(entry, { ...same, decoder: new MsgpackDecoder() }, true);
    assertHas(entry, jsonObject(stateOf('old')), false);
  });
});
