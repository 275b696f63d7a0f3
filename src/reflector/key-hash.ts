/**
 * The hash of a key's bytes: FNV-1a over `namespace/name`. It decides the shard, and shards use it for
 * their byte-keyed tables, so it is computed once, here.
 */

const FNV_OFFSET_BASIS = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;
const SLASH = 0x2f;

/** A part of a key: plain UTF-8 between two indices. */
export interface KeyPart {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** @returns 32 bits, signed as ring words are */
export function hashKey(namespace: KeyPart, name: KeyPart): number {
  const hash = Math.imul(hashBytes(FNV_OFFSET_BASIS, namespace) ^ SLASH, FNV_PRIME);
  return hashBytes(hash, name);
}

function hashBytes(seed: number, part: KeyPart): number {
  const { bytes, end } = part;
  let hash = seed;
  for (let index = part.start; index < end; index++) hash = Math.imul(hash ^ (bytes[index] ?? 0), FNV_PRIME);
  return hash;
}
