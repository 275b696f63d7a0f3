/** Tests that a shard reads what the reflector wrote, for every field at its extremes. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import {
  RECORD_TYPE_CONTROL,
  RECORD_TYPE_OBJECT,
  ObjectLocation,
  readControl,
  readObjectDelta,
  sequenceOf,
  writeControl,
  writeObjectDelta,
} from '../../../../src/shared/record/delta.ts';
import type { ControlRecord } from '../../../../src/shared/record/delta.ts';
import { RECORD_TYPE_CONTROL_DONE } from '../../../../src/shared/record/notification.ts';
import { anyU32, pick, seededRandom, wholeNumber } from '../ring/random.ts';
import { RecordRing, anyFlags, anyInformer, anyKind, anyLength } from './record-ring.ts';

const ROUNDS = 2_000;

function anyLocation(random: Random): ObjectLocation {
  return {
    sequence: anyU32(random),
    informer: anyInformer(random),
    kind: anyKind(random),
    flags: anyFlags(random),
    hash: anyU32(random) | 0,
    offset: anyU32(random),
    length: anyLength(random),
    nameOffset: anyLength(random),
    nameLength: anyLength(random),
    namespaceOffset: anyLength(random),
    namespaceLength: anyLength(random),
    uidOffset: anyLength(random),
    uidLength: anyLength(random),
    resourceVersionOffset: anyLength(random),
    resourceVersionLength: anyLength(random),
  };
}

function anyControl(random: Random): ControlRecord {
  return {
    sequence: anyU32(random),
    informer: anyInformer(random),
    kind: anyKind(random),
    epoch: anyU32(random),
    resourceVersion: pick(random, ['', '0', '4711', '9007199254740993', 'ü€😀', 'x'.repeat(500)]),
  };
}

describe('an object delta', () => {
  test('is read as written, for all values of its fields', () => {
    const random = seededRandom(1);
    const ring = new RecordRing();
    const read = new ObjectLocation();
    for (let round = 0; round < ROUNDS; round++) {
      const written = anyLocation(random);
      assert.ok(writeObjectDelta(ring.producer, written));
      const consumer = ring.receive(RECORD_TYPE_OBJECT);
      assert.equal(sequenceOf(consumer), written.sequence);
      readObjectDelta(consumer, read);
      assert.deepEqual({ ...read }, written);
      ring.release();
    }
  });
});

describe('a control record', () => {
  test('is read as written, also when a shard sends it back', () => {
    const random = seededRandom(2);
    const ring = new RecordRing();
    for (let round = 0; round < ROUNDS; round++) {
      const written = anyControl(random);
      const type = round % 2 === 0 ? RECORD_TYPE_CONTROL : RECORD_TYPE_CONTROL_DONE;
      assert.ok(writeControl(ring.producer, type, written));
      const consumer = ring.receive(type);
      assert.equal(sequenceOf(consumer), written.sequence);
      assert.deepEqual(readControl(consumer), written);
      ring.release();
    }
  });
});

describe('a full ring', () => {
  test('rejects records and keeps exactly the accepted ones', () => {
    const random = seededRandom(3);
    for (let round = 0; round < 50; round++) {
      const ring = new RecordRing(1024);
      const accepted: number[] = [];
      for (let sequence = 1; ; sequence++) {
        const resourceVersion = `${wholeNumber(random, 0, 1e9)}`;
        const control = { ...anyControl(random), sequence, resourceVersion };
        const isWritten =
          random() < 0.5
            ? writeObjectDelta(ring.producer, { ...anyLocation(random), sequence })
            : writeControl(ring.producer, RECORD_TYPE_CONTROL, control);
        if (!isWritten) break;
        accepted.push(sequence);
      }
      ring.producer.publish();
      const received: number[] = [];
      for (; ring.consumer.peek(); ring.consumer.advance()) received.push(sequenceOf(ring.consumer));
      assert.deepEqual(received, accepted);
      assert.ok(accepted.length >= 10);
    }
  });
});
