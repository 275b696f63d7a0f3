/** Packing: unpacking returns the original bytes, whatever they are, and siblings become small. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { samplePod } from '../../../../src/tools/apiserver/load/sample-pod.ts';
import { DICTIONARY_BYTES_MAX, Dictionary } from '../../../../src/shared/pack/pack.ts';
import {
  PACK_SLACK_BYTES,
  allocateViewed,
  pack,
  unpack,
  viewedMemory,
} from '../../../../src/shared/pack/pack.ts';
import type { Viewed } from '../../../../src/shared/pack/pack.ts';
import type { Random } from '../../../../src/base/clock.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';

const GUARD = 0xa5;

function viewed(bytes: Uint8Array): Viewed {
  const made = allocateViewed(bytes.length);
  made.bytes.set(bytes);
  made.length = bytes.length;
  return made;
}

/** Returns random bytes of a random number of kinds, so that parts of them are alike. */
function anyBytes(random: Random, length: number): Buffer {
  const kinds = wholeNumber(random, 1, 256);
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * kinds)));
}

/** Returns pieces of `original`, some left out, some twice, with other bytes between them. */
function edited(random: Random, original: Buffer): Buffer {
  const pieces: Buffer[] = [];
  const edits = wholeNumber(random, 0, 12);
  let at = 0;
  for (let edit = 0; edit < edits; edit++) {
    const end = wholeNumber(random, at, original.length);
    pieces.push(original.subarray(at, end), anyBytes(random, wholeNumber(random, 0, 40)));
    const step = wholeNumber(random, -200, 200);
    at = random() < 0.5 ? end : Math.min(original.length, Math.max(0, end + step));
  }
  return Buffer.concat([...pieces, original.subarray(at)]);
}

/** Returns undefined when the result would exceed `bytesMax`. Checks that nothing is written beyond its room. */
function packed(dictionary: Dictionary, bytes: Buffer, bytesMax: number): Buffer | undefined {
  const room = bytesMax + PACK_SLACK_BYTES;
  const target = Buffer.alloc(room + 64, GUARD);
  const length = pack(dictionary, viewed(bytes), target, bytesMax);
  assert.ok(target.subarray(room).every((byte) => byte === GUARD));
  assert.ok(length <= bytesMax);
  return length < 0 ? undefined : Buffer.from(target.subarray(0, length));
}

/** Places packed bytes between others and unpacks them. */
function unpacked(dictionary: Dictionary, bytes: Buffer, length: number): Buffer {
  const among = Buffer.concat([Buffer.from([255, 255]), bytes, Buffer.from([255, 255])]);
  const target = Buffer.alloc(length + 64, GUARD);
  assert.equal(unpack(dictionary, among, 2, 2 + bytes.length, viewedMemory(target)), length);
  assert.ok(target.subarray(length).every((byte) => byte === GUARD));
  return target.subarray(0, length);
}

/** Bytes of a LEB128 number. */
function numberBytes(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...numberBytes(value >>> 7)];
}

/** A piece of the dictionary, after bytes that are written out. */
interface Piece {
  readonly writtenOut: Buffer;
  readonly from: number;
  readonly length: number;
}

/** Returns packed bytes of these pieces, whether `pack` would choose them or not. */
function packedOf(pieces: readonly Piece[]): Buffer {
  const bytes: number[] = [];
  let [length, shift] = [0, 0];
  for (const piece of pieces) {
    length += piece.writtenOut.length;
    const moved = piece.from - length - shift;
    shift += moved;
    length += piece.length;
    bytes.push(...numberBytes(piece.writtenOut.length), ...piece.writtenOut);
    bytes.push(...numberBytes(piece.length), ...numberBytes(((moved << 1) ^ (moved >> 31)) >>> 0));
  }
  return Buffer.from(bytes);
}

/** Returns a piece anywhere in the dictionary, often at its beginning or end. */
function anyPiece(random: Random, samples: Buffer): Piece {
  const length = wholeNumber(random, 0, random() < 0.8 ? 40 : 300);
  const from = wholeNumber(random, 0, samples.length - length);
  const writtenOut = anyBytes(random, random() < 0.3 ? 0 : wholeNumber(random, 0, 30));
  const end = random();
  return { writtenOut, length, from: end < 0.2 ? 0 : end < 0.5 ? samples.length - length : from };
}

describe('unpacking', () => {
  for (const seed of [1, 2, 3, 4]) {
    it(`copies pieces of any length from any place, and touches no other byte (seed ${seed})`, () => {
      const random = seededRandom(seed);
      for (let turn = 0; turn < 500; turn++) {
        const around = anyBytes(random, wholeNumber(random, 320, 700));
        const samples = around.subarray(wholeNumber(random, 0, 17));
        const pieces = Array.from({ length: wholeNumber(random, 0, 12) }, () => anyPiece(random, samples));
        const expected = Buffer.concat(
          pieces.flatMap(({ writtenOut, from, length }) => [
            writtenOut,
            samples.subarray(from, from + length),
          ]),
        );
        const room = Buffer.alloc(expected.length + 32, GUARD);
        const target = room.subarray(16, 16 + expected.length);
        const small = packedOf(pieces);
        const length = unpack(viewedMemory(samples), small, 0, small.length, viewedMemory(target));
        assert.equal(length, expected.length);
        const guard = Buffer.alloc(16, GUARD);
        assert.ok(room.equals(Buffer.concat([guard, expected, guard])));
      }
    });
  }

  it('refuses a piece beyond the dictionary or the memory of the object', () => {
    const samples = Buffer.alloc(100, 'x');
    const read = (from: number, length: number, room: number): void => {
      const small = packedOf([{ writtenOut: Buffer.from('ab'), from, length }]);
      unpack(viewedMemory(samples), small, 0, small.length, viewedMemory(Buffer.alloc(room)));
    };
    read(95, 5, 7);
    for (const [from, length, room] of [
      [96, 5, 7],
      [-1, 5, 7],
      [95, 5, 6],
    ] as const) {
      assert.throws(() => read(from, length, room), /beyond the dictionary or the object/);
    }
  });
});

describe('packed bytes', () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    it(`unpack to the original, also after the dictionary has grown (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const dictionary = new Dictionary(1);
      const kept: { readonly bytes: Buffer; readonly packed: Buffer }[] = [];
      let original = anyBytes(random, wholeNumber(random, 0, 6000));
      let smaller = 0;
      for (let turn = 0; turn < 400; turn++) {
        if (random() < 0.05) original = anyBytes(random, wholeNumber(random, 0, 6000));
        const bytes = edited(random, original);
        if (random() < 0.1 && dictionary.hasRoom(bytes.length)) dictionary.add(viewed(bytes));
        const small = packed(dictionary, bytes, wholeNumber(random, 0, bytes.length + 20));
        if (!small) continue;
        if (small.length < bytes.length) smaller++;
        kept.push({ bytes, packed: small });
      }
      assert.ok(smaller > 50, `only ${smaller} became smaller: the test does not test much`);
      for (const { bytes, packed: small } of kept) {
        assert.ok(unpacked(dictionary, small, bytes.length).equals(bytes));
      }
    });
  }

  it('are a few bytes when all of the original is a sample, also at the end of a full dictionary', () => {
    const random = seededRandom(9);
    const dictionary = new Dictionary(1);
    const samples = Array.from({ length: 16 }, () =>
      Buffer.from(Array.from({ length: DICTIONARY_BYTES_MAX / 16 }, () => Math.floor(random() * 256))),
    );
    for (const sample of samples) dictionary.add(viewed(sample));
    assert.ok(!dictionary.hasRoom(1));
    for (const sample of samples) {
      const small = packed(dictionary, sample, 32);
      assert.ok(small && small.length < 10);
      assert.ok(unpacked(dictionary, small, sample.length).equals(sample));
    }
  });

  it('may be short or empty, and longer than the original', () => {
    const dictionary = new Dictionary(1);
    dictionary.add(viewed(Buffer.from('{"kind":"Pod","metadata":{}}')));
    for (const text of ['', '{', '{"kind"', '{"kind":', '{"kind":"Pod"', 'x'.repeat(7), 'x'.repeat(200)]) {
      const bytes = Buffer.from(text);
      const small = packed(dictionary, bytes, bytes.length + 32);
      assert.ok(small);
      assert.equal(unpacked(dictionary, small, bytes.length).toString(), text);
    }
  });

  it('are refused when they would exceed the limit, by any amount', () => {
    const random = seededRandom(10);
    const dictionary = new Dictionary(1);
    const unlike = Buffer.from(Array.from({ length: 5000 }, () => Math.floor(random() * 256)));
    assert.equal(packed(dictionary, unlike, 2500), undefined);
    assert.equal(packed(dictionary, unlike, 5000), undefined);
    const exact = packed(dictionary, unlike, 5100)?.length ?? 0;
    assert.equal(exact, 5002, 'a length, and all bytes written out');
  });

  it('are a twelfth of a pod among its siblings, with one sample', () => {
    const dictionary = new Dictionary(1);
    const podOf = (index: number): Buffer =>
      Buffer.from(JSON.stringify(samplePod({ index, namespace: 'default', bytes: 5120 })));
    dictionary.add(viewed(podOf(0)));
    let total = 0;
    for (let index = 1; index <= 100; index++) {
      const pod = podOf(index);
      const small = packed(dictionary, pod, pod.length);
      assert.ok(small && unpacked(dictionary, small, pod.length).equals(pod));
      total += small.length;
    }
    assert.ok(total / 100 < 5120 / 12, `${total / 100} bytes`);
  });
});
