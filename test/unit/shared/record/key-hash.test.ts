/** The hash that decides the shard and the place in a shard's table. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HalfSipHash, KeyHash, randomHashKey } from '../../../../src/shared/record/key-hash.ts';
import type { KeyPart } from '../../../../src/shared/record/key-hash.ts';
import { allocatePipeline } from '../../../../src/shared/layout.ts';

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

/** FNV-1a, which has no key. */
function fnv(state: number, text: string): number {
  let hash = state;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

/** Two words that lead from `state` to one and the same state. */
function fnvPair(state: number): readonly [string, string, number] {
  const seen = new Map<number, string>();
  for (let count = 0; ; count++) {
    const word = count.toString(36).padStart(5, '0');
    const next = fnv(state, word);
    const other = seen.get(next);
    if (other !== undefined) return [word, other, next];
    seen.set(next, word);
  }
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

  it('tells apart where the namespace ends', () => {
    const hashes = ['', 'a', 'ab', 'abc', 'abcd'].map((namespace) =>
      hashOf(KNOWN, 'abcde'.slice(namespace.length), namespace),
    );
    assert.equal(new Set(hashes).size, hashes.length);
  });

  it('differs for names that have one FNV-1a hash', () => {
    let state = fnv(0x811c9dc5 | 0, 'default/');
    let names = [''];
    for (let step = 0; step < 10; step++) {
      const [one, other, next] = fnvPair(state);
      names = names.flatMap((name) => [name + one, name + other]);
      state = next;
    }
    assert.equal(new Set(names.map((name) => fnv(0x811c9dc5 | 0, `default/${name}`))).size, 1);
    assert.equal(new Set(names.map((name) => hashOf(KNOWN, name))).size, names.length);
  });

  it('is not the same under another key for names that have one hash under a known key', () => {
    const names = Array.from({ length: 250_000 }, (_, index) => `web-${index.toString(36)}`);
    const colliding = collisions(KNOWN, names).flat();
    assert.ok(colliding.length >= 8, `${colliding.length}`);
    assert.deepEqual(collisions(OTHER, colliding), []);
  });

  it('spreads names that differ in a digit over shards and all bits', () => {
    const hashes = Array.from({ length: 30_000 }, (_, index) => hashOf(KNOWN, `web-${index}`));
    for (let shards = 2; shards <= 8; shards++) {
      const counts = Array.from({ length: shards }, () => 0);
      for (const hash of hashes) counts[(hash >>> 0) % shards] = (counts[(hash >>> 0) % shards] ?? 0) + 1;
      for (const count of counts) assert.ok(Math.abs(count / (30_000 / shards) - 1) < 0.06, counts.join(' '));
    }
    for (let bit = 0; bit < 32; bit++) {
      const ones = hashes.filter((hash) => (hash >>> bit) & 1).length;
      assert.ok(Math.abs(ones / 15_000 - 1) < 0.05, `bit ${bit}: ${ones}`);
    }
  });

  it('has another key in every pipeline', () => {
    assert.notDeepEqual(randomHashKey(), randomHashKey());
    const [first, second] = [0, 1].map(() => allocatePipeline(1, 4 * 2 ** 20, 2 ** 14).hashKey);
    assert.notDeepEqual(first, second);
  });
});
