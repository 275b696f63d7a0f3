/**
 * Model of the main thread behind a shard's ring: two plain maps, live and shadow, by id. It gets keys only from NewKey
 * records, and fails on every record that would mislead the real one.
 */
import assert from 'node:assert/strict';
import { DeltaKind, readControl, sequenceOf } from '../../../src/shared/record/delta.ts';
import { MsgpackDecoder } from '../../../src/shared/record/msgpack.ts';
import {
  NotificationFlag,
  PrefixKind,
  RECORD_TYPE_CONTROL_DONE,
  RECORD_TYPE_NOTIFICATION,
  RECORD_TYPE_PREFIX,
  Notification,
  readNotification,
  readPrefix,
} from '../../../src/shared/record/notification.ts';
import { Dictionary, allocateViewed, unpack } from '../../../src/shared/pack/pack.ts';
import { OBJECT_BYTES_MAX, copyToPack } from '../../../src/shared/pack/sampler.ts';
import type { RingConsumer } from '../../../src/shared/ring/ring.ts';
import { compareU32 } from '../../../src/shared/ring/word.ts';

/** One merged object record. */
export interface Merged {
  readonly kind: DeltaKind;
  readonly flags: number;
  readonly id: number;
  readonly key: string;
  readonly resourceVersion: number | string;
  readonly extracted: unknown;
  /** The object's bytes as they arrived, but not packed. */
  readonly bytes: Buffer;
}

export interface WarningReport {
  readonly code: string;
  readonly message: string;
  readonly key: string;
}

interface Held {
  readonly key: string;
  readonly text: string;
  readonly extracted: string;
}

export class MainModel {
  merged: number;
  readonly history: Merged[] = [];
  readonly warnings: WarningReport[] = [];
  readonly skipped: Set<number> = new Set();
  readonly decoder: MsgpackDecoder = new MsgpackDecoder();
  partsTotal = 0;
  samples = 0;
  /** Number of packed objects, and their bytes. */
  packed = 0;
  packedBytes = 0;
  #dictionary: Dictionary = new Dictionary(1);
  /** Number of records that refer to the fields before. */
  sameExtractions = 0;
  idEnd = 0;
  readonly #ring: RingConsumer;
  readonly #log: Buffer;
  readonly #text: Buffer;
  readonly #notification = new Notification();
  #parts: Buffer[] = [];
  #texts: Buffer[] = [];
  #live: Map<number, Held> = new Map();
  #shadow: Map<number, Held> | undefined;

  constructor(ring: RingConsumer, log: Buffer, merged: number) {
    this.#ring = ring;
    this.#log = log;
    this.#text = Buffer.from(ring.bytes.buffer, ring.bytes.byteOffset, ring.bytes.byteLength);
    this.merged = merged;
  }

  /** The live replica by key. */
  get replica(): ReadonlyMap<string, string> {
    const replica = new Map<string, string>();
    for (const { key, text } of this.#live.values()) {
      assert.ok(!replica.has(key), `${key} is there under two ids`);
      replica.set(key, text);
    }
    return replica;
  }

  get last(): Merged {
    const last = this.history.at(-1);
    assert.ok(last, 'something was merged');
    return last;
  }

  /** Merges until `count` sequences are complete or the ring is empty, and releases what it has read. */
  merge(count: number): number {
    let done = 0;
    while (done < count && this.#ring.peek()) {
      const sequence = sequenceOf(this.#ring);
      assert.equal(sequence, this.#next(), 'sequences come in order, none twice, none missing');
      if (this.#take(sequence)) {
        this.merged = sequence;
        done++;
      }
      this.#ring.advance();
    }
    this.#ring.release();
    return done;
  }

  /** Returns whether everything up to `sequence` is merged, except records of other shards. */
  isIdleUpTo(sequence: number): boolean {
    let at = this.merged;
    while (compareU32(at, sequence) < 0) {
      at = (at + 1) >>> 0;
      if (!this.skipped.has(at)) return false;
    }
    return true;
  }

  get #changing(): Map<number, Held> {
    return this.#shadow ?? this.#live;
  }

  #next(): number {
    let next = (this.merged + 1) >>> 0;
    while (this.skipped.has(next)) next = (next + 1) >>> 0;
    return next;
  }

  /** Reads a record; returns true when it is a terminal one. */
  #take(sequence: number): boolean {
    switch (this.#ring.type) {
      case RECORD_TYPE_PREFIX:
        this.#takePrefix();
        return false;
      case RECORD_TYPE_NOTIFICATION:
        this.#takeNotification();
        return true;
      case RECORD_TYPE_CONTROL_DONE:
        assert.equal(this.#parts.length, 0, 'parts belong to objects');
        this.#takeControl(readControl(this.#ring).kind);
        return true;
      default:
        return assert.fail(`record type ${this.#ring.type} at ${sequence}`);
    }
  }

  #takePrefix(): void {
    const record = readPrefix(this.#ring);
    switch (record.kind) {
      case PrefixKind.Text:
        this.#texts.push(record.bytes);
        break;
      case PrefixKind.Part:
        this.#parts.push(record.bytes);
        this.partsTotal++;
        break;
      case PrefixKind.Structures:
        this.decoder.update(record.bytes);
        break;
      case PrefixKind.Warning:
        this.warnings.push(JSON.parse(record.bytes.toString()) as WarningReport);
        break;
    }
  }

  #takeNotification(): void {
    const record = this.#notification;
    readNotification(this.#ring, record);
    const parts = this.#parts;
    this.#parts = [];
    const texts = this.#texts;
    this.#texts = [];
    if (record.flags & NotificationFlag.Nothing) return;
    const text = texts.length === 0 ? this.#text : Buffer.concat(texts);
    const textStart = texts.length === 0 ? record.textOffset : 0;
    const nameStart = textStart + record.namespaceLength;
    const versionStart = nameStart + record.nameLength;
    const extractedStart = versionStart + record.resourceVersionTextLength;
    const end = extractedStart + record.extractedLength;
    const namespace = text.toString('utf8', textStart, nameStart);
    const name = text.toString('utf8', nameStart, versionStart);
    const key = this.#keyOf(record.id, record.flags, namespace === '' ? name : `${namespace}/${name}`);
    const extracted = record.hasSameFields
      ? this.#extractedBefore(record.id)
      : text.toString('utf8', extractedStart, end);
    const isText = (record.flags & NotificationFlag.ResourceVersionText) !== 0;
    const versionText = text.toString('utf8', versionStart, extractedStart);
    const bytes = this.#bytesOf(parts, texts.length === 0 ? end : record.textOffset);
    this.history.push({
      kind: record.kind,
      flags: record.flags,
      id: record.id,
      key,
      resourceVersion: isText ? versionText : record.resourceVersion,
      extracted: extracted === '' ? undefined : (JSON.parse(extracted) as unknown),
      bytes,
    });
    const target = this.#changing;
    if (record.kind === DeltaKind.Deleted) target.delete(record.id);
    else target.set(record.id, { key, text: bytes.toString(), extracted });
  }

  #extractedBefore(id: number): string {
    const before = this.#changing.get(id);
    assert.ok(before, `id ${id}, whose extracted is the same, is known`);
    this.sameExtractions++;
    return before.extracted;
  }

  #keyOf(id: number, flags: number, newKey: string): string {
    this.idEnd = Math.max(this.idEnd, id + 1);
    const known = this.#changing.get(id);
    if (flags & NotificationFlag.NewKey) {
      assert.equal(known, undefined, `id ${id} is given to ${newKey} while ${known?.key} has it`);
      return newKey;
    }
    assert.ok(known, `id ${id} without NewKey is known`);
    return known.key;
  }

  #bytesOf(parts: readonly Buffer[], inlineStart: number): Buffer {
    const { isSample, packedLength, length } = this.#notification;
    const bytes = this.#storedBytesOf(parts, inlineStart);
    if (isSample) this.#addSample(bytes);
    if (packedLength === 0) return bytes;
    const object = allocateViewed(OBJECT_BYTES_MAX);
    assert.equal(unpack(this.#dictionary, bytes, 0, bytes.length, object), length, 'unpacks to its length');
    this.packed++;
    this.packedBytes += packedLength;
    return Buffer.from(object.bytes.subarray(0, length));
  }

  #addSample(bytes: Buffer): void {
    this.samples++;
    if (!this.#dictionary.hasRoom(bytes.length)) this.#dictionary = new Dictionary(this.samples);
    const sample = copyToPack(bytes, 0, bytes.length);
    assert.ok(sample, 'a sample has a length that is packed');
    this.#dictionary.add(sample);
  }

  #storedBytesOf(parts: readonly Buffer[], inlineStart: number): Buffer {
    const { flags, logOffset, length, packedLength } = this.#notification;
    if (!(flags & NotificationFlag.Inline)) {
      assert.equal(parts.length, 0, 'bytes in the log have no parts');
      assert.equal(packedLength, 0, 'bytes in the log are not packed');
      return Buffer.from(this.#log.subarray(logOffset, logOffset + length));
    }
    const storedLength = packedLength || length;
    const partsLength = parts.reduce((sum, part) => sum + part.length, 0);
    const rest = this.#text.subarray(inlineStart, inlineStart + storedLength - partsLength);
    return Buffer.concat([...parts, rest]);
  }

  #takeControl(kind: DeltaKind): void {
    switch (kind) {
      case DeltaKind.ReplaceBegin:
        this.#shadow = new Map();
        break;
      case DeltaKind.ReplaceAbort:
        this.#shadow = undefined;
        break;
      case DeltaKind.ReplaceEnd:
        if (this.#shadow) this.#live = this.#shadow;
        this.#shadow = undefined;
        break;
    }
  }
}
