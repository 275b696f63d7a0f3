/**
 * Merges the shards' rings into a single history, by sequence. Sequence n is merged before n + 1, even if they went to
 * different shards; a control record takes effect when all shards have answered it. So the replicas are always exactly
 * the server's history up to a single sequence.
 */
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { isSampled, readControl, sequenceOf } from '../../shared/record/delta.ts';
import type { ControlRecord } from '../../shared/record/delta.ts';
import {
  NotificationFlag,
  PrefixKind,
  RECORD_TYPE_CONTROL_DONE,
  RECORD_TYPE_NOTIFICATION,
  RECORD_TYPE_PREFIX,
  Notification,
  readNotification,
  readPrefix,
} from '../../shared/record/notification.ts';
import type { PrefixRecord } from '../../shared/record/notification.ts';
import type { Bell } from '../../shared/ring/bell.ts';
import { RingConsumer } from '../../shared/ring/ring.ts';
import type { RingMemory } from '../../shared/ring/ring.ts';
import type { Word } from '../../shared/ring/word.ts';
import type { StampReader } from '../../shared/stamps.ts';
import type { ObjectBytes } from '../store/entry.ts';
import type { InformerMerge } from './informer-merge.ts';

export interface SequenceMergerOptions {
  readonly shards: readonly { readonly ring: RingMemory; readonly bell: Bell }[];
  readonly log: Buffer;
  /** The log's gate: written here, read by the reflector. */
  readonly merged: Word;
  readonly reflectorBell: Bell;
  readonly stamps: StampReader;
  /** The clock of the stamps. */
  readonly clock: Pick<Clock, 'now'>;
  /** Called when a shard's record is invalid; the merger stops until `restart`. */
  readonly broken: (error: KubeloomError, shard: number) => void;
}

/** A shard, and the records that it published of an incomplete sequence. */
interface Source {
  readonly shard: number;
  readonly ring: RingConsumer;
  readonly bell: Bell;
  /** The ring's memory. */
  readonly text: Buffer;
  /** Texts too long for the terminal record. */
  readonly texts: Buffer[];
  readonly parts: Buffer[];
  /** Warnings of records whose terminal record is still to come. */
  readonly warnings: PrefixRecord[];
  /** True when the shard has answered the next control record. */
  hasAnswered: boolean;
}

/** Copying these bytes takes about a millisecond. */
const MERGE_BYTES_MAX = 2 * 2 ** 20;

export class SequenceMerger {
  readonly #options: SequenceMergerOptions;
  #sources: readonly Source[];
  readonly #informers: Map<number, InformerMerge> = new Map();
  merged: number;
  /** Number of records merged so far; `merged` wraps. */
  records = 0;
  #isBroken = false;
  /** The shard whose ring was read last. */
  #shard = 0;
  /** The control record that all shards have answered and the informer has not finished. */
  #control: ControlRecord | undefined;
  /** Bytes of objects taken by the merge in progress. */
  #takenBytes = 0;
  readonly #record = new Notification();
  readonly #object: ObjectBytes = { bytes: Buffer.alloc(0), start: 0, length: 0 };

  constructor(options: SequenceMergerOptions) {
    this.#options = options;
    this.merged = options.merged.load();
    this.#sources = this.#newSources();
  }

  /** Begins anew after the rings were emptied. */
  restart(): void {
    this.#sources = this.#newSources();
    this.#control = undefined;
    this.#isBroken = false;
  }

  attach(informer: number, merge: InformerMerge): void {
    this.#informers.set(informer, merge);
  }

  detach(informer: number): void {
    this.#informers.delete(informer);
  }

  /**
   * Takes up to `count` next records of the history and returns the number taken. It takes fewer if the objects are
   * large, because copying takes time. It may take a part of a sequence, whose records need not fit into a ring at
   * once.
   */
  merge(count: number): number {
    this.#takenBytes = 0;
    let taken = 0;
    try {
      while (taken < count && this.#takenBytes < MERGE_BYTES_MAX && this.#takeNext()) taken++;
    } catch (error) {
      this.#break(error);
    }
    return taken;
  }

  #newSources(): readonly Source[] {
    return this.#options.shards.map(({ ring, bell }, shard) => {
      const { buffer, byteOffset, byteLength } = ring.bytes;
      const text = Buffer.from(buffer, byteOffset, byteLength);
      const consumer = new RingConsumer(ring);
      return { shard, ring: consumer, bell, text, texts: [], parts: [], warnings: [], hasAnswered: false };
    });
  }

  #break(error: unknown): void {
    if (!(error instanceof KubeloomError) || error.code !== 'ERR_KUBELOOM_ASSERTION') throw error;
    this.#isBroken = true;
    this.#options.broken(error, this.#shard);
  }

  /** Returns memory to the shards and publishes the merged sequence to the reflector; called after a merge. */
  publish(): void {
    this.#options.merged.store(this.merged);
    let released = false;
    for (const { ring, bell } of this.#sources) {
      const result = ring.releaseToWaiting();
      if (result === 'producer may wait') bell.ring();
      released ||= result !== 'nothing';
    }
    if (released) this.#options.reflectorBell.ring();
  }

  /** Returns whether the next record of the history is in a ring; reads only shared tails. */
  hasWork(): boolean {
    if (this.#isBroken) return false;
    if (this.#control) return true;
    try {
      return this.#sources.some((source) => source.ring.hasRecord && this.#isNext(source));
    } catch (error) {
      this.#break(error);
      return false;
    }
  }

  /** A ring whose first record must wait for another shard counts as no work: polling it would spin. */
  #isNext({ ring, shard }: Source): boolean {
    this.#shard = shard;
    return ring.peek() && sequenceOf(ring) === (this.merged + 1) >>> 0;
  }

  /** Takes a record of the next sequence, if it is in a ring. */
  #takeNext(): boolean {
    if (this.#isBroken) return false;
    if (this.#control) {
      this.#finishControl(this.#control);
      return true;
    }
    for (const source of this.#sources) {
      if (!this.#isNext(source)) continue;
      this.#take(source);
      return true;
    }
    return false;
  }

  #finishSequence(): void {
    this.merged = (this.merged + 1) >>> 0;
    this.records++;
  }

  /** Takes the record that `peek` found. */
  #take(source: Source): void {
    const { ring, shard } = source;
    switch (ring.type) {
      case RECORD_TYPE_PREFIX:
        this.#takePrefix(source);
        ring.advance();
        break;
      case RECORD_TYPE_NOTIFICATION:
        this.#takeNotification(source);
        ring.advance();
        this.#finishSequence();
        break;
      case RECORD_TYPE_CONTROL_DONE:
        this.#takeControl(source);
        break;
      default:
        throw new KubeloomError(
          'ERR_KUBELOOM_ASSERTION',
          `unknown record type ${ring.type} from shard ${shard}`,
        );
    }
  }

  #takePrefix({ shard, ring, texts, parts, warnings }: Source): void {
    const record = readPrefix(ring);
    this.#takenBytes += record.bytes.length;
    if (record.kind === PrefixKind.Part) parts.push(record.bytes);
    else if (record.kind === PrefixKind.Text) texts.push(record.bytes);
    else if (record.kind === PrefixKind.Warning) warnings.push(record);
    else this.#informers.get(record.informer)?.prefix(shard, record);
  }

  #takeNotification({ shard, ring, text, texts, parts, warnings }: Source): void {
    const record = this.#record;
    readNotification(ring, record);
    const informer = this.#informers.get(record.informer);
    if (warnings.length > 0) {
      for (const warning of warnings) informer?.prefix(shard, warning);
      warnings.length = 0;
    }
    if (informer && record.flags & NotificationFlag.Nothing) informer.ignored++;
    else if (informer) {
      this.#locate(text, texts.length > 0, parts);
      this.#takenBytes += this.#object.length;
      const { stamps, clock } = this.#options;
      const stamp = isSampled(record.sequence) ? stamps.read(record.sequence) : undefined;
      if (stamp) informer.latency.begin(stamp, clock);
      informer.notification(shard, record, texts.length > 0 ? this.#textOf(texts) : text, this.#object);
      if (stamp) informer.latency.end();
    }
    texts.length = 0;
    parts.length = 0;
  }

  /** Returns the text that came before the record. */
  #textOf(texts: readonly Buffer[]): Buffer {
    this.#record.textOffset = 0;
    return Buffer.concat(texts);
  }

  /** Sets `#object` to the place of the record's bytes, packed or not: in the log, in the ring, or in parts and ring. */
  #locate(text: Buffer, isTextBefore: boolean, parts: readonly Buffer[]): void {
    const record = this.#record;
    const object = this.#object;
    object.length = record.packedLength || record.length;
    if (!(record.flags & NotificationFlag.Inline)) {
      object.bytes = this.#options.log;
      object.start = record.logOffset;
      return;
    }
    const textLength =
      record.namespaceLength + record.nameLength + record.resourceVersionTextLength + record.extractedLength;
    const inlineStart = record.textOffset + (isTextBefore ? 0 : textLength);
    object.bytes = text;
    object.start = inlineStart;
    if (parts.length === 0) return;
    const partsBytes = parts.reduce((sum, part) => sum + part.length, 0);
    const rest = text.subarray(inlineStart, inlineStart + object.length - partsBytes);
    object.bytes = Buffer.concat([...parts, rest]);
    object.start = 0;
  }

  #takeControl(source: Source): void {
    const record = readControl(source.ring);
    source.ring.advance();
    source.hasAnswered = true;
    if (this.#sources.every(({ hasAnswered }) => hasAnswered)) this.#finishControl(record);
  }

  /** Applies a record that all shards have answered, or a part of it. */
  #finishControl(record: ControlRecord): void {
    const informer = this.#informers.get(record.informer);
    this.#control = !informer || informer.control(record) ? undefined : record;
    if (this.#control) return;
    for (const answered of this.#sources) answered.hasAnswered = false;
    this.#finishSequence();
  }
}
