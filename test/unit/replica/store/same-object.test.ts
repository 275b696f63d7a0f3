/** The comparison of an entry with a listed object: loose or packed, JSON or msgpack. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { MsgpackEncoder } from '../../../../src/indexer/msgpack-encoder.ts';
import { MsgpackDecoder, encodeStructures } from '../../../../src/shared/record/msgpack.ts';
import { Entry, EntryFlag } from '../../../../src/replica/store/entry.ts';
import type { EncodedObject, EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import {
  identityOf,
  jsonOf,
  newEntry,
  newOwner,
  projectionOf,
  projectionText,
  wireObject,
} from './objects.ts';
import type { ObjectSpec } from './objects.ts';

const SHAPE_BYTES_MAX = 4096;

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
  const projection = projectionOf(projectionText(spec));
  const entry = new Entry(owner, identityOf(spec), projection, spec.version, 0, decoder);
  owner.put(entry, bytes, 0, length);
  return entry;
}

describe('an entry has a listed object', () => {
  test('C31 C200 when its bytes are the same, wherever they are stored', () => {
    const owner = newOwner();
    const entry = newEntry(owner, stateOf('old'));
    assert.equal(owner.hasObject(entry, jsonObject(stateOf('old'))), true);
    assert.equal(owner.hasObject(entry, jsonObject(stateOf('new'))), false);
    assert.equal(owner.hasObject(entry, jsonObject(stateOf('longer'))), false);
  });

  test('C31 C200 when it is packed and unpacks to the same bytes', () => {
    const owner = newOwner({ packing: { totalBytesMin: 0, wastedBytesMin: 0 } });
    const entry = newEntry(owner, stateOf('old'));
    for (let round = 0; round < 2; round++) for (const steps = owner.packed.round(); !steps.next().done;);
    assert.equal(entry.flags & EntryFlag.Packed, EntryFlag.Packed);
    assert.equal(owner.hasObject(entry, jsonObject(stateOf('old'))), true);
    assert.equal(owner.hasObject(entry, jsonObject(stateOf('new'))), false);
    assert.equal(entry.flags & EntryFlag.Packed, EntryFlag.Packed, 'it stays packed');
  });

  test('C31 C200 when only its msgpack differs, because a shape became a record or another shard wrote it', () => {
    const owner = newOwner();
    const shard = new Codec();
    const [first, second] = [shard.encode(stateOf('old')), shard.encode(stateOf('old'))];
    assert.notDeepEqual(first.bytes, second.bytes);
    const entry = msgpackEntry(owner, stateOf('old'), first);
    for (const same of [first, second, shard.encode(stateOf('old')), new Codec().encode(stateOf('old'))]) {
      assert.equal(owner.hasObject(entry, same), true);
    }
    for (const other of [shard.encode(stateOf('new')), new Codec().encode(stateOf('new'))]) {
      assert.equal(owner.hasObject(entry, other), false);
    }
    assert.equal(
      owner.hasObject(entry, jsonObject(stateOf('old'))),
      true,
      'what msgpack cannot hold stays JSON',
    );
    assert.equal(owner.hasObject(entry, jsonObject(stateOf('new'))), false);
  });

  test('C31 C200 when both are unreadable and their known parts are the same', () => {
    const owner = newOwner();
    const entry = newEntry(owner, stateOf('old'), {
      bytes: Buffer.from('{"metadata":'),
      flags: EntryFlag.Malformed,
    });
    const same = { bytes: Buffer.from('{"metadata":'), start: 0, length: 12, decoder: undefined };
    assert.equal(owner.hasObject(entry, same), true);
    assert.equal(owner.hasObject(entry, { ...same, decoder: new MsgpackDecoder() }), true);
    assert.equal(owner.hasObject(entry, jsonObject(stateOf('old'))), false);
  });
});
