/** The hash that decides the shard. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey } from '../../src/reflector/key-hash.ts';
import type { KeyPart } from '../../src/reflector/key-hash.ts';

function part(text: string): KeyPart {
  const bytes = Buffer.from(`<${text}>`);
  return { bytes, start: 1, end: bytes.length - 1 };
}

/** FNV-1a as its authors wrote it, in arithmetic without tricks. */
function reference(text: string): number {
  let hash = 2166136261n;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 16777619n) % 2n ** 32n;
  return Number(hash);
}

describe('hashKey', () => {
  it('is FNV-1a of namespace/name', () => {
    for (const [namespace, name] of [
      ['default', 'web-0'],
      ['', 'node-1'],
      ['a', 'bc'],
      ['ab', 'c'],
      ['\u00fc', '\u{1f600}'],
    ] as const) {
      assert.equal(hashKey(part(namespace), part(name)) >>> 0, reference(`${namespace}/${name}`));
    }
  });
});
