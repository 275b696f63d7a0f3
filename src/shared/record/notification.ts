/**
 * Records from a shard to the main thread: exactly one terminal record for each sequence that the shard
 * received, in the same order, after any prefix records that belong to it.
 *
 * Prefix records: Text carries a part of the text of the record that follows, from the first byte on, when all of it is too
 * long for one record, and that record carries none of it; Part carries bytes of an object too long for one record,
 * Structures a msgpack table, Warning a JSON error report.
 *
 * A shard answers a control record with a copy of it (`writeControl` of `delta.ts`).
 */
import type { RingConsumer, RingProducer } from '../ring/ring.ts';
import { INSUFFICIENT_CAPACITY } from '../ring/ring.ts';
import { DeltaKind, readBytesRecord, readHead, writeBytesRecord, writeHead } from './delta.ts';

export const RECORD_TYPE_NOTIFICATION = 3;
export const RECORD_TYPE_CONTROL_DONE = 4;
export const RECORD_TYPE_PREFIX = 5;

export const NotificationFlag = {
  /** The key is new: the record contains namespace and name, and the main thread learns the id. */
  NewKey: 1,
  /** The bytes are in the record (and in Parts before it), not in the log: transformed, transcoded or packed. */
  Inline: 2,
  /** The bytes are msgpack with the structures of this shard; otherwise JSON. */
  Msgpack: 4,
  /** The object was over the size limit: the bytes are the identity only, and a read throws. */
  TooLarge: 8,
  /** The transform threw: this is the object as received. */
  TransformFailed: 16,
  /** The resourceVersion is not a number below 2^53 and is in the record as text. */
  ResourceVersionText: 32,
  /** The object was filtered out: there is no object to merge, but the sequence counts. */
  Nothing: 64,
  /** The bytes are not the JSON of an object: reading it throws. */
  Malformed: 128,
} as const;

export const PrefixKind = { Part: 1, Structures: 2, Warning: 3, Text: 4 } as const;
export type PrefixKind = (typeof PrefixKind)[keyof typeof PrefixKind];

// A notification, in words of 32 bits behind `KIND_WORD` of `delta.ts`.
/** The key's dense number in this shard and informer. */
const ID_WORD = 2;
/** Offset in the log; unused with Inline. */
const LOG_OFFSET_WORD = 3;
const OBJECT_LENGTH_WORD = 4;
/** The low 32 bits, and the 21 bits above; both 0 with ResourceVersionText. */
const RESOURCE_VERSION_WORD = 5;
const RESOURCE_VERSION_HIGH_WORD = 6;
const NAMESPACE_LENGTH_WORD = 7;
const NAME_LENGTH_WORD = 8;
const RESOURCE_VERSION_TEXT_LENGTH_WORD = 9;
/** Length of the extracted fields, or `SAME`. */
const EXTRACTED_LENGTH_WORD = 10;
/** Length of the packed bytes; 0 if the object is not packed, or `SAMPLE`. */
const PACKED_LENGTH_WORD = 11;
/** Namespace, name, the resourceVersion's text, extracted fields, and with Inline the object's bytes. */
const FIXED_WORDS = 12;
/** The object is not packed, and the next sample of the shard. */
const SAMPLE = -1;
/** The extracted fields of the previous state. */
const SAME = -1;
export const NOTIFICATION_FIXED_BYTES: number = FIXED_WORDS * 4;

/** A notification, reused for every record. */
export class Notification {
  sequence = 0;
  informer = 0;
  kind: DeltaKind = DeltaKind.Added;
  flags = 0;
  id = 0;
  logOffset = 0;
  length = 0;
  resourceVersion = 0;
  namespaceLength = 0;
  nameLength = 0;
  resourceVersionTextLength = 0;
  extractedLength = 0;
  /** Length of the bytes if they are packed against the samples of this shard, else 0; `length` is the object's. */
  packedLength = 0;
  /** True when the object is the next sample of the shard. */
  isSample = false;
  /** True when only the version and managedFields of the metadata changed; the record carries no extracted fields. */
  hasSameFields = false;
  /** Position of the text in the ring's memory, valid until `release`. */
  textOffset = 0;
}

const TWO_POW_32 = 2 ** 32;

/** The variable part of a notification that a shard writes next, from the first byte on. */
export interface NotificationText {
  /** The text, rounded up to whole words: it is copied word by word. */
  readonly words: Int32Array;
  readonly length: number;
}

/**
 * Writes the record with `text` (namespace, name, resourceVersion's text and extracted fields, contiguous) and, with
 * Inline, `inline` behind it. Returns false, without a write, when the ring is full.
 */
export function writeNotification(
  ring: RingProducer,
  notification: Notification,
  text: NotificationText,
  inline?: Uint8Array,
): boolean {
  const payload = NOTIFICATION_FIXED_BYTES + text.length + (inline?.length ?? 0);
  const at = ring.tryClaim(RECORD_TYPE_NOTIFICATION, payload);
  if (at === INSUFFICIENT_CAPACITY) return false;
  const words = ring.words;
  const word = at >> 2;
  writeHead(words, word, notification);
  words[word + ID_WORD] = notification.id;
  words[word + LOG_OFFSET_WORD] = notification.logOffset;
  words[word + OBJECT_LENGTH_WORD] = notification.length;
  words[word + RESOURCE_VERSION_WORD] = notification.resourceVersion | 0;
  words[word + RESOURCE_VERSION_HIGH_WORD] = notification.resourceVersion / TWO_POW_32;
  words[word + NAMESPACE_LENGTH_WORD] = notification.namespaceLength;
  words[word + NAME_LENGTH_WORD] = notification.nameLength;
  words[word + RESOURCE_VERSION_TEXT_LENGTH_WORD] = notification.resourceVersionTextLength;
  words[word + PACKED_LENGTH_WORD] = notification.isSample ? SAMPLE : notification.packedLength;
  words[word + EXTRACTED_LENGTH_WORD] = notification.hasSameFields ? SAME : notification.extractedLength;
  // The last word may contain bytes after the text: inline bytes overwrite them, and otherwise no reader uses them.
  const textWords = (text.length + 3) >> 2;
  for (let index = 0; index < textWords; index++) words[word + FIXED_WORDS + index] = text.words[index] ?? 0;
  if (inline && inline.length > 0) ring.bytes.set(inline, at + NOTIFICATION_FIXED_BYTES + text.length);
  ring.commit(payload);
  return true;
}

/** Reads the notification that `ring.peek()` found into `out`. */
export function readNotification(ring: RingConsumer, out: Notification): void {
  const words = ring.words;
  const word = ring.offset >> 2;
  readHead(words, word, out);
  out.id = words[word + ID_WORD] ?? 0;
  out.logOffset = (words[word + LOG_OFFSET_WORD] ?? 0) >>> 0;
  out.length = words[word + OBJECT_LENGTH_WORD] ?? 0;
  out.resourceVersion =
    ((words[word + RESOURCE_VERSION_WORD] ?? 0) >>> 0) +
    (words[word + RESOURCE_VERSION_HIGH_WORD] ?? 0) * TWO_POW_32;
  out.namespaceLength = words[word + NAMESPACE_LENGTH_WORD] ?? 0;
  out.nameLength = words[word + NAME_LENGTH_WORD] ?? 0;
  out.resourceVersionTextLength = words[word + RESOURCE_VERSION_TEXT_LENGTH_WORD] ?? 0;
  const extractedLength = words[word + EXTRACTED_LENGTH_WORD] ?? 0;
  out.hasSameFields = extractedLength === SAME;
  out.extractedLength = out.hasSameFields ? 0 : extractedLength;
  const packedLength = words[word + PACKED_LENGTH_WORD] ?? 0;
  out.isSample = packedLength === SAMPLE;
  out.packedLength = out.isSample ? 0 : packedLength;
  out.textOffset = ring.offset + NOTIFICATION_FIXED_BYTES;
}

export interface PrefixRecord {
  readonly sequence: number;
  readonly informer: number;
  readonly kind: PrefixKind;
  /** A private copy. */
  readonly bytes: Buffer;
}

/** Writes the record; false when the ring has no room, and nothing was written. */
export function writePrefix(ring: RingProducer, record: PrefixRecord): boolean {
  return writeBytesRecord(ring, RECORD_TYPE_PREFIX, record, 0, record.bytes);
}

export function readPrefix(ring: RingConsumer): PrefixRecord {
  const { sequence, informer, kind, bytes } = readBytesRecord(ring);
  return { sequence, informer, kind: kind as PrefixKind, bytes };
}
