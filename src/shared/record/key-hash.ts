/**
 * Keyed hashes. `HalfSipHash` is HalfSipHash with a round for each word and three at the end, 64 bits of result: SipHash for
 * machines with words of 32 bits, as in Linux' tables. Without the key, two texts of equal hash cannot be constructed.
 *
 * `KeyHash` is the first word over a key's bytes. It decides the shard, and shards use it for their byte-keyed tables, so the
 * reflector computes it once and sends it with the delta. The key is random for each `InformerThreads`: a client that may
 * create objects could otherwise choose names of equal hash, and make every lookup a search through all of them.
 */
import { randomFillSync } from 'node:crypto';
import { wideView } from '../../kube/json/skip.ts';

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
    // One word for both lengths: both are below 2^16 bytes (`NAME_BYTES_MAX`).
    hash.word(((namespace.end - namespace.start) << 16) | (name.end - name.start));
    hash.span(namespace.bytes, namespace.start, namespace.end);
    hash.span(name.bytes, name.start, name.end);
    hash.endLow();
    return hash.low;
  }
}

const LAST_ROUNDS = 3;
/** Code units of a text that are hashed at once; a multiple of four, and more than keys mostly have. */
const UNITS_MAX = 256;
const units: Uint8Array = new Uint8Array(UNITS_MAX);
const unitsView: DataView = new DataView(units.buffer);

/** A text is given in spans, each of which is padded to whole words; so the caller begins with their lengths. */
export class HalfSipHash {
  /** The result. */
  low = 0;
  high = 0;
  readonly #key0: number;
  readonly #key1: number;
  #v0 = 0;
  #v1 = 0;
  #v2 = 0;
  #v3 = 0;

  constructor(key: HashKey = randomHashKey()) {
    this.#key0 = key[0] ?? 0;
    this.#key1 = key[1] ?? 0;
  }

  begin(): void {
    this.#v0 = this.#key0;
    this.#v1 = this.#key1 ^ 0xee;
    this.#v2 = this.#key0 ^ 0x6c796765;
    this.#v3 = this.#key1 ^ 0x74656462;
  }

  word(word: number): void {
    this.#v3 ^= word;
    this.#round();
    this.#v0 ^= word;
  }

  span(bytes: Uint8Array, start: number, end: number): void {
    this.#words(wideView(bytes), start, end);
  }

  /** @returns all code units or-ed @param shift 0 for their low bytes, 8 for their high ones */
  #units(text: string, start: number, shift: 0 | 8): number {
    const end = Math.min(text.length - start, UNITS_MAX);
    let all = 0;
    for (let at = 0; at < end; at++) {
      const unit = text.charCodeAt(start + at);
      all |= unit;
      units[at] = unit >> shift;
    }
    this.#words(unitsView, 0, end);
    return all;
  }

  /** As `word` for each four bytes, in locals: a third of the time. */
  #words(view: DataView, start: number, end: number): void {
    const wideEnd = end - 4;
    let v0 = this.#v0;
    let v1 = this.#v1;
    let v2 = this.#v2;
    let v3 = this.#v3;
    let at = start;
    for (; at <= wideEnd; at += 4) {
      const word = view.getInt32(at, true);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    this.#v0 = v0;
    this.#v1 = v1;
    this.#v2 = v2;
    this.#v3 = v3;
    if (at === end) return;
    let word = 0;
    for (let shift = 0; at < end; at++, shift += 8) word |= view.getUint8(at) << shift;
    this.word(word);
  }

  /** As `span` for the length of a text and its code units: a byte each, and the high bytes behind if one is not 0. */
  text(text: string): void {
    const { length } = text;
    this.word(length);
    let all = 0;
    for (let start = 0; start < length; start += UNITS_MAX) all |= this.#units(text, start, 0);
    if (all <= 0xff) return;
    for (let start = 0; start < length; start += UNITS_MAX) this.#units(text, start, 8);
  }

  /** Computes `low` alone. */
  endLow(): void {
    this.#v2 ^= 0xee;
    for (let count = 0; count < LAST_ROUNDS; count++) this.#round();
    this.low = this.#v1 ^ this.#v3;
  }

  end(): void {
    this.endLow();
    this.#v1 ^= 0xdd;
    for (let count = 0; count < LAST_ROUNDS; count++) this.#round();
    this.high = this.#v1 ^ this.#v3;
  }

  #round(): void {
    this.#v0 = (this.#v0 + this.#v1) | 0;
    this.#v1 = rotated(this.#v1, 5) ^ this.#v0;
    this.#v0 = rotated(this.#v0, 16);
    this.#v2 = (this.#v2 + this.#v3) | 0;
    this.#v3 = rotated(this.#v3, 8) ^ this.#v2;
    this.#v0 = (this.#v0 + this.#v3) | 0;
    this.#v3 = rotated(this.#v3, 7) ^ this.#v0;
    this.#v2 = (this.#v2 + this.#v1) | 0;
    this.#v1 = rotated(this.#v1, 13) ^ this.#v2;
    this.#v2 = rotated(this.#v2, 16);
  }
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
