/** The hash that decides the shard and the place in a shard's table. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HalfSipHash, KeyHash, randomHashKey } from '../../../../src/shared/record/key-hash.ts';
import type { KeyPart } from '../../../../src/shared/record/key-hash.ts';
import { allocatePipeline } from '../../../../src/shared/pipeline-layout.ts';

const KNOWN = new KeyHash(Int32Array.of(1, 2));
const OTHER = new KeyHash(Int32Array.of(3, 2));

function part(text: string): KeyPart {
  const bytes = Buffer.from(`<${text}>`);
  return { bytes, start: 1, end: bytes.length - 1 };
}

function hashOf(hash: KeyHash, name: string, namespace = 'default'): number {
  return hash.of(part(namespace), part(name));
}

/** Every set of names that have one hash. */
function collisions(hash: KeyHash, names: readonly string[]): string[][] {
  const byHash = new Map<number, string[]>();
  for (const name of names) {
    const value = hashOf(hash, name);
    byHash.set(value, [...(byHash.get(value) ?? []), name]);
  }
  return [...byHash.values()].filter(({ length }) => length > 1);
}

describe('the hash of a key', () => {
  it('is the first word of HalfSipHash over both lengths, namespace and name', () => {
    const plain = new HalfSipHash(Int32Array.of(1, 2));
    for (const [namespace, name] of [
      ['default', 'web-0'],
      ['', 'node-1'],
      ['\u00fc', '\u{1f600}'],
    ] as const) {
      const [first, second] = [Buffer.from(namespace), Buffer.from(name)];
      plain.begin();
      plain.word((first.length << 16) | second.length);
      plain.span(first, 0, first.length);
      plain.span(second, 0, second.length);
      plain.end();
      assert.equal(hashOf(KNOWN, name, namespace), plain.low);
    }
  });

  it('differs by where the namespace ends', () => {
    const hashes = ['', 'a', 'ab', 'abc', 'abcd'].map((namespace) =>
      hashOf(KNOWN, 'abcde'.slice(namespace.length), namespace),
    );
    assert.equal(new Set(hashes).size, hashes.length);
  });

  it('is not the same under another key for names that have one hash under a known key', () => {
    const names = Array.from({ length: 250_000 }, (_, index) => `web-${index.toString(36)}`);
    const colliding = collisions(KNOWN, names).flat();
    assert.ok(colliding.length >= 8, `${colliding.length}`);
    assert.deepEqual(collisions(OTHER, colliding), []);
  });

  it('spreads names that differ in a digit over shards', () => {
    const hashes = Array.from({ length: 30_000 }, (_, index) => hashOf(KNOWN, `web-${index}`));
    for (let shards = 2; shards <= 8; shards++) {
      const counts = Array.from({ length: shards }, () => 0);
      for (const hash of hashes) counts[(hash >>> 0) % shards] = (counts[(hash >>> 0) % shards] ?? 0) + 1;
      for (const count of counts) assert.ok(Math.abs(count / (30_000 / shards) - 1) < 0.06, counts.join(' '));
    }
  });

  it('has another key in every pipeline', () => {
    assert.notDeepEqual(randomHashKey(), randomHashKey());
    const [first, second] = [0, 1].map(() => allocatePipeline(1, 4 * 2 ** 20, 2 ** 14).hashKey);
    assert.notDeepEqual(first, second);
  });
});

/** Returns the 64 bits of a span and its length. */
function sipOf(bytes: Buffer, start = 0, end = bytes.length, key?: Int32Array): bigint {
  const hash = new HalfSipHash(key);
  hash.begin();
  hash.word(end - start);
  hash.span(bytes, start, end);
  hash.end();
  return (BigInt(hash.high >>> 0) << 32n) | BigInt(hash.low >>> 0);
}

describe('HalfSipHash', () => {
  const KEY = Int32Array.of(0x03020100, 0x07060504);
  const text = Buffer.from('labels, annotations, owners and finalizers.');

  it('gives a text the same hash at every place, and another one with another key', () => {
    const moved = Buffer.from(`xxx${text.toString()}yyy`);
    const hash = sipOf(text, 0, text.length, KEY);
    assert.equal(sipOf(moved, 3, 3 + text.length, KEY), hash);
    assert.notEqual(sipOf(text, 0, text.length, Int32Array.of(1, 2)), hash);
    assert.notEqual(sipOf(text), sipOf(text), 'its own key is random');
  });

  it('changes about half of its bits with any bit of the text, including the last bytes of a span', () => {
    const before = sipOf(text, 0, text.length, KEY);
    let changed = 0;
    for (let bit = 0; bit < text.length * 8; bit++) {
      const other = Buffer.from(text);
      other[bit >> 3] = (text[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const difference = sipOf(other, 0, text.length, KEY) ^ before;
      const bits = difference.toString(2).replaceAll('0', '').length;
      assert.ok(bits > 8, `bit ${bit} changes ${bits} bits`);
      changed += bits;
    }
    const mean = changed / (text.length * 8);
    assert.ok(mean > 30 && mean < 34, `${mean} bits change on average`);
  });

  it('gives texts different hashes that differ in a code unit, in its high byte or in their length', () => {
    const long = 'x'.repeat(600);
    const texts = [
      '',
      '\0',
      'a',
      'a\0',
      'i',
      'ĩ',
      'i\u0001',
      'ĩ\0',
      '名',
      long,
      `${long}i`,
      `${long}ĩ`,
      `ĩ${long}`,
    ];
    const hash = new HalfSipHash(KEY);
    const hashes = texts.map((each) => {
      hash.begin();
      hash.text(each);
      hash.endLow();
      return hash.low;
    });
    assert.equal(new Set(hashes).size, texts.length);
  });
});
