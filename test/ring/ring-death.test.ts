/**
 * A thread dies at any access to shared memory, and a successor on the same ring goes on: nothing that was published
 * is lost, nothing half written is read, nothing is read that was released.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BELL_LINES, Bell } from '../../src/ring/bell.ts';
import { RingConsumer } from '../../src/ring/consumer.ts';
import { RingProducer } from '../../src/ring/producer.ts';
import { RingMemory, allocateRing } from '../../src/ring/ring.ts';
import { allocateWords } from '../../src/ring/word.ts';
import { killedAt } from './accesses.ts';
import { checkStressRecord, writeStressRecord } from './stress-records.ts';
import type { StressPlan } from './stress-records.ts';

const RECORDS = 40;
const BATCH = 3;
const STARTS = [0, 2 ** 31 - 64, 2 ** 32 - 256];

function planFrom(start: number): StressPlan {
  return {
    ring: allocateRing(1024, start),
    bells: allocateWords(2 * BELL_LINES),
    recordCount: RECORDS,
    payloadBytesMax: 100,
    seed: 3,
    drainEvery: 0,
    parkTimeoutMs: 0,
  };
}

/** Writes from record `from` on, as long as there is room; returns how many were committed. */
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

/** Reads all there is, beginning with record `from`; returns how many were whole and right. */
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

describe('a successor goes on after a death at any access', () => {
  for (const start of STARTS) {
    test(`of the producer, in a ring that starts at ${start}`, () => {
      let deaths = 0;
      for (let access = 0; ; access++) {
        const plan = planFrom(start);
        if (!killedAt(access, () => void produce(plan, 0))) break;
        deaths++;
        let read = consume(plan, 0);
        // What was committed and not published is gone with its producer: it is written again.
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
        const headBefore = new RingMemory(plan.ring).head.load();
        if (!killedAt(access, () => void consume(plan, 0))) break;
        deaths++;
        // The successor begins with the first record that was not released: a whole number of batches.
        const isReleased = new RingMemory(plan.ring).head.load() !== headBefore;
        const released = isReleased ? firstUnreleased(plan, written) : 0;
        assert.equal(released + consume(plan, released), written);
      }
      assert.ok(deaths > 10, `${deaths} deaths: the test is too weak`);
    });
  }
});

/** The number that the first record after the head carries; all of them when there is none. */
function firstUnreleased(plan: StressPlan, written: number): number {
  const successor = new RingConsumer(new RingMemory(plan.ring));
  return successor.peek() ? (successor.words[successor.offset >> 2] ?? Number.NaN) : written;
}
