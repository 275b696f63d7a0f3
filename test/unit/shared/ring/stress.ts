/** Runs the two ends of a ring on real threads and returns both reports. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { RingConsumer, RingMemory, allocateRing } from '../../../../src/shared/ring/ring.ts';
import { allocateWords } from '../../../../src/shared/ring/word.ts';
import { checkStressRecord } from './stress-records.ts';
import type { StressPlan, StressReport } from './stress-records.ts';

export interface StressOptions {
  readonly recordCount: number;
  readonly capacity: number;
  readonly startPosition: number;
  readonly payloadBytesMax: number;
  readonly drainEvery: number;
  readonly seed: number;
}

export interface StressResult {
  readonly producer: StressReport;
  readonly consumer: StressReport;
}

/** Far beyond any pause of the machine: a park that takes as long with work present missed its wake-up. */
const PARK_TIMEOUT_MS = 10_000;

function planOf(options: StressOptions): StressPlan {
  return {
    ring: allocateRing(options.capacity, options.startPosition),
    bells: allocateWords(2 * BELL_LINES),
    recordCount: options.recordCount,
    payloadBytesMax: options.payloadBytesMax,
    seed: options.seed,
    drainEvery: options.drainEvery,
    parkTimeoutMs: PARK_TIMEOUT_MS,
  };
}

interface Running {
  readonly worker: Worker;
  readonly report: Promise<StressReport>;
}

function start(entry: 'stress-producer' | 'stress-consumer', plan: StressPlan): Running {
  // The compiled entry is beside this compiled file.
  const worker = new Worker(new URL(`./${entry}.js`, import.meta.url), { workerData: plan });
  return { worker, report: once(worker, 'message').then(([report]) => report as StressReport) };
}

/** Runs a producer thread and a consumer thread, both of which block while they wait. */
export async function stressThreads(options: StressOptions): Promise<StressResult> {
  const plan = planOf(options);
  const consuming = start('stress-consumer', plan);
  const producing = start('stress-producer', plan);
  try {
    const [consumer, producer] = await Promise.all([consuming.report, producing.report]);
    return { producer, consumer };
  } finally {
    await Promise.all([consuming.worker.terminate(), producing.worker.terminate()]);
  }
}

/** Runs a producer thread; the consumer is this thread, which has an event loop and waits with `parkAsync`. */
export async function stressEventLoop(options: StressOptions): Promise<StressResult> {
  const plan = planOf(options);
  const producing = start('stress-producer', plan);
  try {
    const [consumer, producer] = await Promise.all([consumeOnEventLoop(plan), producing.report]);
    return { producer, consumer };
  } finally {
    await producing.worker.terminate();
  }
}

async function consumeOnEventLoop(plan: StressPlan): Promise<StressReport> {
  const consumer = new RingConsumer(new RingMemory(plan.ring));
  const words = new Int32Array(plan.bells);
  const dataBell = new Bell(words, 0);
  const spaceBell = new Bell(words, BELL_LINES);
  const hasWork = (): boolean => consumer.hasRecord;
  let records = 0;
  let bytes = 0;
  let parks = 0;
  let lostWakeUps = 0;
  // Detects a lost wake-up. The worker keeps the loop alive: waitAsync does not.
  let parkedAt = Number.POSITIVE_INFINITY;
  const heartbeat = setInterval(() => {
    if (performance.now() - parkedAt < plan.parkTimeoutMs || !hasWork()) return;
    lostWakeUps++;
    dataBell.ring();
  }, 1_000).unref();
  while (records < plan.recordCount) {
    while (consumer.peek()) {
      bytes += checkStressRecord(consumer, records++, plan);
      consumer.advance();
    }
    if (consumer.release()) spaceBell.ring();
    if (records === plan.recordCount) break;
    parks++;
    parkedAt = performance.now();
    await dataBell.parkAsync(hasWork);
    parkedAt = Number.POSITIVE_INFINITY;
  }
  clearInterval(heartbeat);
  return { records, bytes, parks, lostWakeUps };
}
