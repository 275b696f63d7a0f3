/**
 * Notifications that one input record causes, on their way into the ring to the main thread: prefix records, then
 * exactly one terminal record. When the ring is full, the rest waits here, and the shard takes no further input. So the
 * output is bounded by the records that one input record can cause.
 *
 * ```
 *  prefixes (Structures, Warning) ─► swept ids of a relist ─► Parts of a long object ─► terminal record
 * ```
 *
 * Waiting copies nothing: the text, the object's bytes and the relist's marks belong to stages that do not continue
 * before this output is done.
 */
import { assert } from '../base/errors.ts';
import { writeControl } from '../shared/record/delta.ts';
import type { ControlRecord, DeltaKind } from '../shared/record/delta.ts';
import {
  NOTIFICATION_FIXED_BYTES,
  NotificationFlag,
  PREFIX_FIXED_BYTES,
  PrefixKind,
  RECORD_TYPE_CONTROL_DONE,
  emptyNotification,
  writeNotification,
  writePrefix,
} from '../shared/record/notification.ts';
import type { Notification, PrefixRecord } from '../shared/record/notification.ts';
import type { RingProducer } from '../shared/ring/producer.ts';
import { NO_ID } from './key-table.ts';
import { PASS_DONE, PASS_PAUSED } from './relist-marks.ts';
import type { RelistMarks } from './relist-marks.ts';
import { ByteScratch } from './byte-scratch.ts';

/** Result of `flush`: all is written; the ring is full; or more work remains after a pause. */
export type FlushResult = 'done' | 'full' | 'paused';

const NO_BYTES = Buffer.alloc(0);
/** Ids of a relist's pass in one call: a fraction of a millisecond. */
const PASS_IDS_PER_FLUSH = 4096;
/** Bytes of a control record without its text, see `writeControl`. */
const CONTROL_FIXED_BYTES = 16;

type Terminal =
  | { readonly type: 'none' }
  | { readonly type: 'notification' }
  | { readonly type: 'control'; readonly record: ControlRecord };

const NOTHING: Notification = { ...emptyNotification(), flags: NotificationFlag.Nothing };
const NONE: Terminal = { type: 'none' };
const NOTIFICATION: Terminal = { type: 'notification' };

export class NotificationWriter {
  /** The notification to fill before `openNotification`. */
  readonly notification: Notification = emptyNotification();
  /** Its variable part in a row: namespace, name, resourceVersion's text, extracted fields. */
  readonly text: ByteScratch = new ByteScratch();
  readonly #ring: RingProducer;
  readonly #text: { words: Int32Array; length: number } = { words: new Int32Array(0), length: 0 };
  #prefixes: PrefixRecord[] = [];
  #marks: RelistMarks | undefined;
  /** Swept id whose record is not written yet. */
  #sweptId: number = NO_ID;
  #inline: Buffer = NO_BYTES;
  #inlineAt = 0;
  #terminal: Terminal = NONE;
  /** Bytes of the record that did not fit; 0 when all records fitted. */
  #neededBytes = 0;

  constructor(ring: RingProducer) {
    this.#ring = ring;
  }

  /** Whether a record is not written yet. */
  get isOpen(): boolean {
    return this.#terminal.type !== 'none';
  }

  /** Whether `flush` would make progress now. */
  get canContinue(): boolean {
    return this.isOpen && this.#ring.canClaim(this.#neededBytes);
  }

  /** Opens the output for a dropped record: the main thread receives only its sequence. */
  openNothing(sequence: number, informer: number, kind: DeltaKind): void {
    const { notification } = this;
    this.text.reset();
    Object.assign(notification, NOTHING, { sequence, informer, kind });
    this.openNotification();
  }

  /** Limit of the text with which the terminal record fits into the ring. */
  get textBytesMax(): number {
    return this.#ring.payloadBytesMax - NOTIFICATION_FIXED_BYTES;
  }

  /** Limit of the bytes of one prefix record. */
  get prefixBytesMax(): number {
    return this.#ring.payloadBytesMax - PREFIX_FIXED_BYTES;
  }

  /** Adds a record before the terminal record that is opened next. */
  addPrefix(kind: PrefixKind, bytes: Buffer): void {
    const { sequence, informer, id } = this.notification;
    this.#prefixes.push({ sequence, informer, kind, id, bytes });
  }

  /**
   * Opens the output for the completed notification and its text.
   *
   * @param inline the object's bytes if they are not in the log
   */
  openNotification(inline: Buffer = NO_BYTES): void {
    assert(this.text.end <= this.textBytesMax, 'too many bytes of text in one notification', this.text.end);
    this.#inline = inline;
    this.#inlineAt = 0;
    this.#terminal = NOTIFICATION;
  }

  /** Answers a control record, after the ids that `marks` sweeps for it. */
  openControl(record: ControlRecord, marks?: RelistMarks): void {
    this.#marks = marks;
    this.#terminal = { type: 'control', record };
  }

  /** Writes as much as the ring takes. The records become visible when the ring is published. */
  flush(): FlushResult {
    this.#neededBytes = 0;
    if (this.#prefixes.length > 0 && !this.#flushPrefixes()) return 'full';
    if (this.#marks !== undefined) {
      const result = this.#flushSwept(this.#marks);
      if (result !== 'done') return result;
      this.#marks = undefined;
    }
    const isWritten =
      this.#terminal.type === 'control'
        ? this.#write(this.#terminal.record)
        : this.#flushParts() && this.#writeNotification();
    if (!isWritten) return 'full';
    this.#terminal = NONE;
    this.#inline = NO_BYTES;
    return 'done';
  }

  #flushPrefixes(): boolean {
    let written = 0;
    for (const prefix of this.#prefixes) {
      if (!this.#writePrefix(prefix)) break;
      written++;
    }
    this.#prefixes = this.#prefixes.slice(written);
    return this.#prefixes.length === 0;
  }

  #flushSwept(marks: RelistMarks): FlushResult {
    assert(this.#terminal.type === 'control', 'only control records sweep');
    const { sequence, informer } = this.#terminal.record;
    for (let idsLeft = PASS_IDS_PER_FLUSH; idsLeft > 0; idsLeft--) {
      if (this.#sweptId === NO_ID) {
        const found = marks.next(idsLeft);
        if (found === PASS_DONE) return 'done';
        if (found === PASS_PAUSED) return 'paused';
        this.#sweptId = found;
      }
      const swept = { sequence, informer, kind: PrefixKind.Swept, id: this.#sweptId, bytes: NO_BYTES };
      if (!this.#writePrefix(swept)) return 'full';
      this.#sweptId = NO_ID;
    }
    return 'paused';
  }

  /** Writes the object's bytes except for the rest that fits into the terminal record. */
  #flushParts(): boolean {
    const { sequence, informer, id } = this.notification;
    const restBytesMax = this.textBytesMax - this.text.end;
    while (this.#inline.length - this.#inlineAt > restBytesMax) {
      const end = Math.min(this.#inline.length, this.#inlineAt + this.prefixBytesMax);
      const bytes = this.#inline.subarray(this.#inlineAt, end);
      if (!this.#writePrefix({ sequence, informer, kind: PrefixKind.Part, id, bytes })) return false;
      this.#inlineAt = end;
    }
    return true;
  }

  #writePrefix(record: PrefixRecord): boolean {
    if (writePrefix(this.#ring, record)) return true;
    this.#neededBytes = PREFIX_FIXED_BYTES + record.bytes.length;
    return false;
  }

  #writeNotification(): boolean {
    const text = this.#text;
    text.words = this.text.words;
    text.length = this.text.end;
    const rest = this.#inlineAt === 0 ? this.#inline : this.#inline.subarray(this.#inlineAt);
    if (writeNotification(this.#ring, this.notification, text, rest)) return true;
    this.#neededBytes = NOTIFICATION_FIXED_BYTES + text.length + rest.length;
    return false;
  }

  #write(record: ControlRecord): boolean {
    if (writeControl(this.#ring, RECORD_TYPE_CONTROL_DONE, record)) return true;
    this.#neededBytes = CONTROL_FIXED_BYTES + Buffer.byteLength(record.resourceVersion);
    return false;
  }
}
