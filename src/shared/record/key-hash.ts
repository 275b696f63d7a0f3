/**
 * The hash of a key's bytes. It decides the shard, and shards use it for their byte-keyed tables, so the reflector computes
 * it once and sends it with the delta. It is keyed, at random for each `InformerThreads`: a client that may create objects
 * could otherwise choose names of one hash, and make every lookup a search through all of them.
 */
import { randomFillSync } from 'node:crypto';
import { HalfSipHash } from './half-sip-hash.ts';

/** A part of a key: plain UTF-8 between two indices. */
export interface KeyPart {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** The key of the hash, two words: the same for all threads of a pipeline, also for those that replace others. */
export type HashKey = Int32Array;

export function randomHashKey(): HashKey {
  return randomFillSync(new Int32Array(2));
}

export class KeyHash {
  readonly #hash: HalfSipHash;

  constructor(key: HashKey) {
    this.#hash = new HalfSipHash(key);
  }

  /** @returns 32 bits, signed as ring words are */
  of(namespace: KeyPart, name: KeyPart): number {
    const hash = this.#hash;
    hash.begin();
    // One word for both lengths: neither has 2^16 bytes (`NAME_BYTES_MAX`).
    hash.word(((namespace.end - namespace.start) << 16) | (name.end - name.start));
    hash.span(namespace.bytes, namespace.start, namespace.end);
    hash.span(name.bytes, name.start, name.end);
    hash.endLow();
    return hash.low;
  }
}
