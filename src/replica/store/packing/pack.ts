/**
 * Packs and unpacks. Packed bytes are pairs of written-out bytes and a reference into the dictionary:
 *
 * ```
 * length, bytes │ length, shift │ length, bytes │ length, shift │ …
 * ```
 *
 * Numbers are LEB128. `shift` (zigzag) is the change of the distance between a piece and its place in the dictionary
 * since the previous piece: mostly 0, because siblings differ in values of the same length. The last pair may lack its
 * second half.
 */
import { SEED_BYTES } from './dictionary.ts';
import type { Dictionary, Viewed } from './dictionary.ts';

/** Upper bound of a pair's size besides the written-out bytes, three numbers of five bytes: spare room in `target`. */
export const PACK_SLACK_BYTES = 15;
/** Shorter pieces are copied byte by byte. */
const SHORT_BYTES = 64;

/**
 * Packs all of `source` into `target`, which has room for `bytesMax` and `PACK_SLACK_BYTES`; returns the packed length,
 * or -1 when it would exceed `bytesMax`.
 */
export function pack(dictionary: Dictionary, source: Viewed, target: Buffer, bytesMax: number): number {
  const { bytes, view, length } = source;
  const { bytes: samples, view: sampleView, length: samplesEnd } = dictionary;
  let writtenEnd = 0;
  /** End of the packed part of `source`. */
  let packedEnd = 0;
  let shift = 0;
  let at = 0;
  while (at + SEED_BYTES <= length) {
    if (writtenEnd + at - packedEnd > bytesMax) return -1;
    const low = view.getInt32(at, true);
    const high = view.getInt32(at + 4, true);
    // Differing values mostly have the same length, so the match continues at the same distance.
    let from = at + shift;
    if (!isAt(sampleView, samplesEnd, from, low, high)) {
      from = dictionary.find(low, high);
      if (!isAt(sampleView, samplesEnd, from, low, high)) {
        at++;
        continue;
      }
    }
    let start = at;
    while (start > packedEnd && from > 0 && bytes[start - 1] === samples[from - 1]) {
      start--;
      from--;
    }
    const end = start + likeBytes(source, start, dictionary, from);
    writtenEnd = writeOut(bytes, packedEnd, start, target, writtenEnd);
    writtenEnd = writeNumber(target, writtenEnd, end - start);
    const moved = from - start - shift;
    writtenEnd = writeNumber(target, writtenEnd, ((moved << 1) ^ (moved >> 31)) >>> 0);
    shift = from - start;
    packedEnd = end;
    at = end;
  }
  if (writtenEnd + length - packedEnd + PACK_SLACK_BYTES > bytesMax) return -1;
  return packedEnd < length ? writeOut(bytes, packedEnd, length, target, writtenEnd) : writtenEnd;
}

/** Unpacks [start, end) of `packed` to the beginning of `target`; returns the unpacked length. */
export function unpack(
  dictionary: Dictionary,
  packed: Buffer,
  start: number,
  end: number,
  target: Buffer,
): number {
  const samples = dictionary.bytes;
  const reader = new NumberReader(packed, start);
  let length = 0;
  let shift = 0;
  while (reader.at < end) {
    const writtenOut = reader.next();
    for (const writtenOutEnd = length + writtenOut; length < writtenOutEnd;) {
      target[length++] = packed[reader.at++] ?? 0;
    }
    if (reader.at >= end) break;
    const taken = reader.next();
    const moved = reader.next();
    shift += (moved >>> 1) ^ -(moved & 1);
    let from = length + shift;
    if (taken < SHORT_BYTES) {
      for (const takenEnd = length + taken; length < takenEnd;) target[length++] = samples[from++] ?? 0;
    } else {
      target.set(samples.subarray(from, from + taken), length);
      length += taken;
    }
  }
  return length;
}

class NumberReader {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  next(): number {
    let value = 0;
    for (let bits = 0; ; bits += 7) {
      const byte = this.#bytes[this.at++] ?? 0;
      value |= (byte & 127) << bits;
      if (byte < 128) return value;
    }
  }
}

function isAt(view: DataView, end: number, at: number, low: number, high: number): boolean {
  if (at < 0 || at + SEED_BYTES > end) return false;
  return view.getInt32(at, true) === low && view.getInt32(at + 4, true) === high;
}

/** Returns the number of equal bytes from `at` on and in the dictionary from `from` on. */
function likeBytes(source: Viewed, at: number, dictionary: Dictionary, from: number): number {
  const { bytes, view } = source;
  const { bytes: samples, view: sampleView } = dictionary;
  const bytesMax = Math.min(source.length - at, dictionary.length - from);
  let like = 0;
  while (like + 4 <= bytesMax && view.getInt32(at + like, true) === sampleView.getInt32(from + like, true)) {
    like += 4;
  }
  while (like < bytesMax && bytes[at + like] === samples[from + like]) like++;
  return like;
}

/** Writes [start, end) of `source` after its length; returns the end of it in `target`. */
function writeOut(source: Buffer, start: number, end: number, target: Buffer, at: number): number {
  let to = writeNumber(target, at, end - start);
  for (let from = start; from < end;) target[to++] = source[from++] ?? 0;
  return to;
}

function writeNumber(target: Buffer, at: number, value: number): number {
  let rest = value;
  let to = at;
  for (; rest > 127; rest >>>= 7) target[to++] = (rest & 127) | 128;
  target[to++] = rest;
  return to;
}
