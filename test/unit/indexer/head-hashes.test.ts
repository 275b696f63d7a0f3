/** Hashes of the metadata before managedFields, and the hash function itself. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { HalfSipHash } from '../../../src/shared/record/key-hash.ts';
import { MetadataFingerprints } from '../../../src/indexer/last-states.ts';
import type { HeadSpan } from '../../../src/indexer/last-states.ts';

const KEY = Int32Array.of(0x03020100, 0x07060504);

function hashOf(spans: readonly string[], key: Int32Array = KEY): bigint {
  const hash = new HalfSipHash(key);
  hash.begin();
  for (const text of spans) {
    const bytes = Buffer.from(text, 'latin1');
    hash.word(bytes.length);
    hash.span(bytes, 0, bytes.length);
  }
  hash.end();
  return (BigInt(hash.high >>> 0) << 32n) | BigInt(hash.low >>> 0);
}

function bitCount(value: bigint): number {
  return value.toString(2).replaceAll('0', '').length;
}

describe('HalfSipHash', () => {
  test('gives a text the same hash at every place, and another one with another key', () => {
    const text = 'all of the metadata';
    const moved = Buffer.from(`xxx${text}yyy`);
    const hash = new HalfSipHash(KEY);
    hash.begin();
    hash.word(text.length);
    hash.span(moved, 3, 3 + text.length);
    hash.end();
    assert.equal((BigInt(hash.high >>> 0) << 32n) | BigInt(hash.low >>> 0), hashOf([text]));
    assert.notEqual(hashOf([text], Int32Array.of(1, 2)), hashOf([text]));
  });

  test('has its own random key', () => {
    const hashes = [new HalfSipHash(), new HalfSipHash()].map((hash) => {
      hash.begin();
      hash.end();
      return `${hash.low} ${hash.high}`;
    });
    assert.notEqual(hashes[0], hashes[1]);
  });

  test('changes about half of its bits with any bit of the text, including the last bytes of a span', () => {
    const text = Buffer.from('labels, annotations, owners and finalizers.');
    const before = hashOf([text.toString('latin1')]);
    let changed = 0;
    for (let bit = 0; bit < text.length * 8; bit++) {
      text[bit >> 3] = (text[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const bits = bitCount(hashOf([text.toString('latin1')]) ^ before);
      assert.ok(bits > 8, `bit ${bit} changes ${bits} bits`);
      changed += bits;
      text[bit >> 3] = (text[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    }
    const mean = changed / (text.length * 8);
    assert.ok(mean > 30 && mean < 34, `${mean} bits change on average`);
  });

  test('includes where one span ends and the next begins', () => {
    const hashes = [['abcd', 'efgh'], ['abcde', 'fgh'], ['abcdefgh', ''], ['', 'abcdefgh'], ['abcdefgh']].map(
      (spans) => hashOf(spans),
    );
    assert.equal(new Set(hashes).size, hashes.length);
  });
});

describe('heads of objects', () => {
  const json = '{"name":"a","uid":"u","resourceVersion":"12","labels":{"a":"b"},"managedFields":[1,2]}';

  function at(text: string, from = 0): { bytes: Buffer; span: HeadSpan; headEnd: number } {
    const bytes = Buffer.from('#'.repeat(from) + text);
    const versionStart = bytes.indexOf('"resourceVersion":') + '"resourceVersion":'.length;
    const versionEnd = bytes.indexOf(',', versionStart);
    const headEnd = bytes.indexOf('[1', versionEnd);
    return { bytes, span: { start: from, end: bytes.length, versionStart, versionEnd }, headEnd };
  }

  function keeping(text: string, id = 7): MetadataFingerprints {
    const heads = new MetadataFingerprints();
    const { bytes, span, headEnd } = at(text);
    heads.set(id, bytes, span, headEnd);
    return heads;
  }

  function isSame(heads: MetadataFingerprints, text: string, id = 7): boolean {
    const { bytes, span } = at(text, 5);
    return heads.isSame(id, bytes, span);
  }

  test('are equal whatever version and managedFields are, and wherever the object is', () => {
    const heads = keeping(json);
    assert.equal(isSame(heads, json), true);
    assert.equal(isSame(heads, json.replace('"12"', '"9876543210"').replace('2]', '2,3,4]')), true);
  });

  test('differ with any other byte before or behind the version', () => {
    const heads = keeping(json);
    for (const [from, to] of [
      ['"u"', '"v"'],
      ['"name":"a"', '"name":"ab"'],
      ['"b"}', '"c"}'],
      ['"b"}', '"b","c":"d"}'],
      ['"managedFields":', '"finalizers":["f"],"managedFields":'],
    ] as const) {
      assert.equal(isSame(heads, json.replace(from, to)), false, to);
    }
  });

  test('that are longer than an object do not match it', () => {
    const heads = keeping(json);
    assert.equal(isSame(heads, '{"name":"a","uid":"u","resourceVersion":"12","x":1}'), false);
  });

  test('the hash of one object is never kept for another', () => {
    const heads = keeping(json, 1);
    assert.equal(isSame(heads, json.replace('"b"}', '"c"}'), 1), false);
    heads.delete(1);
    const other = json.replace('"b"}', '"d"}');
    const { bytes, span, headEnd } = at(other);
    heads.set(2, bytes, span, headEnd);
    assert.equal(isSame(heads, other, 2), true);
  });

  test('that always differ are skipped for a while, and then compared again', () => {
    const heads = new MetadataFingerprints();
    /** Returns how many states, each sent twice, matched the one before. */
    const matches = (states: number, isNew: (state: number) => boolean): number => {
      let count = 0;
      let text = json;
      for (let state = 0; state < states; state++) {
        if (isNew(state)) text = json.replace('"b"', `"${state % 10}"`);
        const { bytes, span, headEnd } = at(text);
        if (heads.isSame(7, bytes, span)) count++;
        else heads.set(7, bytes, span, headEnd);
      }
      return count;
    };
    assert.equal(
      matches(1000, () => true),
      0,
    );
    assert.ok(matches(1000, () => false) === 0, 'nobody looks');
    assert.ok(matches(4000, () => false) > 2000, 'it pays now');
    assert.ok(matches(4000, (state) => state % 4 === 0) > 2900, 'hashing continues while it pays');
  });

  test('of an id that was dropped or never kept do not match; others stay', () => {
    const heads = keeping(json);
    const { bytes, span, headEnd } = at(json);
    heads.set(70_000, bytes, span, headEnd);
    heads.delete(7);
    heads.delete(1_000_000);
    assert.equal(isSame(heads, json), false);
    assert.equal(isSame(heads, json, 8), false);
    assert.equal(isSame(heads, json, 2_000_000), false);
    assert.equal(isSame(heads, json, 70_000), true);
    heads.clear();
    assert.equal(isSame(heads, json, 70_000), false);
  });
});
