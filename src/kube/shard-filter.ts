/**
 * Decides whether an object belongs to a shard selector, by the hash that the server computes: FNV-1a of 64 bits over
 * the UTF-8 bytes of the uid or namespace. The hash is two words of 32 bits, because the filter runs for every event and
 * a BigInt would be an allocation for every byte.
 */
import { decodeStringContent } from './json/read.ts';
import { hasEscape } from './json/skip.ts';
import { hashOfBound } from './shard-selector.ts';
import type { ShardSelector } from './shard-selector.ts';

const OFFSET_HIGH = 0xcbf29ce4;
const OFFSET_LOW = 0x84222325;
/** The prime is 2^40 + 0x1b3. */
const PRIME_LOW = 0x1b3;
const WORD = 2 ** 32;

/** A range as numbers. The high word of 2^64 is 2^32. */
interface Bounds {
  readonly startHigh: number;
  readonly startLow: number;
  readonly endHigh: number;
  readonly endLow: number;
}

export class ShardFilter {
  readonly key: ShardSelector['key'];
  readonly #ranges: readonly Bounds[];

  /** @throws ERR_KUBELOOM_SELECTOR when a bound is malformed */
  constructor({ key, ranges }: ShardSelector) {
    this.key = key;
    this.#ranges = ranges.map(({ start, end }) => {
      const [startHigh, startLow] = wordsOf(hashOfBound(start));
      const [endHigh, endLow] = wordsOf(hashOfBound(end));
      return { startHigh, startLow, endHigh, endLow };
    });
  }

  /** Decides for the content of a JSON string; equal indices are an absent value. Allocates nothing without escapes. */
  matches(bytes: Buffer, start: number, end: number): boolean {
    if (hasEscape(bytes, start, end)) return this.matchesText(decodeStringContent(bytes, start, end) ?? '');
    return this.#isInRanges(bytes, start, end);
  }

  matchesText(text: string): boolean {
    const bytes = Buffer.from(text);
    return this.#isInRanges(bytes, 0, bytes.length);
  }

  #isInRanges(bytes: Buffer, start: number, end: number): boolean {
    let high = OFFSET_HIGH;
    let low = OFFSET_LOW;
    for (let at = start; at < end; at++) {
      low = (low ^ (bytes[at] ?? 0)) >>> 0;
      const product = low * PRIME_LOW;
      high = (Math.imul(high, PRIME_LOW) + (low << 8) + Math.floor(product / WORD)) >>> 0;
      low = product >>> 0;
    }
    for (const { startHigh, startLow, endHigh, endLow } of this.#ranges) {
      const isBehindStart = high > startHigh || (high === startHigh && low >= startLow);
      if (isBehindStart && (high < endHigh || (high === endHigh && low < endLow))) return true;
    }
    return false;
  }
}

function wordsOf(hash: bigint): readonly [high: number, low: number] {
  return [Number(hash >> 32n), Number(hash & 0xffff_ffffn)];
}
