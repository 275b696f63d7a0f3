/**
 * Packs and unpacks. Packed bytes are pairs of written-out bytes and a reference into the dictionary:
 *
 * ```
 * length, bytes │ length, shift │ length, bytes │ length, shift │ …
 * ```
 *
 * Numbers are LEB128. `shift` (zigzag) is the change of the distance between a piece and the matching place in the
 * dictionary since the previous piece: mostly 0, because siblings differ in values of the same length. The last pair
 * may lack the second half.
 */
import { assert } from '../../base/errors.ts';

/** Memory that is readable as bytes and as words. */
export interface ViewedMemory {
  readonly bytes: Buffer;
  /** A view of the same memory as `bytes`. */
  readonly view: DataView;
}

/** Memory whose beginning is in use. */
export interface Viewed extends ViewedMemory {
  length: number;
}

export function viewedMemory(bytes: Buffer): ViewedMemory {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

export function allocateViewed(bytesMax: number): Viewed {
  return { ...viewedMemory(Buffer.allocUnsafeSlow(bytesMax)), length: 0 };
}

export const DICTIONARY_BYTES_MAX: number = 2 ** 16;
const SEED_BYTES = 8;
/** Every fourth place of a sample is in the index; a match is also extended backwards. */
const STEP_BITS = 2;
const INDEX_BITS = 14;

/** Bytes of memory of a dictionary, however full. */
export const DICTIONARY_HELD_BYTES: number = DICTIONARY_BYTES_MAX + 2 * 2 ** INDEX_BITS;

/**
 * Samples of objects, and an index from their bytes to their places. Objects of a kind are packed against it: bytes
 * found in a sample become a reference, the others are written out (docs/decisions/0018). Samples are added and never
 * changed, so earlier packed bytes stay readable.
 */
export class Dictionary implements Viewed {
  /** The number by which packed objects name the dictionary, above 0. */
  readonly number: number;
  /** Shared memory, because threads that read packed objects need the samples. */
  readonly bytes: Buffer;
  readonly view: DataView;
  isShared = false;
  length = 0;
  /** Steps by the hash of eight bytes: the number of the latest step with these bytes, plus 1. */
  readonly #steps: Uint16Array = new Uint16Array(2 ** INDEX_BITS);
  #nextStep = 0;
  /** Bytes saved by the packed entries; the caller who packs counts them. */
  savedBytes = 0;
  /** Whether the dictionary takes more than it saves: the packed entries are unpacked. */
  isDissolved = false;

  constructor(number: number) {
    this.number = number;
    const memory = new SharedArrayBuffer(DICTIONARY_BYTES_MAX);
    this.bytes = Buffer.from(memory);
    this.view = new DataView(memory);
  }

  hasRoom(bytes: number): boolean {
    return this.length + bytes <= DICTIONARY_BYTES_MAX;
  }

  /** Adds all of `sample`; there must be room. */
  add({ bytes, length }: Viewed): void {
    bytes.copy(this.bytes, this.length, 0, length);
    this.length += length;
    const { view } = this;
    for (;;) {
      const at = this.#nextStep << STEP_BITS;
      if (at + SEED_BYTES > this.length) return;
      this.#steps[hashOf(view.getInt32(at, true), view.getInt32(at + 4, true))] = ++this.#nextStep;
    }
  }

  /** Returns the place where these eight bytes may be; below 0 if they are not in the index. */
  find(low: number, high: number): number {
    return ((this.#steps[hashOf(low, high)] ?? 0) - 1) << STEP_BITS;
  }
}

function hashOf(low: number, high: number): number {
  return (Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca77)) >>> (32 - INDEX_BITS);
}

/** Upper bound of a pair's size besides the written-out bytes, three numbers of five bytes: spare room in `target`. */
export const PACK_SLACK_BYTES = 15;

/**
 * Packs all of `source` into `target`, which must have room for `bytesMax` and `PACK_SLACK_BYTES`; returns the packed
 * length, or -1 if it would exceed `bytesMax`.
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

/**
 * Unpacks [start, end) of `packed` to the beginning of `target`; returns the unpacked length. Reads no byte of the
 * dictionary outside of a piece, and writes no byte behind the object.
 */
export function unpack(
  dictionary: Readonly<ViewedMemory>,
  packed: Buffer,
  start: number,
  end: number,
  target: Readonly<ViewedMemory>,
): number {
  const { bytes: samples, view: sampleView } = dictionary;
  const { bytes, view } = target;
  const reader = new NumberReader(packed, start);
  let length = 0;
  let shift = 0;
  while (reader.at < end) {
    const writtenOut = reader.next();
    for (const writtenOutEnd = length + writtenOut; length < writtenOutEnd;) {
      bytes[length++] = packed[reader.at++] ?? 0;
    }
    if (reader.at >= end) break;
    const taken = reader.next();
    const moved = reader.next();
    shift += (moved >>> 1) ^ -(moved & 1);
    let from = length + shift;
    const takenEnd = length + taken;
    const isWithin = from >= 0 && from + taken <= samples.length && takenEnd <= bytes.length;
    assert(isWithin, 'a piece reaches beyond the dictionary or the object', from);
    // Words, because a copy by `set` makes a view for each piece, and pieces are short.
    for (; length + 8 <= takenEnd; length += 8, from += 8) {
      view.setInt32(length, sampleView.getInt32(from, true), true);
      view.setInt32(length + 4, sampleView.getInt32(from + 4, true), true);
    }
    while (length < takenEnd) bytes[length++] = samples[from++] ?? 0;
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

/** Writes the length of [start, end) of `source`, followed by the bytes; returns the end in `target`. */
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
