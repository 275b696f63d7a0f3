/**
 * The shards' ends of the rings, written by a test with the real producers and record writers. The test decides which
 * records arrive, where, and when they become visible.
 */
import assert from 'node:assert/strict';
import { SequenceMerger } from '../../../../src/replica/merge/sequence-merger.ts';
import { BLOCK_BYTES } from '../../../../src/shared/log/log-layout.ts';
import { DeltaKind, writeControl } from '../../../../src/shared/record/delta.ts';
import {
  NotificationFlag,
  PrefixKind,
  RECORD_TYPE_CONTROL_DONE,
  Notification,
  writeNotification,
  writePrefix,
} from '../../../../src/shared/record/notification.ts';
import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { RingMemory, RingProducer, allocateRing } from '../../../../src/shared/ring/ring.ts';
import { Word, allocateWords } from '../../../../src/shared/ring/word.ts';
import type { Clock } from '../../../../src/base/clock.ts';
import { StampReader, StampWriter, allocateStamps } from '../../../../src/shared/stamps.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { textOf } from '../../shared/record/notification-text.ts';
import { identityOf, jsonOf, extractedText } from '../store/objects.ts';
import type { ObjectSpec } from '../store/objects.ts';
import { ShardModel } from '../store/shard-model.ts';

export const INFORMER = 1;

export interface FakeShardsOptions {
  readonly shards?: number;
  readonly ringBytes?: number;
  /** The sequence before the first record. */
  readonly merged?: number;
  readonly logBytes?: number;
  /** The clock of the stamps. */
  readonly clock?: Clock;
}

/** Deviations from the default, which is a change of an object whose JSON is in the log. */
export interface ObjectOptions {
  readonly kind?: DeltaKind;
  readonly informer?: number;
  readonly flags?: number;
  /** Bytes instead of the spec's JSON. */
  readonly bytes?: Buffer;
  /** The place of the bytes: behind the record, in Parts of `partBytes` before it, or in the log. */
  readonly place?: 'log' | 'inline' | 'parts';
  readonly partBytes?: number;
  /** Extracted fields instead of the spec's. */
  readonly extracted?: string;
  /** True when the record has no extracted fields because they equal those of the previous state. */
  readonly hasSameFields?: boolean;
}

/** Tries to write one record; false when the ring is full. */
export type Write = () => boolean;

export class FakeShards {
  readonly merger: SequenceMerger;
  producers: readonly RingProducer[];
  readonly memories: readonly RingMemory[];
  readonly merged: Word;
  /** Number of rings of each shard's bell; the reflector's comes last. */
  readonly rung: number[];
  numbering: ShardModel;
  /** The reflector's stamps, which a test writes. */
  readonly stamps: StampWriter;
  /** The last assigned sequence. */
  sequence: number;
  readonly #log: Buffer;
  #logEnd = 0;

  constructor(options: FakeShardsOptions = {}) {
    const { shards = 1, ringBytes = 2 ** 16, merged = 0, logBytes = 2 ** 16 } = options;
    const { clock = new FakeClock() } = options;
    this.memories = Array.from(
      { length: shards },
      () => new RingMemory(allocateRing(ringBytes, 2 ** 32 - ringBytes / 2)),
    );
    this.producers = this.memories.map((memory) => new RingProducer(memory));
    this.numbering = new ShardModel(shards);
    this.sequence = merged;
    this.#log = Buffer.from(new SharedArrayBuffer(logBytes));
    const words = new Int32Array(allocateWords(1 + BELL_LINES * (shards + 1)));
    this.merged = new Word(words, 0);
    this.merged.store(merged);
    this.rung = Array.from({ length: shards + 1 }, () => 0);
    const bells = this.rung.map(
      (_, index) =>
        new Bell(words, 1 + BELL_LINES * index, () => {
          this.rung[index] = (this.rung[index] ?? 0) + 1;
        }),
    );
    const stamps = allocateStamps(BLOCK_BYTES);
    this.stamps = new StampWriter(stamps, this.merged, clock);
    this.merger = new SequenceMerger({
      stamps: new StampReader(stamps),
      clock,
      shards: this.memories.map((memory, shard) => ({
        ring: memory,
        bell: bells[shard] as Bell,
      })),
      log: this.#log,
      merged: this.merged,
      reflectorBell: bells[shards] as Bell,
      broken: (error) => {
        throw error;
      },
    });
  }

  nextSequence(): number {
    this.sequence = (this.sequence + 1) >>> 0;
    return this.sequence;
  }

  /** Returns the records of one object, in order; its key selects the shard. */
  object(
    spec: ObjectSpec,
    options: ObjectOptions = {},
  ): { readonly shard: number; readonly writes: Write[] } {
    const { kind = DeltaKind.Modified, informer = INFORMER, place = 'log', partBytes = 100 } = options;
    const { bytes = jsonOf(spec), hasSameFields = false, extracted = extractedText(spec) } = options;
    const { namespace, name, key } = identityOf(spec);
    const { shard, id, isNew } = this.numbering.object(key, kind === DeltaKind.Deleted);
    const sequence = this.nextSequence();
    const { version } = spec;
    const namespaceText = Buffer.from(isNew ? namespace : '');
    const nameText = Buffer.from(isNew ? name : '');
    const versionText = Buffer.from(typeof version === 'string' ? version : '');
    const extractedBytes = Buffer.from(hasSameFields ? '' : extracted, 'latin1');
    const record = { sequence, informer, kind, id, hasSameFields, length: bytes.length };
    const notification = {
      ...new Notification(),
      ...record,
      flags: options.flags ?? 0,
      resourceVersion: typeof version === 'number' ? version : 0,
      namespaceLength: namespaceText.length,
      nameLength: nameText.length,
      resourceVersionTextLength: versionText.length,
      extractedLength: extractedBytes.length,
    };
    if (isNew) notification.flags |= NotificationFlag.NewKey;
    if (typeof version === 'string') notification.flags |= NotificationFlag.ResourceVersionText;
    const text = textOf(Buffer.concat([namespaceText, nameText, versionText, extractedBytes]));
    const writes: Write[] = [];
    let inline: Buffer | undefined;
    if (place === 'log') {
      notification.logOffset = this.#append(bytes);
    } else {
      notification.flags |= NotificationFlag.Inline;
      const partsEnd = place === 'parts' ? Math.max(0, bytes.length - 10) : 0;
      for (let at = 0; at < partsEnd; at += partBytes) {
        const part = bytes.subarray(at, Math.min(partsEnd, at + partBytes));
        writes.push(this.prefix(shard, PrefixKind.Part, part, { sequence, informer }));
      }
      inline = bytes.subarray(partsEnd);
    }
    writes.push(() => writeNotification(this.#producer(shard), notification, text, inline));
    return { shard, writes };
  }

  prefix(
    shard: number,
    kind: PrefixKind,
    bytes: Buffer,
    about: { readonly sequence: number; readonly informer?: number },
  ): Write {
    const record = { informer: INFORMER, ...about, kind, bytes };
    return () => writePrefix(this.#producer(shard), record);
  }

  /** Returns the answer of each shard to a control record. */
  control(kind: DeltaKind, epoch = 0, resourceVersion = '', informer: number = INFORMER): Write[][] {
    const sequence = this.nextSequence();
    if (kind === DeltaKind.ReplaceBegin) this.numbering.begin();
    const record = { sequence, informer, kind, epoch, resourceVersion };
    return this.producers.map((producer) => [() => writeControl(producer, RECORD_TYPE_CONTROL_DONE, record)]);
  }

  /** Writes records and makes them visible at once. */
  send(shard: number, writes: readonly Write[]): void {
    for (const write of writes) assert.ok(write(), 'the ring is full');
    this.#producer(shard).publish();
  }

  sendObject(spec: ObjectSpec, options: ObjectOptions = {}): void {
    const { shard, writes } = this.object(spec, options);
    this.send(shard, writes);
  }

  sendControl(kind: DeltaKind, epoch = 0, resourceVersion = ''): void {
    for (const [shard, writes] of this.control(kind, epoch, resourceVersion).entries())
      this.send(shard, writes);
  }

  /** Begins with new shards on empty rings. */
  restart(): void {
    for (const memory of this.memories) memory.clear();
    this.producers = this.memories.map((memory) => new RingProducer(memory));
    this.numbering = new ShardModel(this.memories.length);
    this.sequence = this.merger.merged;
    this.merger.restart();
  }

  /** Merges all records that are there. */
  drain(): number {
    let taken = 0;
    for (let some = this.merger.merge(256); some > 0; some = this.merger.merge(256)) taken += some;
    this.merger.publish();
    return taken;
  }

  #append(bytes: Buffer): number {
    if (this.#logEnd + bytes.length > this.#log.length) this.#logEnd = 0;
    const offset = this.#logEnd;
    bytes.copy(this.#log, offset);
    this.#logEnd += bytes.length;
    return offset;
  }

  #producer(shard: number): RingProducer {
    const producer = this.producers[shard];
    assert.ok(producer);
    return producer;
  }
}
