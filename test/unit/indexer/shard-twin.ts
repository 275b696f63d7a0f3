/**
 * A shard between a reflector and a main thread that this test plays. The test offers deltas and calls `doWork`, and a
 * `MainModel` reads the output. Merged bytes in the log are overwritten at once, and every bell checks the order of the
 * stores around it.
 */
import assert from 'node:assert/strict';
import { Shard } from '../../../src/indexer/shard.ts';
import { KeySpans, scanKey } from '../../../src/kube/json/key-spans.ts';
import {
  DeltaFlag,
  DeltaKind,
  ObjectLocation,
  RECORD_TYPE_CONTROL,
  sequenceOf,
  writeControl,
  writeObjectDelta,
} from '../../../src/shared/record/delta.ts';
import { RECORD_TYPE_PREFIX } from '../../../src/shared/record/notification.ts';
import { KeyHash } from '../../../src/shared/record/key-hash.ts';
import { Bell } from '../../../src/shared/ring/bell.ts';
import { UsageWriter, allocateUsage } from '../../../src/shared/thread-usage.ts';
import { RingConsumer, RingMemory, RingProducer, allocateRing } from '../../../src/shared/ring/ring.ts';
import { Word, allocateWords, compareU32 } from '../../../src/shared/ring/word.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/fake-clock.ts';
import type { FromShard, ShardSpec, ToShard } from '../../../src/shared/protocol.ts';
import { MainModel } from './main-model.ts';

export interface ShardTwinOptions {
  readonly inBytes?: number;
  readonly outBytes?: number;
  readonly logBytes?: number;
  /** Sequence of the first record. */
  readonly sequence?: number;
  readonly ringPosition?: number;
  /** Mask that makes keys collide. */
  readonly hashMask?: number;
}

export interface ObjectRecord {
  /** Default: Modified. */
  readonly kind?: DeltaKind;
  readonly namespace?: string;
  readonly name: string;
  /** Default: '1'. */
  readonly resourceVersion?: string;
  /** The object as sent; default: one with its name only. */
  readonly json?: string | Buffer;
  readonly informer?: number;
  readonly flags?: number;
}

interface LogRange {
  readonly sequence: number;
  readonly start: number;
  readonly end: number;
}

const HASH = new KeyHash(Int32Array.of(1, 2));

export const PLAIN: ShardSpec = { fields: [], drop: [], indexModules: [], codec: 'json', isRaw: false };

export class ShardTwin {
  readonly shard: Shard;
  readonly main: MainModel;
  readonly log: Buffer;
  readonly consumed: Word;
  readonly working: Word;
  readonly heartbeat: Word;
  readonly clock: FakeClock = new FakeClock();
  readonly committed: Word;
  readonly posted: FromShard[] = [];
  readonly #input: RingProducer;
  readonly #inputMemory: RingMemory;
  readonly #outputMemory: RingMemory;
  readonly #hashMask: number;
  readonly #ranges: LogRange[] = [];
  /** Sends a message without waiting. */
  send: (message: ToShard) => void = () => undefined;
  #logEnd = 0;
  #sequence: number;
  /** Reads the output ahead of the main thread, without releasing it. */
  readonly #spy: RingConsumer;
  #answered: number;
  #consumedSeen: number;
  #headSeen: number;
  #mainRings = 0;

  constructor(options: ShardTwinOptions = {}) {
    const position = options.ringPosition ?? 0;
    this.#inputMemory = new RingMemory(allocateRing(options.inBytes ?? 4096, position));
    this.#outputMemory = new RingMemory(allocateRing(options.outBytes ?? 16384, position));
    this.#input = new RingProducer(this.#inputMemory);
    this.log = Buffer.from(new SharedArrayBuffer(options.logBytes ?? 2 ** 20));
    this.#hashMask = options.hashMask ?? -1;
    const words = new Int32Array(allocateWords(8));
    this.#sequence = options.sequence ?? 0;
    this.committed = new Word(words, 0);
    this.consumed = new Word(words, 1);
    this.working = new Word(words, 2);
    this.heartbeat = new Word(words, 7);
    this.committed.store(this.#sequence);
    this.consumed.store(this.#sequence);
    this.#spy = new RingConsumer(this.#outputMemory);
    this.#answered = this.#sequence;
    this.#consumedSeen = this.#sequence;
    this.#headSeen = position;
    this.main = new MainModel(new RingConsumer(this.#outputMemory), this.log, this.#sequence);
    this.shard = new Shard({
      ring: new RingConsumer(this.#inputMemory),
      out: new RingProducer(this.#outputMemory),
      log: this.log,
      committed: this.committed,
      consumed: this.consumed,
      working: this.working,
      heartbeat: this.heartbeat,
      clock: this.clock,
      usage: new UsageWriter(allocateUsage(), this.clock),
      mainBell: new Bell(words, 3, () => this.#checkMainRing()),
      reflectorBell: new Bell(words, 5, () => this.#checkReflectorRing()),
      port: {
        post: (message) => this.posted.push(message),
        onMessage: (listener) => (this.send = listener),
      },
    });
  }

  /** Returns a twin with one informer. */
  static async attached(spec: Partial<ShardSpec> = {}, options: ShardTwinOptions = {}): Promise<ShardTwin> {
    const twin = new ShardTwin(options);
    await twin.attach(spec);
    return twin;
  }

  /** Attaches and waits for the answer. */
  async attach(spec: Partial<ShardSpec> = {}, informer = 1): Promise<FromShard> {
    const answers = this.posted.length;
    this.send({ type: 'attach', informer, spec: { ...PLAIN, ...spec } });
    while (this.posted.length === answers) await new Promise(setImmediate);
    const answer = this.posted.at(-1);
    assert.ok(answer);
    return answer;
  }

  /** Writes a record; returns false and writes nothing when ring or log have no room. */
  offerObject(record: ObjectRecord): boolean {
    const json = Buffer.from(record.json ?? JSON.stringify({ metadata: { name: record.name } }));
    const namespace = Buffer.from(record.namespace ?? '');
    const name = Buffer.from(record.name);
    const version = Buffer.from(record.resourceVersion ?? '1');
    const bytes = Buffer.concat([json, namespace, name, version]);
    const offset = this.#reserve(bytes.length);
    if (offset < 0) return false;
    const delta = new ObjectLocation();
    delta.sequence = (this.#sequence + 1) >>> 0;
    delta.informer = record.informer ?? 1;
    delta.kind = record.kind ?? DeltaKind.Modified;
    delta.flags = record.flags ?? 0;
    delta.hash = hashOf(namespace, name) & this.#hashMask;
    delta.offset = offset;
    delta.length = json.length;
    delta.namespaceOffset = json.length;
    delta.namespaceLength = namespace.length;
    delta.nameOffset = json.length + namespace.length;
    delta.nameLength = name.length;
    delta.resourceVersionOffset = json.length + namespace.length + name.length;
    delta.resourceVersionLength = version.length;
    if (delta.flags & DeltaFlag.StandardOrder) pointInto(delta, json);
    bytes.copy(this.log, offset);
    if (!writeObjectDelta(this.#input, delta)) return false;
    this.#sequence = delta.sequence;
    this.#logEnd = offset + bytes.length;
    this.#ranges.push({ sequence: delta.sequence, start: offset, end: this.#logEnd });
    return true;
  }

  offerControl(kind: DeltaKind, epoch = 0, resourceVersion = '', informer = 1): boolean {
    const sequence = (this.#sequence + 1) >>> 0;
    const record = { sequence, informer, kind, epoch, resourceVersion };
    if (!writeControl(this.#input, RECORD_TYPE_CONTROL, record)) return false;
    this.#sequence = sequence;
    return true;
  }

  /** Skips one sequence, which went to another shard. */
  skipSequence(): void {
    this.#sequence = (this.#sequence + 1) >>> 0;
    this.main.skipped.add(this.#sequence);
  }

  /** Skips sequences that went to other shards, after everything before is merged. */
  skipSequences(count: number): void {
    this.#sequence = (this.#sequence + count) >>> 0;
    this.#answered = this.#sequence;
    this.main.merged = this.#sequence;
  }

  /** Publishes the ring's tail without the committed word, as a reflector does for a moment. */
  publishUncommitted(): void {
    this.#input.publish();
  }

  commit(): void {
    this.#input.publish();
    this.committed.store(this.#sequence);
  }

  /** Lets the shard work, and checks its words and bells. */
  work(recordsMax?: number): number {
    const tailBefore = this.#outputMemory.tail.load();
    const ringsBefore = this.#mainRings;
    const canWork = this.shard.hasWork();
    const records = this.shard.doWork(recordsMax);
    const hasPublished = this.#outputMemory.tail.load() !== tailBefore;
    const rings = this.#mainRings - ringsBefore;
    assert.equal(rings, hasPublished ? 1 : 0, 'the main bell rings once for each publication');
    assert.equal(records > 0, canWork, 'hasWork says whether doWork makes progress');
    const isCommitted = compareU32(this.consumed.load(), this.committed.load()) <= 0;
    assert.ok(isCommitted, 'nothing uncommitted is consumed');
    return records;
  }

  /** Merges up to `count` sequences and overwrites their bytes in the log. */
  merge(count: number = Infinity): number {
    const merged = this.main.merge(count);
    while (this.#ranges[0] && compareU32(this.#ranges[0].sequence, this.main.merged) <= 0) {
      const range = this.#ranges.shift();
      if (range) this.log.fill(0x58, range.start, range.end);
    }
    return merged;
  }

  /** Commits, works and merges until nothing is left. */
  settle(): void {
    this.commit();
    for (;;) {
      const worked = this.work();
      const merged = this.merge();
      if (worked === 0 && merged === 0 && !this.shard.hasWork()) break;
    }
    assert.ok(this.main.isIdleUpTo(this.#sequence), 'every sequence has been answered');
    assert.equal(this.consumed.load(), this.#sequence, 'an idle shard is done with all that is committed');
    assert.equal(this.#inputMemory.head.load(), this.#inputMemory.tail.load(), 'all input is released');
  }

  object(record: ObjectRecord): void {
    this.#offer(() => this.offerObject(record));
  }

  control(kind: DeltaKind, epoch = 0, resourceVersion = ''): void {
    this.#offer(() => this.offerControl(kind, epoch, resourceVersion));
  }

  /** Sends an object and lets the main thread merge it. */
  deliver(record: ObjectRecord): void {
    this.object(record);
    this.settle();
  }

  /** Offers a record, settling when there is no room. */
  #offer(offer: () => boolean): void {
    if (offer()) return;
    this.settle();
    assert.ok(offer(), 'an idle pipeline has room');
  }

  /** Returns the start of free bytes in a row, or -1. */
  #reserve(length: number): number {
    if (this.#ranges.length === 0) this.#logEnd = 0;
    const oldest = this.#ranges[0]?.start ?? 0;
    const isWrapped = this.#ranges.length > 0 && this.#logEnd <= oldest;
    if (isWrapped) return this.#logEnd + length <= oldest ? this.#logEnd : -1;
    if (this.#logEnd + length <= this.log.length) return this.#logEnd;
    return length <= oldest ? 0 : -1;
  }

  /** Checks, at a bell after publication, that the input is not released yet; reads ahead what was answered. */
  #checkMainRing(): void {
    this.#mainRings++;
    assert.equal(this.consumed.load(), this.#consumedSeen, 'output is published before consumed');
    const head = this.#inputMemory.head.load();
    assert.equal(head, this.#headSeen, 'output is published before input is released');
    while (this.#spy.peek()) {
      if (this.#spy.type !== RECORD_TYPE_PREFIX) this.#answered = sequenceOf(this.#spy);
      this.#spy.advance();
    }
  }

  /** Checks that a thread that sees the input released can see the output. */
  #checkReflectorRing(): void {
    this.#consumedSeen = this.consumed.load();
    this.#headSeen = this.#inputMemory.head.load();
    for (let at = this.#answered; compareU32(at, this.#consumedSeen) < 0;) {
      at = (at + 1) >>> 0;
      assert.ok(this.main.skipped.has(at), `${at} is consumed without an answer`);
    }
  }
}

function hashOf(namespace: Buffer, name: Buffer): number {
  return HASH.of(
    { bytes: namespace, start: 0, end: namespace.length },
    { bytes: name, start: 0, end: name.length },
  );
}

/** Sets the offsets as a reflector does for an object in Go's order: those of uid and version in the object. */
function pointInto(delta: ObjectLocation, json: Buffer): void {
  const keys = new KeySpans();
  assert.ok(scanKey(json, 0, json.length, keys) && keys.uidStart >= 0 && keys.resourceVersionStart >= 0);
  delta.uidOffset = keys.uidStart;
  delta.uidLength = keys.uidEnd - keys.uidStart;
  delta.resourceVersionOffset = keys.resourceVersionStart;
  delta.resourceVersionLength = keys.resourceVersionEnd - keys.resourceVersionStart;
}
