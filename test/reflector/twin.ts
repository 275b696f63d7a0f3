/**
 * Rings, log and words in this process, with the shards' end read back: what a shard and the main thread
 * would see, without either.
 */
import { strict as assert } from 'node:assert';
import { BLOCK_BYTES } from '../../src/log/layout.ts';
import { LogWriter, allocateLog } from '../../src/log/log-writer.ts';
import {
  DeltaKind,
  RECORD_TYPE_CONTROL,
  RECORD_TYPE_OBJECT,
  emptyLocation,
  readControl,
  readObjectDelta,
  sequenceOf,
} from '../../src/record/delta.ts';
import type { ObjectLocation } from '../../src/record/delta.ts';
import { Bell, BELL_LINES } from '../../src/ring/bell.ts';
import { RingConsumer } from '../../src/ring/consumer.ts';
import { RingProducer } from '../../src/ring/producer.ts';
import { RingMemory, allocateRing } from '../../src/ring/ring.ts';
import { Word, allocateWords, compareU32 } from '../../src/ring/word.ts';
import { Router } from '../../src/reflector/router.ts';

export interface TwinOptions {
  readonly shards?: number;
  readonly ringBytes?: number;
  readonly logBytes?: number;
  /** The sequence before the first. */
  readonly lastSequence?: number;
}

/** One record as a shard sees it, with its bytes copied out. */
export interface Seen {
  readonly sequence: number;
  readonly shard: number;
  readonly informer: number;
  readonly kind: string;
  readonly flags: number;
  readonly hash: number;
  readonly epoch: number;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly json: string;
}

const KIND_NAMES = new Map<number, string>(Object.entries(DeltaKind).map(([name, kind]) => [kind, name]));

export class Twin {
  readonly router: Router;
  readonly committed: Word;
  readonly bells: readonly Word[];
  readonly #log: LogWriter;
  readonly #consumers: readonly RingConsumer[];
  /** The last sequence that all readers have passed. */
  #passed: number;

  constructor(options: TwinOptions = {}) {
    const shards = options.shards ?? 2;
    const words = new Int32Array(allocateWords(1 + shards * BELL_LINES));
    this.committed = new Word(words, 0);
    this.#passed = options.lastSequence ?? 0;
    this.committed.store(this.#passed);
    this.#log = new LogWriter(allocateLog(options.logBytes ?? 2 * BLOCK_BYTES), () => this.#passed);
    const memories = Array.from(
      { length: shards },
      () => new RingMemory(allocateRing(options.ringBytes ?? 2 ** 16, 2 ** 32 - 512)),
    );
    this.#consumers = memories.map((memory) => new RingConsumer(memory));
    this.bells = memories.map((_, shard) => new Word(words, 1 + shard * BELL_LINES));
    this.router = new Router({
      rings: memories.map((memory) => new RingProducer(memory)),
      bells: memories.map((_, shard) => new Bell(words, 1 + shard * BELL_LINES)),
      committed: this.committed,
      log: this.#log,
    });
  }

  /** Everything published and not read yet, of all rings, by sequence; controls once. Releases it. */
  read(recordsMax: number = Infinity): Seen[] {
    const seen = this.#consumers.flatMap((consumer, shard) =>
      readRing(consumer, shard, this.#log.bytes, recordsMax),
    );
    seen.sort((a, b) => compareU32(a.sequence, b.sequence));
    const records: Seen[] = [];
    for (const record of seen) {
      assert.ok(
        compareU32(record.sequence, this.committed.load()) <= 0,
        'nothing is visible before it is committed',
      );
      const before = records.at(-1);
      if (before?.sequence === record.sequence)
        assert.equal(record.json, '', 'only controls go to several rings');
      else records.push(record);
    }
    return records;
  }

  /** As `read`, and lets the log take its blocks back. */
  drain(): Seen[] {
    const records = this.read();
    const last = records.at(-1);
    if (last) this.#passed = last.sequence;
    return records;
  }
}

function readRing(ring: RingConsumer, shard: number, log: Buffer, recordsMax: number): Seen[] {
  const seen: Seen[] = [];
  const location = emptyLocation();
  while (seen.length < recordsMax && ring.peek()) {
    if (ring.type === RECORD_TYPE_OBJECT) {
      readObjectDelta(ring, location);
      seen.push(readObject(location, shard, log));
    } else {
      assert.equal(ring.type, RECORD_TYPE_CONTROL);
      const control = readControl(ring);
      assert.equal(control.sequence, sequenceOf(ring));
      const nothing = { flags: 0, hash: 0, name: '', namespace: '', uid: '', json: '' };
      seen.push({ ...nothing, ...control, shard, kind: KIND_NAMES.get(control.kind) ?? '?' });
    }
    ring.advance();
  }
  ring.release();
  return seen;
}

function readObject(location: ObjectLocation, shard: number, log: Buffer): Seen {
  const text = (offset: number, length: number): string =>
    log.toString('utf8', location.offset + offset, location.offset + offset + length);
  return {
    sequence: location.sequence,
    shard,
    informer: location.informer,
    kind: KIND_NAMES.get(location.kind) ?? '?',
    flags: location.flags,
    hash: location.hash,
    epoch: 0,
    name: text(location.nameOffset, location.nameLength),
    namespace: text(location.namespaceOffset, location.namespaceLength),
    uid: text(location.uidOffset, location.uidLength),
    resourceVersion: text(location.resourceVersionOffset, location.resourceVersionLength),
    json: text(0, location.length),
  };
}
