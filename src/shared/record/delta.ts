/**
 * Records from the reflector to a shard: an object of a watch or list, or a control record.
 *
 * Offsets of fields are relative to the offset of the object and point between the quotes; an absent field has length 0. Name and
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

// Every record here and in `notification.ts`, in words of 32 bits from the begin of the payload.
export const SEQUENCE_WORD = 0;
/** informer (16) │ kind (8) │ flags (8) */
export const KIND_WORD = 1;

// An object.
const HASH_WORD = 2;
const OBJECT_OFFSET_WORD = 3;
const OBJECT_LENGTH_WORD = 4;
const NAME_OFFSET_WORD = 5;
const NAME_LENGTH_WORD = 6;
const NAMESPACE_OFFSET_WORD = 7;
const NAMESPACE_LENGTH_WORD = 8;
const UID_OFFSET_WORD = 9;
const UID_LENGTH_WORD = 10;
const RESOURCE_VERSION_OFFSET_WORD = 11;
const RESOURCE_VERSION_LENGTH_WORD = 12;
export const OBJECT_DELTA_BYTES: number = 13 * 4;

// A control or prefix record: bytes behind a number, which is the epoch of a control record.
const NUMBER_WORD = 2;
const BYTES_LENGTH_WORD = 3;
export const BYTES_RECORD_FIXED_BYTES: number = 4 * 4;

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

/** `SEQUENCE_WORD` and `KIND_WORD` of a record. */
interface RecordHead {
  sequence: number;
  informer: number;
  kind: number;
  flags: number;
}

export function writeHead(words: Int32Array, word: number, head: Readonly<RecordHead>): void {
  words[word + SEQUENCE_WORD] = head.sequence;
  words[word + KIND_WORD] = head.informer | (head.kind << 16) | (head.flags << 24);
}

export function readHead(words: Int32Array, word: number, out: RecordHead): void {
  const head = words[word + KIND_WORD] ?? 0;
  out.sequence = (words[word + SEQUENCE_WORD] ?? 0) >>> 0;
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
  words[word + HASH_WORD] = delta.hash;
  words[word + OBJECT_OFFSET_WORD] = delta.offset;
  words[word + OBJECT_LENGTH_WORD] = delta.length;
  words[word + NAME_OFFSET_WORD] = delta.nameOffset;
  words[word + NAME_LENGTH_WORD] = delta.nameLength;
  words[word + NAMESPACE_OFFSET_WORD] = delta.namespaceOffset;
  words[word + NAMESPACE_LENGTH_WORD] = delta.namespaceLength;
  words[word + UID_OFFSET_WORD] = delta.uidOffset;
  words[word + UID_LENGTH_WORD] = delta.uidLength;
  words[word + RESOURCE_VERSION_OFFSET_WORD] = delta.resourceVersionOffset;
  words[word + RESOURCE_VERSION_LENGTH_WORD] = delta.resourceVersionLength;
  ring.commit(OBJECT_DELTA_BYTES);
  return true;
}

/** Reads the object record that `ring.peek()` found into `out`. */
export function readObjectDelta(ring: RingConsumer, out: ObjectLocation): void {
  const words = ring.words;
  const word = ring.offset >> 2;
  readHead(words, word, out);
  out.hash = words[word + HASH_WORD] ?? 0;
  out.offset = (words[word + OBJECT_OFFSET_WORD] ?? 0) >>> 0;
  out.length = words[word + OBJECT_LENGTH_WORD] ?? 0;
  out.nameOffset = words[word + NAME_OFFSET_WORD] ?? 0;
  out.nameLength = words[word + NAME_LENGTH_WORD] ?? 0;
  out.namespaceOffset = words[word + NAMESPACE_OFFSET_WORD] ?? 0;
  out.namespaceLength = words[word + NAMESPACE_LENGTH_WORD] ?? 0;
  out.uidOffset = words[word + UID_OFFSET_WORD] ?? 0;
  out.uidLength = words[word + UID_LENGTH_WORD] ?? 0;
  out.resourceVersionOffset = words[word + RESOURCE_VERSION_OFFSET_WORD] ?? 0;
  out.resourceVersionLength = words[word + RESOURCE_VERSION_LENGTH_WORD] ?? 0;
}

/** Returns the sequence of the record that `ring.peek()` found, of either type. */
export function sequenceOf(ring: RingConsumer): number {
  return (ring.words[(ring.offset >> 2) + SEQUENCE_WORD] ?? 0) >>> 0;
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
  ring.words[first + NUMBER_WORD] = word;
  ring.words[first + BYTES_LENGTH_WORD] = bytes.length;
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
  const bytes = ring.bytes.slice(start, start + (ring.words[first + BYTES_LENGTH_WORD] ?? 0));
  return { ...head, word: ring.words[first + NUMBER_WORD] ?? 0, bytes: Buffer.from(bytes.buffer) };
}
