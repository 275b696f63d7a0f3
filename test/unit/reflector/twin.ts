/** Rings, log and words in this process, read back as a shard and the main thread would see them. */
import { strict as assert } from 'node:assert';
import type { Clock } from '../../../src/base/clock.ts';
import { BLOCK_BYTES } from '../../../src/shared/log/log-layout.ts';
import { LogWriter, allocateLog } from '../../../src/shared/log/log.ts';
import {
  DeltaKind,
  RECORD_TYPE_CONTROL,
  RECORD_TYPE_OBJECT,
  ObjectLocation,
  readControl,
  readObjectDelta,
  sequenceOf,
} from '../../../src/shared/record/delta.ts';
import { Bell, BELL_LINES } from '../../../src/shared/ring/bell.ts';
import { RingConsumer, RingMemory, RingProducer, allocateRing } from '../../../src/shared/ring/ring.ts';
import { Word, allocateWords, compareU32 } from '../../../src/shared/ring/word.ts';
import { StampWriter, allocateStamps } from '../../../src/shared/stamps.ts';
import { Router } from '../../../src/reflector/router.ts';
import { FakeClock } from './fake-clock.ts';

export interface TwinOptions {
  readonly shards?: number;
  readonly ringBytes?: number;
  readonly logBytes?: number;
  /** The sequence before the first. */
  readonly lastSequence?: number;
  /** The clock of the stamps. */
  readonly clock?: Clock;
}

/** One record as a shard sees it, with its bytes copied. */
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
  readonly stamps: SharedArrayBuffer = allocateStamps(BLOCK_BYTES);
  readonly #log: LogWriter;
  readonly #consumers: readonly RingConsumer[];
  /** The records that were read of each ring and are not merged yet. */
  readonly #read: readonly Seen[][];
  /** The last sequence that was merged; the log may free everything up to it. */
  #merged: number;
  #passed: number;

  constructor(options: TwinOptions = {}) {
    const shards = options.shards ?? 2;
    const words = new Int32Array(allocateWords(1 + shards * BELL_LINES));
    this.committed = new Word(words, 0);
    this.#merged = options.lastSequence ?? 0;
    this.#passed = this.#merged;
    this.committed.store(this.#merged);
    this.#log = new LogWriter(allocateLog(options.logBytes ?? 2 * BLOCK_BYTES), { load: () => this.#passed });
    const memories = Array.from(
      { length: shards },
      () => new RingMemory(allocateRing(options.ringBytes ?? 2 ** 16, 2 ** 32 - 512)),
    );
    this.#consumers = memories.map((memory) => new RingConsumer(memory));
    this.#read = memories.map(() => []);
    this.bells = memories.map((_, shard) => new Word(words, 1 + shard * BELL_LINES));
    this.router = new Router({
      rings: memories.map((memory) => new RingProducer(memory)),
      bells: memories.map((_, shard) => new Bell(words, 1 + shard * BELL_LINES)),
      committed: this.committed,
      log: this.#log,
      hashKey: Int32Array.of(1, 2),
      stamps: new StampWriter(this.stamps, { load: () => this.#merged }, options.clock ?? new FakeClock()),
    });
  }

  /**
   * Reads up to `recordsMax` records of each ring, releases their room, and merges by sequence. An object
   * comes from one ring; a control record counts when it has come from all. The bytes in the log stay until
   * `pass`.
   */
  read(recordsMax: number = Infinity): Seen[] {
    for (const [shard, consumer] of this.#consumers.entries()) {
      const seen = readRing(consumer, shard, this.#log.bytes, recordsMax);
      for (const { sequence } of seen) {
        const isCommitted = compareU32(sequence, this.committed.load()) <= 0;
        assert.ok(isCommitted, 'nothing is visible before it is committed');
      }
      this.#read[shard]?.push(...seen);
    }
    const records: Seen[] = [];
    for (let next = this.#mergeNext(); next; next = this.#mergeNext()) records.push(next);
    return records;
  }

  /** Lets the log overwrite the bytes of everything merged. */
  pass(): void {
    this.#passed = this.#merged;
  }

  /** Calls `read` and `pass`. */
  drain(): Seen[] {
    const records = this.read();
    this.pass();
    return records;
  }

  #mergeNext(): Seen | undefined {
    const sequence = (this.#merged + 1) >>> 0;
    const rings = this.#read.filter((ring) => ring[0]?.sequence === sequence);
    const record = rings[0]?.[0];
    if (!record) return undefined;
    if (record.name === '' && rings.length < this.#read.length) return undefined;
    assert.equal(rings.length, record.name === '' ? this.#read.length : 1);
    for (const ring of rings) ring.shift();
    this.#merged = sequence;
    return record;
  }
}

function readRing(ring: RingConsumer, shard: number, log: Buffer, recordsMax: number): Seen[] {
  const seen: Seen[] = [];
  const location = new ObjectLocation();
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
