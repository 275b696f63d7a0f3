/**
 * Merges the shards' rings into one history, by sequence. Sequence n is merged before n + 1, whichever shards they went
 * to; a control record takes effect when all shards have answered it. So the replicas are always exactly the server's
 * history up to one point.
 */
import { KubeloomError, assert } from '../../base/errors.ts';
import { readControl, sequenceOf } from '../../shared/record/delta.ts';
import type { ControlRecord } from '../../shared/record/delta.ts';
import {
  NotificationFlag,
  PrefixKind,
  RECORD_TYPE_CONTROL_DONE,
  RECORD_TYPE_NOTIFICATION,
  RECORD_TYPE_PREFIX,
  emptyNotification,
  readNotification,
  readPrefix,
} from '../../shared/record/notification.ts';
import type { PrefixRecord } from '../../shared/record/notification.ts';
import type { Bell } from '../../shared/ring/bell.ts';
import type { RingConsumer } from '../../shared/ring/consumer.ts';
import type { Word } from '../../shared/ring/word.ts';
import type { ObjectBytes } from '../store/entry-owner.ts';
import type { InformerMerge } from './informer-merge.ts';

export interface ShardEnd {
  readonly ring: RingConsumer;
  readonly bell: Bell;
}

export interface SequenceMergerOptions {
  readonly shards: readonly ShardEnd[];
  readonly log: Buffer;
  /** The log's gate: written here, read by the reflector. */
  readonly merged: Word;
  readonly reflectorBell: Bell;
  /** Called when a shard's record is invalid; nothing more is merged. Default: the error is thrown. */
  readonly broken?: (error: KubeloomError) => void;
}

/** Takes about a millisecond to copy. */
const MERGE_BYTES_MAX = 2 * 2 ** 20;

const BROKEN: ReadonlySet<string> = new Set(['ERR_KUBELOOM_ASSERTION', 'ERR_KUBELOOM_PROTOCOL']);

export class SequenceMerger {
  readonly #options: SequenceMergerOptions;
  readonly #texts: readonly Buffer[];
  readonly #informers: Map<number, InformerMerge> = new Map();
  readonly #parts: Buffer[][];
  /** Warnings of records whose terminal record has not come: a shard that dies before it repeats them. */
  readonly #warnings: PrefixRecord[][];
  /** Shards that have answered the next control record. */
  readonly #answers: Set<number> = new Set();
  #merged: number;
  #isBroken = false;
  /** Bytes of objects taken by the merge in progress. */
  #takenBytes = 0;
  readonly #record = emptyNotification();
  readonly #object: ObjectBytes = { bytes: Buffer.alloc(0), start: 0, length: 0 };

  constructor(options: SequenceMergerOptions) {
    this.#options = options;
    this.#merged = options.merged.load();
    this.#texts = options.shards.map(({ ring }) =>
      Buffer.from(ring.bytes.buffer, ring.bytes.byteOffset, ring.bytes.byteLength),
    );
    this.#parts = options.shards.map(() => []);
    this.#warnings = options.shards.map(() => []);
  }

  attach(informer: number, merge: InformerMerge): void {
    this.#informers.set(informer, merge);
  }

  detach(informer: number): void {
    this.#informers.delete(informer);
  }

  /** The last merged sequence. */
  get merged(): number {
    return this.#merged;
  }

  /**
   * Takes up to `count` next records of the history and returns how many. It takes fewer when their objects are large,
   * because copying takes time. It may take part of a sequence, whose records may not fit into a ring at once.
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

  /** Rethrows everything but assertion and protocol errors, which stop the merge. */
  #break(error: unknown): void {
    const { broken } = this.#options;
    if (!broken || !(error instanceof KubeloomError) || !BROKEN.has(error.code)) throw error;
    this.#isBroken = true;
    broken(error);
  }

  /**
   * Returns memory to the shards and publishes the merged sequence to the reflector. Called after a merge that took
   * any.
   */
  publish(): void {
    this.#options.merged.store(this.#merged);
    let released = false;
    for (const { ring, bell } of this.#options.shards) {
      const result = ring.releaseToWaiting();
      if (result === 'producer may wait') bell.ring();
      released ||= result !== 'nothing';
    }
    if (released) this.#options.reflectorBell.ring();
  }

  /**
   * Returns whether the replicas hold exactly what a shard that has ended had finished: all that it published is
   * merged, and no barrier that it has answered waits for other shards.
   */
  isDrained(shard: number): boolean {
    return !this.#options.shards[shard]?.ring.hasRecord && !this.#answers.has(shard);
  }

  /** Drops the beginning of a record that a shard, which has ended, did not finish. */
  discardUnfinished(shard: number): void {
    for (const held of [this.#parts[shard], this.#warnings[shard]]) if (held) held.length = 0;
  }

  /** Returns whether the next record has come; reads only shared tails. */
  hasWork(): boolean {
    if (this.#isBroken) return false;
    try {
      return this.#options.shards.some(({ ring }) => ring.hasRecord && this.#isNext(ring));
    } catch (error) {
      this.#break(error);
      return false;
    }
  }

  /** A ring whose first record must wait for another shard counts as no work: polling it would spin. */
  #isNext(ring: RingConsumer): boolean {
    return ring.peek() && sequenceOf(ring) === (this.#merged + 1) >>> 0;
  }

  /** Takes one record of the next sequence if one has arrived. */
  #takeNext(): boolean {
    if (this.#isBroken) return false;
    const { shards } = this.#options;
    for (let shard = 0; shard < shards.length; shard++) {
      const ring = shards[shard]?.ring;
      if (!ring || !this.#isNext(ring)) continue;
      if (this.#take(shard, ring)) this.#merged = (this.#merged + 1) >>> 0;
      return true;
    }
    return false;
  }

  /** Takes the record that `peek` found; true when the sequence is complete with it. */
  #take(shard: number, ring: RingConsumer): boolean {
    switch (ring.type) {
      case RECORD_TYPE_PREFIX:
        this.#takePrefix(shard, ring);
        ring.advance();
        return false;
      case RECORD_TYPE_NOTIFICATION:
        this.#takeNotification(shard, ring);
        ring.advance();
        return true;
      case RECORD_TYPE_CONTROL_DONE: {
        const record = readControl(ring);
        ring.advance();
        return this.#takeControl(shard, record);
      }
      default:
        throw new KubeloomError(
          'ERR_KUBELOOM_PROTOCOL',
          `unknown record type ${ring.type} from shard ${shard}`,
        );
    }
  }

  #takePrefix(shard: number, ring: RingConsumer): void {
    const record = readPrefix(ring);
    this.#takenBytes += record.bytes.length;
    if (record.kind === PrefixKind.Part) this.#parts[shard]?.push(record.bytes);
    else if (record.kind === PrefixKind.Warning) this.#warnings[shard]?.push(record);
    else this.#informers.get(record.informer)?.prefix(shard, record);
  }

  #takeNotification(shard: number, ring: RingConsumer): void {
    const record = this.#record;
    readNotification(ring, record);
    const text = this.#texts[shard];
    const parts = this.#parts[shard];
    assert(text !== undefined && parts !== undefined, 'no such shard', shard);
    const informer = this.#informers.get(record.informer);
    this.#tellWarnings(shard, informer);
    if (informer && !(record.flags & NotificationFlag.Nothing)) {
      this.#locate(text, parts);
      this.#takenBytes += record.length;
      informer.notification(shard, record, text, this.#object);
    }
    parts.length = 0;
  }

  #tellWarnings(shard: number, informer: InformerMerge | undefined): void {
    const warnings = this.#warnings[shard];
    if (!warnings || warnings.length === 0) return;
    for (const warning of warnings) informer?.prefix(shard, warning);
    warnings.length = 0;
  }

  /** Sets `#object` to the place of the record's object: in the log, in the ring, or in parts and ring. */
  #locate(text: Buffer, parts: readonly Buffer[]): void {
    const record = this.#record;
    const object = this.#object;
    object.length = record.length;
    if (!(record.flags & NotificationFlag.Inline)) {
      object.bytes = this.#options.log;
      object.start = record.logOffset;
      return;
    }
    const inlineStart =
      record.textOffset +
      record.namespaceLength +
      record.nameLength +
      record.resourceVersionTextLength +
      record.projectionLength;
    object.bytes = text;
    object.start = inlineStart;
    if (parts.length === 0) return;
    const partsBytes = parts.reduce((sum, part) => sum + part.length, 0);
    const rest = text.subarray(inlineStart, inlineStart + record.length - partsBytes);
    object.bytes = Buffer.concat([...parts, rest]);
    object.start = 0;
  }

  #takeControl(shard: number, record: ControlRecord): boolean {
    this.#answers.add(shard);
    if (this.#answers.size < this.#options.shards.length) return false;
    this.#answers.clear();
    this.#informers.get(record.informer)?.control(record);
    return true;
  }
}
