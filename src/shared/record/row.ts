/**
 * Records between the main thread and a thread that reads its cache. States of objects go to the thread; their bytes stay
 * where they are, so a record names the place. Rows that the thread needs no more come back.
 * A text that is too long for a record comes before it, in parts, and the record carries none of it.
 */
import { assert } from '../../base/errors.ts';
import { INSUFFICIENT_CAPACITY } from '../ring/ring.ts';
import type { RingConsumer, RingProducer } from '../ring/ring.ts';

export const RECORD_TYPE_ROW = 6;
export const RECORD_TYPE_RETURNED = 7;
export const RECORD_TYPE_TEXT = 8;

export const RowKind = {
  /** A state that the thread does not have. */
  Put: 1,
  /** The last state of a deleted object, which the thread does not have. */
  Deleted: 2,
  /** In a list: the thread already holds this state. */
  Kept: 3,
  /** In a list: the object is not in it. The row is its last known state. */
  Missing: 4,
  ListBegin: 5,
  ListEnd: 6,
  /** The version changed, the objects did not. */
  Position: 7,
  /** The row is at another place. The former place carries the row number of a previous state. */
  Moved: 8,
  /** The informer's cache changes no more. The extracted fields are the reason as JSON, or empty. */
  Stopped: 9,
  /** Everything has been written: the thread shall close its port. */
  Closed: 10,
} as const;
export type RowKind = (typeof RowKind)[keyof typeof RowKind];

// A row, in words of 32 bits from the begin of the payload.
/** informer (16) │ kind (8) */
const KIND_WORD = 0;
/** Number of the state on both threads. */
const ROW_WORD = 1;
/** Row of the object's previous state, or `NOTHING`. */
const PREVIOUS_ROW_WORD = 2;
/** Number of the memory, and the offset and the length in it. */
const MEMORY_WORD = 3;
const OFFSET_WORD = 4;
const STORED_BYTES_WORD = 5;
/** Length of the object, not packed. */
const OBJECT_LENGTH_WORD = 6;
/** Number of the dictionary's memory, or `NOTHING`. */
const DICTIONARY_WORD = 7;
/** 1 when the text is in the records before. */
const IS_TEXT_BEFORE_WORD = 8;
const DECODER_WORD = 9;
const FLAGS_WORD = 10;
/** The low 32 bits, and the 21 bits above; 0 and `NOTHING` when the version is text. */
const RESOURCE_VERSION_WORD = 11;
const RESOURCE_VERSION_HIGH_WORD = 12;
const NAMESPACE_LENGTH_WORD = 13;
const NAME_LENGTH_WORD = 14;
const RESOURCE_VERSION_TEXT_LENGTH_WORD = 15;
/** Length of the extracted fields; `NOTHING`: those of the previous state. */
const EXTRACTED_LENGTH_WORD = 16;
/** Namespace, name, the resourceVersion's text, extracted fields. */
const FIXED_WORDS = 17;
const NOTHING = -1;

// A part of a text.
const TEXT_INFORMER_WORD = 0;
const TEXT_LENGTH_WORD = 1;
/** Bytes of the text before this part. */
const TEXT_AT_WORD = 2;
const TEXT_FIXED_BYTES: number = 3 * 4;

// Returned rows.
/** informer (16) │ number of rows (16) */
const RETURNED_COUNT_WORD = 0;
const RETURNED_ROWS_WORD = 1;

const TWO_POW_32 = 2 ** 32;

/** Length of a record without text, such as a moved row's. */
export const MOVED_BYTES: number = FIXED_WORDS * 4;

/** A state, reused for every record. */
export class RowRecord {
  informer = 0;
  kind: RowKind = RowKind.Put;
  row = 0;
  /** -1 if there is none. */
  previousRow: number = NOTHING;
  memory = 0;
  offset = 0;
  storedBytes = 0;
  length = 0;
  /** -1 when the bytes are not packed. */
  dictionary: number = NOTHING;
  /** 0: the object is JSON. */
  decoder = 0;
  flags = 0;
  version: number | string = 0;
  namespaceLength = 0;
  nameLength = 0;
  resourceVersionTextLength = 0;
  extractedLength = 0;
  /** True when the previous state's extracted fields are equal. */
  hasSameFields = false;
  /** True when earlier records carry all of the text. */
  isTextBefore = false;
  /** Where the text begins in the bytes that `RowReader.read` returned. */
  textOffset = 0;
}

const NO_TEXT: Buffer = Buffer.alloc(0);

/**
 * Writes the states of an informer, also states whose text is too long for a record. A writer whose record found no
 * room may write another record: the written parts belong to no record, and the reader drops them.
 */
export class RowWriter {
  readonly #ring: RingProducer;
  /** Bytes of a long text that are written, and the record that they belong to. */
  #textAt = 0;
  #textOf = '';

  constructor(ring: RingProducer) {
    this.#ring = ring;
  }

  /** Writes the record with `text`, the whole variable part. Returns false when the ring is full. */
  write(record: RowRecord, text: Buffer): boolean {
    const ring = this.#ring;
    const isLong = FIXED_WORDS * 4 + text.length > ring.payloadBytesMax;
    if (isLong && !this.#writeText(record, text)) return false;
    record.isTextBefore = isLong;
    if (!writeRow(ring, record, isLong ? NO_TEXT : text)) return false;
    this.#textAt = 0;
    return true;
  }

  #writeText({ informer, kind, row, previousRow, version }: RowRecord, text: Buffer): boolean {
    const ring = this.#ring;
    const textOf = `${informer} ${kind} ${row} ${previousRow} ${version}`;
    if (textOf !== this.#textOf) this.#textAt = 0;
    this.#textOf = textOf;
    while (this.#textAt < text.length) {
      const end = this.#textAt + ring.payloadBytesMax - TEXT_FIXED_BYTES;
      const bytes = text.subarray(this.#textAt, end);
      const at = ring.tryClaim(RECORD_TYPE_TEXT, TEXT_FIXED_BYTES + bytes.length);
      if (at === INSUFFICIENT_CAPACITY) return false;
      const word = at >> 2;
      ring.words[word + TEXT_INFORMER_WORD] = informer;
      ring.words[word + TEXT_LENGTH_WORD] = bytes.length;
      ring.words[word + TEXT_AT_WORD] = this.#textAt;
      ring.bytes.set(bytes, at + TEXT_FIXED_BYTES);
      ring.commit(TEXT_FIXED_BYTES + bytes.length);
      this.#textAt += bytes.length;
    }
    return true;
  }
}

/** Reads the states of all informers. */
export class RowReader {
  readonly #ring: RingConsumer;
  readonly #memory: Buffer;
  /** Text of the next record of an informer, if that is too long for it. */
  readonly #texts: Map<number, Buffer[]> = new Map();

  constructor(ring: RingConsumer) {
    const { buffer, byteOffset, byteLength } = ring.bytes;
    this.#ring = ring;
    this.#memory = Buffer.from(buffer, byteOffset, byteLength);
  }

  /**
   * Reads the record that `ring.peek()` found into `out`. Returns the bytes with its text, valid until `release`; undefined
   * when it is a part of the text of a record to come.
   */
  read(out: RowRecord): Buffer | undefined {
    if (this.#ring.type === RECORD_TYPE_TEXT) {
      this.#takeText();
      return undefined;
    }
    readRow(this.#ring, this.#memory, out);
    if (!out.isTextBefore) return this.#memory;
    const { namespaceLength, nameLength, resourceVersionTextLength, extractedLength } = out;
    const textLength = namespaceLength + nameLength + resourceVersionTextLength + extractedLength;
    const text = Buffer.concat(this.#texts.get(out.informer) ?? []);
    this.#texts.delete(out.informer);
    assert(text.length === textLength, 'a record without its text', out.row);
    readRow(this.#ring, text, out, 0);
    return text;
  }

  #takeText(): void {
    const ring = this.#ring;
    const word = ring.offset >> 2;
    const informer = ring.words[word + TEXT_INFORMER_WORD] ?? 0;
    // A text that begins replaces an incomplete text: the writer has written another record.
    const isBegin = ring.words[word + TEXT_AT_WORD] === 0;
    const texts = isBegin ? [] : (this.#texts.get(informer) ?? []);
    this.#texts.set(informer, texts);
    const start = ring.offset + TEXT_FIXED_BYTES;
    // A private copy.
    texts.push(Buffer.from(this.#memory.subarray(start, start + (ring.words[word + TEXT_LENGTH_WORD] ?? 0))));
  }
}

function writeRow(ring: RingProducer, record: RowRecord, text: Buffer): boolean {
  const payload = FIXED_WORDS * 4 + text.length;
  const at = ring.tryClaim(RECORD_TYPE_ROW, payload);
  if (at === INSUFFICIENT_CAPACITY) return false;
  const { words } = ring;
  const word = at >> 2;
  const isNumber = typeof record.version === 'number';
  words[word + KIND_WORD] = record.informer | (record.kind << 16);
  words[word + ROW_WORD] = record.row;
  words[word + PREVIOUS_ROW_WORD] = record.previousRow;
  words[word + MEMORY_WORD] = record.memory;
  words[word + OFFSET_WORD] = record.offset;
  words[word + STORED_BYTES_WORD] = record.storedBytes;
  words[word + OBJECT_LENGTH_WORD] = record.length;
  words[word + DICTIONARY_WORD] = record.dictionary;
  words[word + IS_TEXT_BEFORE_WORD] = record.isTextBefore ? 1 : 0;
  words[word + DECODER_WORD] = record.decoder;
  words[word + FLAGS_WORD] = record.flags;
  words[word + RESOURCE_VERSION_WORD] = isNumber ? Number(record.version) | 0 : 0;
  words[word + RESOURCE_VERSION_HIGH_WORD] = isNumber ? Number(record.version) / TWO_POW_32 : NOTHING;
  words[word + NAMESPACE_LENGTH_WORD] = record.namespaceLength;
  words[word + NAME_LENGTH_WORD] = record.nameLength;
  words[word + RESOURCE_VERSION_TEXT_LENGTH_WORD] = record.resourceVersionTextLength;
  words[word + EXTRACTED_LENGTH_WORD] = record.hasSameFields ? NOTHING : record.extractedLength;
  if (text.length > 0) ring.bytes.set(text, at + FIXED_WORDS * 4);
  ring.commit(payload);
  return true;
}

/** @param text the bytes with the text, at `textOffset` */
function readRow(
  ring: RingConsumer,
  text: Buffer,
  out: RowRecord,
  textOffset: number = ring.offset + FIXED_WORDS * 4,
): void {
  const { words } = ring;
  const word = ring.offset >> 2;
  const head = words[word + KIND_WORD] ?? 0;
  out.informer = head & 0xffff;
  out.kind = ((head >>> 16) & 0xff) as RowKind;
  out.row = words[word + ROW_WORD] ?? 0;
  out.previousRow = words[word + PREVIOUS_ROW_WORD] ?? NOTHING;
  out.memory = words[word + MEMORY_WORD] ?? 0;
  out.offset = words[word + OFFSET_WORD] ?? 0;
  out.storedBytes = words[word + STORED_BYTES_WORD] ?? 0;
  out.length = words[word + OBJECT_LENGTH_WORD] ?? 0;
  out.dictionary = words[word + DICTIONARY_WORD] ?? NOTHING;
  out.isTextBefore = words[word + IS_TEXT_BEFORE_WORD] === 1;
  out.decoder = words[word + DECODER_WORD] ?? 0;
  out.flags = words[word + FLAGS_WORD] ?? 0;
  out.namespaceLength = words[word + NAMESPACE_LENGTH_WORD] ?? 0;
  out.nameLength = words[word + NAME_LENGTH_WORD] ?? 0;
  out.resourceVersionTextLength = words[word + RESOURCE_VERSION_TEXT_LENGTH_WORD] ?? 0;
  const extractedLength = words[word + EXTRACTED_LENGTH_WORD] ?? 0;
  out.hasSameFields = extractedLength === NOTHING;
  out.extractedLength = out.hasSameFields ? 0 : extractedLength;
  out.textOffset = textOffset;
  const high = words[word + RESOURCE_VERSION_HIGH_WORD] ?? 0;
  const versionAt = out.textOffset + out.namespaceLength + out.nameLength;
  out.version =
    high === NOTHING
      ? text.toString('utf8', versionAt, versionAt + out.resourceVersionTextLength)
      : ((words[word + RESOURCE_VERSION_WORD] ?? 0) >>> 0) + high * TWO_POW_32;
}

/** Writes the rows that a thread returns; false when the ring is full. */
export function writeReturned(ring: RingProducer, informer: number, rows: readonly number[]): boolean {
  const payload = (RETURNED_ROWS_WORD + rows.length) * 4;
  const at = ring.tryClaim(RECORD_TYPE_RETURNED, payload);
  if (at === INSUFFICIENT_CAPACITY) return false;
  const word = at >> 2;
  ring.words[word + RETURNED_COUNT_WORD] = informer | (rows.length << 16);
  ring.words.set(rows, word + RETURNED_ROWS_WORD);
  ring.commit(payload);
  return true;
}

/** Reads the record that `ring.peek()` found. */
export function readReturned(ring: RingConsumer): { readonly informer: number; readonly rows: Int32Array } {
  const word = ring.offset >> 2;
  const head = ring.words[word + RETURNED_COUNT_WORD] ?? 0;
  const first = word + RETURNED_ROWS_WORD;
  return { informer: head & 0xffff, rows: ring.words.subarray(first, first + (head >>> 16)) };
}
