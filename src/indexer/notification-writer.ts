/**
 * Notifications that an input record causes, on their way into the ring to the main thread: prefix records, followed by
 * exactly one terminal record. When the ring is full, the rest waits here, and the shard takes no further input. So the
 * output holds at most the records that a single input can cause.
 *
 * ```
 *  prefixes (Structures, Warning) ─► Texts, Parts of a long object ─► terminal record
 * ```
 *
 * Waiting needs no copies: the text and the object's bytes belong to steps that do not continue before this output is
 * written.
 */
import type { ErrorCode } from '../base/error-codes/error-table.ts';
import { BYTES_RECORD_FIXED_BYTES, writeControl } from '../shared/record/delta.ts';
import type { ControlRecord, ObjectLocation } from '../shared/record/delta.ts';
import {
  NOTIFICATION_FIXED_BYTES,
  Notification,
  NotificationFlag,
  PrefixKind,
  RECORD_TYPE_CONTROL_DONE,
  writeNotification,
  writePrefix,
} from '../shared/record/notification.ts';
import type { NotificationText, PrefixRecord } from '../shared/record/notification.ts';
import type { RingProducer } from '../shared/ring/ring.ts';

/** A report about an object, e.g. a user's function that failed, for the factory's `onError`. */
export interface Warning {
  readonly code: ErrorCode;
  readonly message: string;
}

const NO_BYTES = Buffer.alloc(0);
const NO_TEXT: NotificationText = { words: new Int32Array(0), length: 0 };
const NOTHING = Object.assign(new Notification(), { flags: NotificationFlag.Nothing });
/** Sizes of a `ByteScratch`. */
const CAPACITY_MIN_BYTES = 16 * 1024;
const KEPT_BYTES_MAX = 2 ** 20;

export class NotificationWriter {
  /** The notification to fill before `openNotification`. */
  readonly notification: Notification = new Notification();
  /** The notification's variable part in a row: namespace, name, the text of the resourceVersion, extracted fields. */
  readonly text: ByteScratch = new ByteScratch();
  /** Limit of the text and the object's bytes that the terminal record can hold. A longer text precedes it. */
  readonly #textBytesMax: number;
  /** Limit of the bytes of a prefix record. */
  readonly prefixBytesMax: number;
  readonly #ring: RingProducer;
  #prefixes: PrefixRecord[] = [];
  #inline: Buffer = NO_BYTES;
  #inlineAt = 0;
  /** Bytes of a text too long for the terminal record that are written. */
  #textAt = 0;
  #terminal: 'none' | 'notification' | ControlRecord = 'none';
  /** Bytes of the record that did not fit; 0 when all records fitted. */
  #neededBytes = 0;

  constructor(ring: RingProducer) {
    this.#ring = ring;
    this.#textBytesMax = ring.payloadBytesMax - NOTIFICATION_FIXED_BYTES;
    this.prefixBytesMax = ring.payloadBytesMax - BYTES_RECORD_FIXED_BYTES;
  }

  get isOpen(): boolean {
    return this.#terminal !== 'none';
  }

  /** Whether `flush` would make progress now. */
  get canContinue(): boolean {
    return this.isOpen && this.#ring.canClaim(this.#neededBytes);
  }

  /** Begins the notification and the text for a record. */
  begin({ sequence, informer, kind }: ObjectLocation): void {
    this.notification.sequence = sequence;
    this.notification.informer = informer;
    this.notification.kind = kind;
    this.text.reset();
  }

  /** Opens the output for a dropped record: the main thread receives only the sequence. */
  openNothing(delta: ObjectLocation): void {
    Object.assign(this.notification, NOTHING);
    this.begin(delta);
    this.openNotification();
  }

  /** Adds a record before the terminal record that is opened next. */
  addPrefix(kind: PrefixKind, bytes: Buffer): void {
    const { sequence, informer } = this.notification;
    this.#prefixes.push({ sequence, informer, kind, bytes });
  }

  /**
   * Adds a warning about the object with this key. Shortens the message until it fits into a record of a small ring.
   */
  addWarning({ code, message }: Warning, key: string): void {
    let bytes = Buffer.from(JSON.stringify({ code, message, key }));
    for (let keep = message.length; bytes.length > this.prefixBytesMax && keep > 0;) {
      keep = Math.floor(keep / 2);
      bytes = Buffer.from(JSON.stringify({ code, message: `${message.slice(0, keep)}…`, key }));
    }
    if (bytes.length > this.prefixBytesMax)
      bytes = Buffer.from(JSON.stringify({ code, message: '', key: '' }));
    this.addPrefix(PrefixKind.Warning, bytes);
  }

  /**
   * Opens the output for the completed notification and its text.
   *
   * @param inline the object's bytes if they are not in the log
   */
  openNotification(inline: Buffer = NO_BYTES): void {
    this.#inline = inline;
    this.#inlineAt = 0;
    this.#textAt = 0;
    this.#terminal = 'notification';
  }

  /** Answers a control record. */
  openControl(record: ControlRecord): void {
    this.#terminal = record;
  }

  /**
   * Writes as much as the ring takes; returns false when the ring is full. The records become visible when the ring is
   * published.
   */
  flush(): boolean {
    this.#neededBytes = 0;
    if (this.#prefixes.length > 0 && !this.#flushPrefixes()) return false;
    if (typeof this.#terminal === 'object') {
      if (!this.#writeControl(this.#terminal)) return false;
    } else if (!this.#flushText() || !this.#flushParts() || !this.#writeNotification()) return false;
    this.#terminal = 'none';
    this.#inline = NO_BYTES;
    return true;
  }

  #flushPrefixes(): boolean {
    const full = this.#prefixes.findIndex((prefix) => !this.#writePrefix(prefix));
    this.#prefixes = full < 0 ? [] : this.#prefixes.slice(full);
    return full < 0;
  }

  get #isTextLong(): boolean {
    return this.text.length > this.#textBytesMax;
  }

  /** Writes a text that does not fit into the terminal record. */
  #flushText(): boolean {
    const { sequence, informer } = this.notification;
    const { bytes: text, length } = this.text;
    while (this.#isTextLong && this.#textAt < length) {
      const bytes = text.subarray(this.#textAt, Math.min(length, this.#textAt + this.prefixBytesMax));
      if (!this.#writePrefix({ sequence, informer, kind: PrefixKind.Text, bytes })) return false;
      this.#textAt += bytes.length;
    }
    return true;
  }

  /** Writes the object's bytes except for the rest that fits into the terminal record. */
  #flushParts(): boolean {
    const { sequence, informer } = this.notification;
    const restBytesMax = this.#textBytesMax - (this.#isTextLong ? 0 : this.text.length);
    while (this.#inline.length - this.#inlineAt > restBytesMax) {
      const end = Math.min(this.#inline.length, this.#inlineAt + this.prefixBytesMax);
      const bytes = this.#inline.subarray(this.#inlineAt, end);
      if (!this.#writePrefix({ sequence, informer, kind: PrefixKind.Part, bytes })) return false;
      this.#inlineAt = end;
    }
    return true;
  }

  #writePrefix(record: PrefixRecord): boolean {
    if (writePrefix(this.#ring, record)) return true;
    this.#neededBytes = BYTES_RECORD_FIXED_BYTES + record.bytes.length;
    return false;
  }

  #writeNotification(): boolean {
    const rest = this.#inlineAt === 0 ? this.#inline : this.#inline.subarray(this.#inlineAt);
    const text = this.#isTextLong ? NO_TEXT : this.text;
    if (writeNotification(this.#ring, this.notification, text, rest)) return true;
    this.#neededBytes = NOTIFICATION_FIXED_BYTES + text.length + rest.length;
    return false;
  }

  #writeControl(record: ControlRecord): boolean {
    if (writeControl(this.#ring, RECORD_TYPE_CONTROL_DONE, record)) return true;
    this.#neededBytes = BYTES_RECORD_FIXED_BYTES + Buffer.byteLength(record.resourceVersion);
    return false;
  }
}

/** Buffer that a step fills for record after record. It grows for a large record and shrinks again after it. */
export class ByteScratch {
  bytes: Buffer = Buffer.allocUnsafeSlow(CAPACITY_MIN_BYTES);
  /** The same memory as words. */
  words: Int32Array = wordsOf(this.bytes);
  /** Length of the filled part. */
  length = 0;

  reset(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES_MAX) this.#use(Buffer.allocUnsafeSlow(CAPACITY_MIN_BYTES));
  }

  /** Makes room for `length` bytes behind the filled part. */
  reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(Math.ceil(needed / 4) * 4, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.#use(larger);
  }

  /** Appends a span of a few dozen bytes. */
  append(source: Uint8Array, start: number, length: number): void {
    this.reserve(length);
    const { bytes, length: end } = this;
    for (let at = 0; at < length; at++) bytes[end + at] = source[start + at] ?? 0;
    this.length = end + length;
  }

  appendText(text: string): void {
    // A UTF-16 code unit takes at most 3 bytes in UTF-8.
    this.reserve(text.length * 3);
    this.length += this.bytes.write(text, this.length, 'utf8');
  }

  #use(bytes: Buffer): void {
    this.bytes = bytes;
    this.words = wordsOf(bytes);
  }
}

function wordsOf(bytes: Buffer): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / Int32Array.BYTES_PER_ELEMENT);
}
