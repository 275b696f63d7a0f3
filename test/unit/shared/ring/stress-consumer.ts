/**
 * Thread entry of the stress tests: reads and checks all records of the plan and reports. Parks on the
 * first bell when the ring is empty.
 */
import { parentPort, workerData } from 'node:worker_threads';

import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { RingConsumer, RingMemory } from '../../../../src/shared/ring/ring.ts';
import { checkStressRecord, mixed } from './stress-records.ts';
import type { StressPlan, StressReport } from './stress-records.ts';

const RELEASE_EVERY_MAX = 16;

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

parentPort?.postMessage(consume(workerData as StressPlan));
