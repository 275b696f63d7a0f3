/**
 * Merges the shards' rings back into one history, by sequence. What has sequence n is merged before n + 1,
 * whichever shard it went to; a control record counts when all shards have answered it. So the replicas are
 * always exactly the server's history up to one point.
 */
import { KubeloomError, assert } from '../errors.ts';
import { readControl, sequenceOf } from '../record/delta.ts';
import type { ControlRecord } from '../record/delta.ts';
import {
  NotificationFlag,
  PrefixKind,
  RECORD_TYPE_CONTROL_DONE,
  RECORD_TYPE_NOTIFICATION,
  RECORD_TYPE_PREFIX,
  emptyNotification,
  readNotification,
  readPrefix,
} from '../record/notification.ts';
import type { Bell } from '../ring/bell.ts';
import type { RingConsumer } from '../ring/consumer.ts';
import type { Word } from '../ring/word.ts';
import type { InformerMerge } from './informer-merge.ts';
import type { ObjectBytes } from './object-bytes.ts';

export interface ShardEnd {
  readonly ring: RingConsumer;
  readonly bell: Bell;
}

export interface ProcessorOptions {
  readonly shards: readonly ShardEnd[];
  readonly log: Buffer;
  /** Written here, read by the reflector: the log's gate. */
  readonly merged: Word;
  readonly reflectorBell: Bell;
}

/** About a millisecond of copying. */
const MERGE_BYTES_MAX = 2 * 2 ** 20;

export class Processor {
  readonly #options: ProcessorOptions;
  readonly #texts: readonly Buffer[];
  readonly #informers: Map<number, InformerMerge> = new Map();
  readonly #parts: Buffer[][];
  /** Shards that have answered the control record that is next. */
  #answers = 0;
  #merged: number;
  /** Bytes of objects taken by the merge in progress. */
  #takenBytes = 0;
  readonly #record = emptyNotification();
  readonly #object: ObjectBytes = { bytes: Buffer.alloc(0), start: 0, length: 0 };

  constructor(options: ProcessorOptions) {
    this.#options = options;
    this.#merged = options.merged.load();
    this.#texts = options.shards.map(({ ring }) =>
      Buffer.from(ring.bytes.buffer, ring.bytes.byteOffset, ring.bytes.byteLength),
    );
    this.#parts = options.shards.map(() => []);
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
   * Takes up to `count` records that are next in the history; returns how many. Fewer when their objects are
   * large, because copying takes time. Part of a sequence may be taken: what belongs to it may not fit into
   * a ring at once.
   */
  merge(count: number): number {
    this.#takenBytes = 0;
    let taken = 0;
    while (taken < count && this.#takenBytes < MERGE_BYTES_MAX && this.#takeNext()) taken++;
    return taken;
  }

  /** Gives memory back to the shards and tells the reflector how far we are. After every merge that took. */
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

  /** Whether something new has come since the last look; reads only shared tails. */
  hasWork(): boolean {
    return this.#options.shards.some(({ ring }) => ring.hasRecord && this.#isNext(ring));
  }

  /** A ring whose head must wait for another shard is no work: looking at it again would spin. */
  #isNext(ring: RingConsumer): boolean {
    return ring.peek() && sequenceOf(ring) === (this.#merged + 1) >>> 0;
  }

  /** Takes one record of the next sequence if one has arrived. */
  #takeNext(): boolean {
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
        return this.#takeControl(record);
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
    else this.#informers.get(record.informer)?.prefix(shard, record);
  }

  #takeNotification(shard: number, ring: RingConsumer): void {
    const record = this.#record;
    readNotification(ring, record);
    const text = this.#texts[shard];
    const parts = this.#parts[shard];
    assert(text !== undefined && parts !== undefined, `shard ${shard}`);
    const informer = this.#informers.get(record.informer);
    if (informer && !(record.flags & NotificationFlag.Nothing)) {
      this.#locate(text, parts);
      this.#takenBytes += record.length;
      informer.notification(shard, record, text, this.#object);
    }
    parts.length = 0;
  }

  /** Sets `#object` to where the record's object is: in the log, in the ring, or in parts and ring. */
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

  #takeControl(record: ControlRecord): boolean {
    this.#answers++;
    if (this.#answers < this.#options.shards.length) return false;
    this.#answers = 0;
    this.#informers.get(record.informer)?.control(record);
    return true;
  }
}
