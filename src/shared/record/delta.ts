/**
 * Records from the reflector to a shard: an object of a watch or list, or a control record.
 *
 * ```
 *  object payload (words)                         control payload (words)
 *  0  sequence                                    0  sequence
 *  1  informer (16) │ kind (8) │ flags (8)        1  informer (16) │ kind (8) │ flags (8)
 *  2  key hash                                    2  epoch
 *  3  log offset of the object                    3  length of text
 *  4  its length                                  4… text: a resourceVersion, UTF-8
 *  5  name offset        6  name length
 *  7  namespace offset   8  namespace length
 *  9  uid offset        10  uid length
 * 11  resourceVersion offset  12  its length
 * ```
 *
 * Offsets 5…11 are relative to word 3 and point between the quotes; an absent field has length 0. Name and
 * namespace are plain UTF-8: for text with JSON escapes the reflector appends decoded copies to the object.
 * Control records go to every shard with the same sequence and are barriers (docs/architecture.md).
 */
import type { RingConsumer, RingProducer } from '../ring/ring.ts';
import { INSUFFICIENT_CAPACITY } from '../ring/ring.ts';

export const DeltaKind = {
  Added: 1,
  Modified: 2,
  Deleted: 3,
  /** An item of a list, between ReplaceBegin and ReplaceEnd. */
  Replaced: 4,
  ReplaceBegin: 5,
  ReplaceEnd: 6,
  ReplaceAbort: 7,
  Bookmark: 8,
  /** The informer is stopped: the shard drops the informer's state. */
  Detach: 9,
} as const;
export type DeltaKind = (typeof DeltaKind)[keyof typeof DeltaKind];

export const DeltaFlag = {
  /** The object was larger than the limit: the bytes are the identity only. */
  TooLarge: 1,
  /** The object is in Go's order up to the resourceVersion: see `KeySpans.isStandardOrder`. */
  StandardOrder: 2,
} as const;

export const RECORD_TYPE_OBJECT = 1;
export const RECORD_TYPE_CONTROL = 2;
export const OBJECT_DELTA_BYTES: number = 13 * 4;
export const BYTES_RECORD_FIXED_BYTES = 16;

/** Location of an object in the log; reused for every record to avoid allocations. */
export class ObjectLocation {
  sequence = 0;
  informer = 0;
  kind: DeltaKind = DeltaKind.Added;
  flags = 0;
  hash = 0;
  offset = 0;
  length = 0;
  nameOffset = 0;
  nameLength = 0;
  namespaceOffset = 0;
  namespaceLength = 0;
  uidOffset = 0;
  uidLength = 0;
  resourceVersionOffset = 0;
  resourceVersionLength = 0;
}

/** The first two words of every record, here and in `notification.ts`. */
interface RecordHead {
  sequence: number;
  informer: number;
  kind: number;
  flags: number;
}

export function writeHead(words: Int32Array, word: number, head: Readonly<RecordHead>): void {
  words[word] = head.sequence;
  words[word + 1] = head.informer | (head.kind << 16) | (head.flags << 24);
}

export function readHead(words: Int32Array, word: number, out: RecordHead): void {
  const head = words[word + 1] ?? 0;
  out.sequence = (words[word] ?? 0) >>> 0;
  out.informer = head & 0xffff;
  out.kind = (head >>> 16) & 0xff;
  out.flags = head >>> 24;
}

/** Writes the record; false when the ring is full, without a write. */
export function writeObjectDelta(ring: RingProducer, delta: ObjectLocation): boolean {
  const at = ring.tryClaim(RECORD_TYPE_OBJECT, OBJECT_DELTA_BYTES);
  if (at === INSUFFICIENT_CAPACITY) return false;
  const words = ring.words;
  const word = at >> 2;
  writeHead(words, word, delta);
  words[word + 2] = delta.hash;
  words[word + 3] = delta.offset;
  words[word + 4] = delta.length;
  words[word + 5] = delta.nameOffset;
  words[word + 6] = delta.nameLength;
  words[word + 7] = delta.namespaceOffset;
  words[word + 8] = delta.namespaceLength;
  words[word + 9] = delta.uidOffset;
  words[word + 10] = delta.uidLength;
  words[word + 11] = delta.resourceVersionOffset;
  words[word + 12] = delta.resourceVersionLength;
  ring.commit(OBJECT_DELTA_BYTES);
  return true;
}

/** Reads the object record that `ring.peek()` found into `out`. */
export function readObjectDelta(ring: RingConsumer, out: ObjectLocation): void {
  const words = ring.words;
  const word = ring.offset >> 2;
  readHead(words, word, out);
  out.hash = words[word + 2] ?? 0;
  out.offset = (words[word + 3] ?? 0) >>> 0;
  out.length = words[word + 4] ?? 0;
  out.nameOffset = words[word + 5] ?? 0;
  out.nameLength = words[word + 6] ?? 0;
  out.namespaceOffset = words[word + 7] ?? 0;
  out.namespaceLength = words[word + 8] ?? 0;
  out.uidOffset = words[word + 9] ?? 0;
  out.uidLength = words[word + 10] ?? 0;
  out.resourceVersionOffset = words[word + 11] ?? 0;
  out.resourceVersionLength = words[word + 12] ?? 0;
}

/** Returns the sequence of the record that `ring.peek()` found, of either type. */
export function sequenceOf(ring: RingConsumer): number {
  return sequenceAt(ring.words, ring.offset);
}

/** Returns the sequence of a record whose payload begins at `offset`. */
export function sequenceAt(words: Int32Array, offset: number): number {
  return (words[offset >> 2] ?? 0) >>> 0;
}

/** One sequence in so many is timed; a power of two, because sequences wrap. */
export const SAMPLED_EVERY = 64;
const SAMPLE_MASK: number = SAMPLED_EVERY - 1;

/** Returns whether the times of this sequence are stamped (shared/stamps.ts). */
export function isSampled(sequence: number): boolean {
  return (sequence & SAMPLE_MASK) === 0;
}

export interface ControlRecord {
  readonly sequence: number;
  readonly informer: number;
  readonly kind: DeltaKind;
  readonly epoch: number;
  /** ReplaceEnd and Bookmark: the resourceVersion valid from here on. Otherwise empty. */
  readonly resourceVersion: string;
}

/** Writes the record; false when the ring is full, without a write. */
export function writeControl(ring: RingProducer, type: number, record: ControlRecord): boolean {
  return writeBytesRecord(ring, type, record, record.epoch, Buffer.from(record.resourceVersion));
}

export function readControl(ring: RingConsumer): ControlRecord {
  const { sequence, informer, kind, word, bytes } = readBytesRecord(ring);
  return {
    sequence,
    informer,
    kind: kind as DeltaKind,
    epoch: word >>> 0,
    resourceVersion: bytes.toString(),
  };
}

/** Writes a record of the shape that control and prefix records share: a head, a word, and bytes with their length. */
export function writeBytesRecord(
  ring: RingProducer,
  type: number,
  head: Omit<RecordHead, 'flags'>,
  word: number,
  bytes: Buffer,
): boolean {
  const at = ring.tryClaim(type, BYTES_RECORD_FIXED_BYTES + bytes.length);
  if (at === INSUFFICIENT_CAPACITY) return false;
  const first = at >> 2;
  const { sequence, informer, kind } = head;
  writeHead(ring.words, first, { sequence, informer, kind, flags: 0 });
  ring.words[first + 2] = word;
  ring.words[first + 3] = bytes.length;
  ring.bytes.set(bytes, at + BYTES_RECORD_FIXED_BYTES);
  ring.commit(BYTES_RECORD_FIXED_BYTES + bytes.length);
  return true;
}

/** Reads such a record; the bytes are a private copy. */
export function readBytesRecord(
  ring: RingConsumer,
): RecordHead & { readonly word: number; readonly bytes: Buffer } {
  const first = ring.offset >> 2;
  const head = { sequence: 0, informer: 0, kind: 0, flags: 0 };
  readHead(ring.words, first, head);
  const start = ring.offset + BYTES_RECORD_FIXED_BYTES;
  const bytes = ring.bytes.slice(start, start + (ring.words[first + 3] ?? 0));
  return { ...head, word: ring.words[first + 2] ?? 0, bytes: Buffer.from(bytes.buffer) };
}
