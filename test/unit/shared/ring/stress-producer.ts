/**
 * Thread entry of the stress tests: writes all records of the plan and reports. Parks on the second bell
 * when the ring is full, and now and then until it is empty.
 */
import { parentPort, workerData } from 'node:worker_threads';

import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { RingMemory, RingProducer } from '../../../../src/shared/ring/ring.ts';
import { mixed, payloadSize, writeStressRecord } from './stress-records.ts';
import type { StressPlan, StressReport } from './stress-records.ts';

const PUBLISH_EVERY_MAX = 32;

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

parentPort?.postMessage(produce(workerData as StressPlan));
