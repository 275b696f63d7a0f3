/** Tests that the main thread reads what a shard wrote: notifications with all optional parts, and prefix records. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import { sequenceOf } from '../../../../src/shared/record/delta.ts';
import {
  NotificationFlag,
  PrefixKind,
  RECORD_TYPE_NOTIFICATION,
  RECORD_TYPE_PREFIX,
  Notification,
  readNotification,
  readPrefix,
  writeNotification,
  writePrefix,
} from '../../../../src/shared/record/notification.ts';
import type { PrefixRecord } from '../../../../src/shared/record/notification.ts';
import { anyU32, pick, seededRandom } from '../ring/random.ts';
import { RecordRing, anyBytes, anyFlags, anyInformer, anyKind, anyLength } from './record-ring.ts';
import { textOf } from './notification-text.ts';

const ROUNDS = 2_000;

/** Whole numbers around every limit of the two 32-bit words. */
const LIMITS = [1, 2 ** 31, 2 ** 32, 2 ** 52, 2 ** 53 - 2];
const RESOURCE_VERSIONS = LIMITS.flatMap((limit) => [limit - 1, limit, limit + 1]) as [number, ...number[]];

interface Sample {
  readonly notification: Notification;
  readonly namespace: Buffer;
  readonly name: Buffer;
  readonly resourceVersionText: Buffer;
  readonly extracted: Buffer;
  readonly inline: Buffer | undefined;
}

function anySample(random: Random): Sample {
  const namespace = anyBytes(random, 63);
  const name = anyBytes(random, 253);
  const resourceVersionText = anyBytes(random, 30);
  const extracted = anyBytes(random, 400);
  const inline = random() < 0.5 ? anyBytes(random, 3_000) : undefined;
  const isExtreme = random() < 0.5;
  const isSample = random() < 0.3;
  const notification: Notification = {
    sequence: anyU32(random),
    informer: anyInformer(random),
    kind: anyKind(random),
    flags: anyFlags(random),
    id: anyLength(random),
    logOffset: anyU32(random),
    length: anyLength(random),
    resourceVersion: isExtreme ? pick(random, RESOURCE_VERSIONS) : Math.floor(random() * 2 ** 53),
    namespaceLength: namespace.length,
    nameLength: name.length,
    resourceVersionTextLength: resourceVersionText.length,
    extractedLength: extracted.length,
    packedLength: isSample ? 0 : anyLength(random),
    isSample,
    hasSameFields: false,
    textOffset: 0,
  };
  return { notification, namespace, name, resourceVersionText, extracted, inline };
}

function write(ring: RecordRing, sample: Sample): boolean {
  const text = [sample.namespace, sample.name, sample.resourceVersionText, sample.extracted];
  return writeNotification(ring.producer, sample.notification, textOf(Buffer.concat(text)), sample.inline);
}

/** Returns the variable parts, cut out of the ring by the lengths that were read. */
function partsOf(bytes: Uint8Array, read: Notification, inlineLength: number): Buffer[] {
  const lengths = [
    read.namespaceLength,
    read.nameLength,
    read.resourceVersionTextLength,
    read.extractedLength,
  ];
  let at = read.textOffset;
  return [...lengths, inlineLength].map((length) => Buffer.from(bytes.slice(at, (at += length))));
}

describe('a notification', () => {
  test('is read as written, with every byte behind it', () => {
    const random = seededRandom(1);
    const ring = new RecordRing();
    const read = new Notification();
    for (let round = 0; round < ROUNDS; round++) {
      const sample = anySample(random);
      assert.ok(write(ring, sample));
      const consumer = ring.receive(RECORD_TYPE_NOTIFICATION);
      assert.equal(sequenceOf(consumer), sample.notification.sequence);
      readNotification(consumer, read);
      assert.deepEqual({ ...read, textOffset: 0 }, sample.notification);
      const { namespace, name, resourceVersionText, extracted, inline } = sample;
      const expected = [namespace, name, resourceVersionText, extracted, inline ?? Buffer.alloc(0)];
      assert.deepEqual(partsOf(consumer.bytes, read, inline?.length ?? 0), expected);
      ring.release();
    }
  });

  test('has a bit for every flag', () => {
    const bits = Object.values(NotificationFlag);
    assert.deepEqual(
      bits.toSorted((a, b) => a - b),
      [1, 2, 4, 8, 16, 32, 64, 128],
    );
  });

  test('without room is rejected and leaves no trace', () => {
    const random = seededRandom(4);
    const ring = new RecordRing(2 ** 15);
    const accepted: number[] = [];
    for (let sequence = 1; ; sequence++) {
      const sample = anySample(random);
      sample.notification.sequence = sequence;
      if (!write(ring, sample)) break;
      accepted.push(sequence);
    }
    ring.producer.publish();
    const received: number[] = [];
    for (; ring.consumer.peek(); ring.consumer.advance()) received.push(sequenceOf(ring.consumer));
    assert.deepEqual(received, accepted);
  });
});

describe('a prefix record', () => {
  const ALL_KINDS = Object.values(PrefixKind) as [PrefixKind, ...PrefixKind[]];

  test('is read as written', () => {
    const random = seededRandom(5);
    const ring = new RecordRing();
    for (let round = 0; round < ROUNDS; round++) {
      const written: PrefixRecord = {
        sequence: anyU32(random),
        informer: anyInformer(random),
        kind: pick(random, ALL_KINDS),
        bytes: anyBytes(random, 2_000),
      };
      assert.ok(writePrefix(ring.producer, written));
      const consumer = ring.receive(RECORD_TYPE_PREFIX);
      assert.equal(sequenceOf(consumer), written.sequence);
      assert.deepEqual(readPrefix(consumer), written);
      ring.release();
    }
  });

  test('returns its bytes as a private copy that outlives the ring', () => {
    const ring = new RecordRing();
    const bytes = Buffer.from('a part of a long object');
    writePrefix(ring.producer, { sequence: 1, informer: 2, kind: PrefixKind.Part, bytes });
    const read = readPrefix(ring.receive(RECORD_TYPE_PREFIX));
    ring.release();
    ring.producer.bytes.fill(0xff);
    assert.equal(read.bytes.toString(), 'a part of a long object');
    assert.ok(read.bytes.buffer instanceof ArrayBuffer, 'shared memory must not leak out');
  });
});
