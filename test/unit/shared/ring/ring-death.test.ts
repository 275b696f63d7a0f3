/**
 * Tests that a thread may die at any access to shared memory, and a successor on the same ring continues: no
 * published record is lost, no incomplete or released record is read.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { RingConsumer, RingMemory, RingProducer } from '../../../../src/shared/ring/ring.ts';
import { killedAt } from './accesses.ts';
import { planOf } from './stress.ts';
import { checkStressRecord, writeStressRecord } from './stress-records.ts';
import type { StressPlan } from './stress-records.ts';

const RECORDS = 40;
const BATCH = 3;
const STARTS = [0, 2 ** 31 - 64, 2 ** 32 - 256];

function planFrom(startPosition: number): StressPlan {
  const records = { recordCount: RECORDS, payloadBytesMax: 100, seed: 3, drainEvery: 0 };
  return planOf({ ...records, capacity: 1024, startPosition });
}

/** Writes from record `from` on while there is room; returns the number of committed records. */
function produce(plan: StressPlan, from: number): number {
  const producer = new RingProducer(new RingMemory(plan.ring));
  const bell = new Bell(new Int32Array(plan.bells), 0);
  let next = from;
  while (next < RECORDS && writeStressRecord(producer, next, plan)) {
    next++;
    if (next % BATCH === 0 && producer.publish()) bell.ring();
  }
  if (producer.publish()) bell.ring();
  return next - from;
}

/** Reads all records from `from` on; returns the number of complete and correct ones. */
function consume(plan: StressPlan, from: number): number {
  const consumer = new RingConsumer(new RingMemory(plan.ring));
  const bell = new Bell(new Int32Array(plan.bells), BELL_LINES);
  let next = from;
  while (consumer.peek()) {
    checkStressRecord(consumer, next, plan);
    consumer.advance();
    next++;
    if (next % BATCH === 0 && consumer.release()) bell.ring();
  }
  if (consumer.release()) bell.ring();
  return next - from;
}

describe('a successor continues after a death at any access', () => {
  for (const start of STARTS) {
    test(`of the producer, in a ring that starts at ${start}`, () => {
      let deaths = 0;
      for (let access = 0; ; access++) {
        const plan = planFrom(start);
        if (!killedAt(access, () => void produce(plan, 0))) break;
        deaths++;
        let read = consume(plan, 0);
        // Committed, unpublished records are lost with their producer: they are written again.
        while (read < RECORDS) {
          produce(plan, read);
          const more = consume(plan, read);
          assert.ok(more > 0, `stuck after ${read} records and a death at access ${access}`);
          read += more;
        }
      }
      assert.ok(deaths > 10, `${deaths} deaths: the test is too weak`);
    });

    test(`of the consumer, in a ring that starts at ${start}`, () => {
      let deaths = 0;
      for (let access = 0; ; access++) {
        const plan = planFrom(start);
        const written = produce(plan, 0);
        if (!killedAt(access, () => void consume(plan, 0))) break;
        deaths++;
        // The successor begins with the first unreleased record: a whole number of batches.
        const released = firstUnreleased(plan, written);
        assert.equal(released + consume(plan, released), written);
      }
      assert.ok(deaths > 10, `${deaths} deaths: the test is too weak`);
    });
  }
});

/** Returns the number of the first record after the head; the number of all records when there is none. */
function firstUnreleased(plan: StressPlan, written: number): number {
  const successor = new RingConsumer(new RingMemory(plan.ring));
  return successor.peek() ? (successor.words[successor.offset >> 2] ?? Number.NaN) : written;
}
