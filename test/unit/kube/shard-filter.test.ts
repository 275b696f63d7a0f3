/** Tests of the filter against the published vectors of FNV-1a, and against the definition of the hash with BigInt. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ShardFilter } from '../../../src/kube/shard-filter.ts';
import { partitionRanges } from '../../../src/kube/shard-selector.ts';

const HASHES = 2n ** 64n;
const hex = (hash: bigint): string => `0x${hash.toString(16).padStart(16, '0')}`;

/** The hash by its definition: offset, then for each byte xor and multiplication. */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % HASHES;
  return hash;
}

function filterOf(start: bigint, end: bigint): ShardFilter {
  return new ShardFilter({ key: 'uid', ranges: [{ start: hex(start), end: hex(end) }] });
}

/** Asserts that the filter computes exactly this hash: it is in the range of one, and in no range beside. */
function assertHash(text: string, hash: bigint): void {
  const bytes = Buffer.from(`"${text}"`);
  const matches = (start: bigint, end: bigint): boolean => {
    const filter = filterOf(start, end);
    const decision = filter.matchesText(text);
    assert.equal(filter.matches(bytes, 1, bytes.length - 1), decision, 'bytes and text are decided alike');
    return decision;
  };
  assert.ok(matches(hash, hash + 1n), `${text} has the hash ${hex(hash)}`);
  assert.ok(hash === 0n || !matches(0n, hash), 'the end of a range does not belong to it');
  assert.ok(
    hash === HASHES - 1n || !matches(hash + 1n, HASHES),
    'what is before a range does not belong to it',
  );
}

describe('the hash of a shard', () => {
  const vectors: readonly (readonly [text: string, hash: bigint])[] = [
    ['', 0xcbf29ce484222325n],
    ['a', 0xaf63dc4c8601ec8cn],
    ['b', 0xaf63df4c8601f1a5n],
    ['foobar', 0x85944171f73967e8n],
  ];
  for (const [text, hash] of vectors) {
    test(`of ${JSON.stringify(text)} is the published one`, () => assertHash(text, hash));
  }

  test('C227 is that of the definition for uids, namespaces, and any other text', () => {
    const texts = ['default', 'kube-system', 'ümläut', '東京', '😀', '\u{ffff}', 'x'.repeat(253)];
    for (let number = 0; number < 500; number++) {
      const digits = hashOf(String(number)).toString(16).padStart(16, '0').repeat(2);
      texts.push(
        `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${digits.slice(16, 32)}`,
      );
    }
    for (const text of texts) assertHash(text, hashOf(text));
  });

  test('is that of the decoded text when the JSON has escapes', () => {
    const text = 'a\\b"é';
    const bytes = Buffer.from(String.raw`"a\\b\"\u00e9"`);
    const hash = hashOf(text);
    assert.ok(filterOf(hash, hash + 1n).matches(bytes, 1, bytes.length - 1));
  });

  test('of an absent value is that of an empty text', () => {
    const hash = hashOf('');
    assert.ok(filterOf(hash, hash + 1n).matches(Buffer.from('{}'), -1, -1));
    assert.ok(!filterOf(hash + 1n, HASHES).matches(Buffer.from('{}'), -1, -1));
  });
});

describe('a shard filter', () => {
  test('of all partitions has each object exactly once', () => {
    const partitions = Array.from(
      { length: 16 },
      (_, partition) => new ShardFilter(partitionRanges([partition])),
    );
    const pairs = new ShardFilter(partitionRanges([3, 12]));
    const counts = partitions.map(() => 0);
    for (let number = 0; number < 4_000; number++) {
      // The last three digits of a text hardly move its hash: ends alone do not spread objects.
      const uid = `${number}-4000-8000`;
      const matching = partitions.flatMap((filter, partition) =>
        filter.matchesText(uid) ? [partition] : [],
      );
      assert.equal(matching.length, 1);
      const [partition = -1] = matching;
      counts[partition] = (counts[partition] ?? 0) + 1;
      assert.equal(pairs.matchesText(uid), partition === 3 || partition === 12);
    }
    assert.ok(Math.min(...counts) > 0, 'no partition is empty');
  });

  test('of all hashes has every object', () => {
    const filter = filterOf(0n, HASHES);
    for (const text of ['', 'a', 'foobar']) assert.ok(filter.matchesText(text));
  });
});
