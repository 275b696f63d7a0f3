/**
 * Thread entry of the stress tests: one end of a ring. The producer writes all records of the plan, and parks on the second
 * bell when the ring is full, and now and then until it is empty. The consumer reads and checks them, and parks on the first
 * bell when the ring is empty.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { RingConsumer, RingMemory, RingProducer } from '../../../../src/shared/ring/ring.ts';
import { checkStressRecord, mixed, payloadSize, writeStressRecord } from './stress-records.ts';
import type { StressPlan, StressReport, StressTask } from './stress-records.ts';

const PUBLISH_EVERY_MAX = 32;
const RELEASE_EVERY_MAX = 16;

function produce(plan: StressPlan): StressReport {
  const memory = new RingMemory(plan.ring);
  const producer = new RingProducer(memory);
  const isDrained = (): boolean => memory.head.load() === memory.tail.load();
  const words = new Int32Array(plan.bells);
  const dataBell = new Bell(words, 0);
  const spaceBell = new Bell(words, BELL_LINES);
  let parks = 0;
  let lostWakeUps = 0;
  let bytes = 0;

  const waitFor = (hasWork: () => boolean): void => {
    if (producer.publish()) dataBell.ring();
    while (!hasWork()) {
      parks++;
      if (!spaceBell.park(hasWork, plan.parkTimeoutMs) && hasWork()) lostWakeUps++;
    }
  };

  for (let n = 0; n < plan.recordCount; n++) {
    const size = payloadSize(n, plan);
    while (!writeStressRecord(producer, n, plan)) waitFor(() => producer.canClaim(size));
    bytes += size;
    const chance = mixed(n, plan.seed + 1);
    if (chance % PUBLISH_EVERY_MAX === 0 && producer.publish()) dataBell.ring();
    if (chance % plan.drainEvery === 0) waitFor(isDrained);
  }
  waitFor(isDrained);
  return { records: plan.recordCount, bytes, parks, lostWakeUps };
}

function consume(plan: StressPlan): StressReport {
  const consumer = new RingConsumer(new RingMemory(plan.ring));
  const words = new Int32Array(plan.bells);
  const dataBell = new Bell(words, 0);
  const spaceBell = new Bell(words, BELL_LINES);
  const hasWork = (): boolean => consumer.hasRecord;
  let records = 0;
  let bytes = 0;
  let parks = 0;
  let lostWakeUps = 0;
  while (records < plan.recordCount) {
    while (consumer.peek()) {
      bytes += checkStressRecord(consumer, records, plan);
      consumer.advance();
      records++;
      if (mixed(records, plan.seed + 2) % RELEASE_EVERY_MAX === 0 && consumer.release()) spaceBell.ring();
    }
    if (consumer.release()) spaceBell.ring();
    if (records === plan.recordCount) break;
    parks++;
    if (!dataBell.park(hasWork, plan.parkTimeoutMs) && hasWork()) lostWakeUps++;
  }
  return { records, bytes, parks, lostWakeUps };
}

const { role, plan } = workerData as StressTask;
parentPort?.postMessage(role === 'producer' ? produce(plan) : consume(plan));
