/**
 * What one input record causes, on its way into the ring to the main thread: prefix records, then exactly one
 * terminal record. When the ring is full the rest waits here, and the shard takes no further input until it
 * is gone: so it is bounded by what one record can cause.
 *
 * ```
 *  prefixes (Structures, Warning) ─► swept ids of a relist ─► Parts of a long object ─► terminal record
 * ```
 *
 * Nothing here is copied to wait: the text, the object's bytes and the relist's marks belong to stages that
 * do not go on before this output is done.
 */
import { assert } from '../errors.ts';
import { writeControl } from '../record/delta.ts';
import type { ControlRecord, DeltaKind } from '../record/delta.ts';
import {
  NOTIFICATION_FIXED_BYTES,
  NotificationFlag,
  PREFIX_FIXED_BYTES,
  PrefixKind,
  RECORD_TYPE_CONTROL_DONE,
  emptyNotification,
  writeNotification,
  writePrefix,
} from '../record/notification.ts';
import type { Notification, PrefixRecord } from '../record/notification.ts';
import type { RingProducer } from '../ring/producer.ts';
import { NO_ID } from './key-table.ts';
import { PASS_DONE, PASS_PAUSED } from './relist-marks.ts';
import type { RelistMarks } from './relist-marks.ts';
import { Scratch } from './scratch.ts';

/** How far `flush` came: all is written; the ring is full; there is more to do, which takes time. */
export type FlushResult = 'done' | 'full' | 'paused';

const NO_BYTES = Buffer.alloc(0);
/** Ids that a pass looks at before it lets others work: a fraction of a millisecond. */
const PASS_IDS_PER_FLUSH = 4096;
/** A control record without its text, as `writeControl` lays it out. */
const CONTROL_FIXED_BYTES = 16;

type Terminal =
  | { readonly type: 'none' }
  | { readonly type: 'notification' }
  | { readonly type: 'control'; readonly record: ControlRecord };

const NOTHING: Notification = { ...emptyNotification(), flags: NotificationFlag.Nothing };
const NONE: Terminal = { type: 'none' };
const NOTIFICATION: Terminal = { type: 'notification' };

export class Output {
  /** The notification to fill before `openNotification`. */
  readonly notification: Notification = emptyNotification();
  /** Its variable part: namespace, name, resourceVersion's text, projection, in a row. */
  readonly text: Scratch = new Scratch();
  readonly #ring: RingProducer;
  readonly #text: { words: Int32Array; length: number } = { words: new Int32Array(0), length: 0 };
  #prefixes: PrefixRecord[] = [];
  #marks: RelistMarks | undefined;
  /** Swept, but not told yet. */
  #sweptId: number = NO_ID;
  #inline: Buffer = NO_BYTES;
  #inlineAt = 0;
  #terminal: Terminal = NONE;
  /** What the record that did not fit needs; 0 when nothing failed. */
  #neededBytes = 0;

  constructor(ring: RingProducer) {
    this.#ring = ring;
  }

  /** Something is not written yet. */
  get isOpen(): boolean {
    return this.#terminal.type !== 'none';
  }

  /** Whether `flush` would make progress now. */
  get canContinue(): boolean {
    return this.isOpen && this.#ring.canClaim(this.#neededBytes);
  }

  /** Opens the output for a record of which nothing reaches the main thread; its sequence counts all the same. */
  openNothing(sequence: number, informer: number, kind: DeltaKind): void {
    const { notification } = this;
    this.text.reset();
    Object.assign(notification, NOTHING, { sequence, informer, kind });
    this.openNotification();
  }

  /** How long text may be so that the terminal record fits into the ring. */
  get textBytesMax(): number {
    return this.#ring.payloadBytesMax - NOTIFICATION_FIXED_BYTES;
  }

  /** How long the bytes of one prefix record may be. */
  get prefixBytesMax(): number {
    return this.#ring.payloadBytesMax - PREFIX_FIXED_BYTES;
  }

  /** Comes before the terminal record that is opened next. */
  addPrefix(kind: PrefixKind, bytes: Buffer): void {
    const { sequence, informer, id } = this.notification;
    this.#prefixes.push({ sequence, informer, kind, id, bytes });
  }

  /** The notification and its text are complete; `inline` are the object's bytes if they are not in the log. */
  openNotification(inline: Buffer = NO_BYTES): void {
    assert(this.text.end <= this.textBytesMax, 'too many bytes of text in one notification', this.text.end);
    this.#inline = inline;
    this.#inlineAt = 0;
    this.#terminal = NOTIFICATION;
  }

  /** Answers a control record, after the ids that `marks` sweeps because of it. */
  openControl(record: ControlRecord, marks?: RelistMarks): void {
    this.#marks = marks;
    this.#terminal = { type: 'control', record };
  }

  /** Writes as much as the ring takes. Nothing is visible before the ring is published. */
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

  /** Writes all of the object's bytes but the rest that fits into the terminal record. */
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
