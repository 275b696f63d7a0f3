/**
 * Records between the main thread and a thread that reads its cache. States of objects go to the thread; their bytes stay
 * where they are, so a record names the place. Rows that the thread needs no more come back.
 *
 * ```
 *  state payload (words)
 *  0  informer (16) │ kind (8)                    9  number of the decoder
 *  1  row: the state's number on both threads    10  flags of the entry
 *  2  row of the object's previous state, or -1  11  resourceVersion, low 32 bits   (0 when it is text)
 *  3  number of the memory                       12  resourceVersion, high 21 bits  (-1 when it is text)
 *  4  offset in it                               13  length of namespace
 *  5  length there                               14  length of name
 *  6  length of the object, not packed           15  length of the resourceVersion's text
 *  7  number of the dictionary's memory, or -1   16  length of the extracted fields; -1: those of the previous state
 *  8  1 when the text is in the records before    17… namespace, name, resourceVersion's text, extracted fields
 *
 *  A text that is too long for a record comes before it, in parts, and the record carries none of it.
 *
 *  text payload (words): 0  informer   1  length   2… bytes
 *  returned payload (words): 0  informer   1… rows
 * ```
 */
import { assert } from '../../base/errors.ts';
import { INSUFFICIENT_CAPACITY } from '../ring/ring.ts';
import type { RingConsumer, RingProducer } from '../ring/ring.ts';

export const RECORD_TYPE_STATE = 6;
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

const FIXED_WORDS = 17;
const NOTHING = -1;
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

const TEXT_FIXED_BYTES = 12;
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
    if (!writeState(ring, record, isLong ? NO_TEXT : text)) return false;
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
      ring.words[at >> 2] = informer;
      ring.words[(at >> 2) + 1] = bytes.length;
      ring.words[(at >> 2) + 2] = this.#textAt;
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
    readState(this.#ring, this.#memory, out);
    if (!out.isTextBefore) return this.#memory;
    const { namespaceLength, nameLength, resourceVersionTextLength, extractedLength } = out;
    const textLength = namespaceLength + nameLength + resourceVersionTextLength + extractedLength;
    const text = Buffer.concat(this.#texts.get(out.informer) ?? []);
    this.#texts.delete(out.informer);
    assert(text.length === textLength, 'a record without its text', out.row);
    readState(this.#ring, text, out, 0);
    return text;
  }

  #takeText(): void {
    const ring = this.#ring;
    const word = ring.offset >> 2;
    const informer = ring.words[word] ?? 0;
    // A text that begins replaces an incomplete text: the writer has written another record.
    const isBegin = ring.words[word + 2] === 0;
    const texts = isBegin ? [] : (this.#texts.get(informer) ?? []);
    this.#texts.set(informer, texts);
    const start = ring.offset + TEXT_FIXED_BYTES;
    // A private copy.
    texts.push(Buffer.from(this.#memory.subarray(start, start + (ring.words[word + 1] ?? 0))));
  }
}

function writeState(ring: RingProducer, record: RowRecord, text: Buffer): boolean {
  const payload = FIXED_WORDS * 4 + text.length;
  const at = ring.tryClaim(RECORD_TYPE_STATE, payload);
  if (at === INSUFFICIENT_CAPACITY) return false;
  const { words } = ring;
  const word = at >> 2;
  const isNumber = typeof record.version === 'number';
  words[word] = record.informer | (record.kind << 16);
  words[word + 1] = record.row;
  words[word + 2] = record.previousRow;
  words[word + 3] = record.memory;
  words[word + 4] = record.offset;
  words[word + 5] = record.storedBytes;
  words[word + 6] = record.length;
  words[word + 7] = record.dictionary;
  words[word + 8] = record.isTextBefore ? 1 : 0;
  words[word + 9] = record.decoder;
  words[word + 10] = record.flags;
  words[word + 11] = isNumber ? Number(record.version) | 0 : 0;
  words[word + 12] = isNumber ? Number(record.version) / TWO_POW_32 : NOTHING;
  words[word + 13] = record.namespaceLength;
  words[word + 14] = record.nameLength;
  words[word + 15] = record.resourceVersionTextLength;
  words[word + 16] = record.hasSameFields ? NOTHING : record.extractedLength;
  if (text.length > 0) ring.bytes.set(text, at + FIXED_WORDS * 4);
  ring.commit(payload);
  return true;
}

/** @param text the bytes with the text, at `textOffset` */
function readState(
  ring: RingConsumer,
  text: Buffer,
  out: RowRecord,
  textOffset: number = ring.offset + FIXED_WORDS * 4,
): void {
  const { words } = ring;
  const word = ring.offset >> 2;
  const head = words[word] ?? 0;
  out.informer = head & 0xffff;
  out.kind = ((head >>> 16) & 0xff) as RowKind;
  out.row = words[word + 1] ?? 0;
  out.previousRow = words[word + 2] ?? NOTHING;
  out.memory = words[word + 3] ?? 0;
  out.offset = words[word + 4] ?? 0;
  out.storedBytes = words[word + 5] ?? 0;
  out.length = words[word + 6] ?? 0;
  out.dictionary = words[word + 7] ?? NOTHING;
  out.isTextBefore = words[word + 8] === 1;
  out.decoder = words[word + 9] ?? 0;
  out.flags = words[word + 10] ?? 0;
  out.namespaceLength = words[word + 13] ?? 0;
  out.nameLength = words[word + 14] ?? 0;
  out.resourceVersionTextLength = words[word + 15] ?? 0;
  const extractedLength = words[word + 16] ?? 0;
  out.hasSameFields = extractedLength === NOTHING;
  out.extractedLength = out.hasSameFields ? 0 : extractedLength;
  out.textOffset = textOffset;
  const high = words[word + 12] ?? 0;
  const versionAt = out.textOffset + out.namespaceLength + out.nameLength;
  out.version =
    high === NOTHING
      ? text.toString('utf8', versionAt, versionAt + out.resourceVersionTextLength)
      : ((words[word + 11] ?? 0) >>> 0) + high * TWO_POW_32;
}

/** Writes the rows that a thread returns; false when the ring is full. */
export function writeReturned(ring: RingProducer, informer: number, rows: readonly number[]): boolean {
  const payload = 4 + rows.length * 4;
  const at = ring.tryClaim(RECORD_TYPE_RETURNED, payload);
  if (at === INSUFFICIENT_CAPACITY) return false;
  const word = at >> 2;
  ring.words[word] = informer | (rows.length << 16);
  ring.words.set(rows, word + 1);
  ring.commit(payload);
  return true;
}

/** Reads the record that `ring.peek()` found. */
export function readReturned(ring: RingConsumer): { readonly informer: number; readonly rows: Int32Array } {
  const word = ring.offset >> 2;
  const head = ring.words[word] ?? 0;
  return { informer: head & 0xffff, rows: ring.words.subarray(word + 1, word + 1 + (head >>> 16)) };
}
