/** Tests of a ring between real threads. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { RingConsumer, RingMemory, allocateRing } from '../../../../src/shared/ring/ring.ts';
import { allocateWords } from '../../../../src/shared/ring/word.ts';
import { checkStressRecord } from './stress-records.ts';
import type { StressPlan, StressReport, StressTask } from './stress-records.ts';
import { HANG_MS } from '../../../kit/hang.ts';

export interface StressOptions extends Omit<StressPlan, 'ring' | 'bells' | 'parkTimeoutMs'> {
  readonly capacity: number;
  readonly startPosition: number;
}

interface StressResult {
  readonly producer: StressReport;
  readonly consumer: StressReport;
}

export function planOf({ capacity, startPosition, ...rest }: StressOptions): StressPlan {
  const ring = allocateRing(capacity, startPosition);
  // A park that takes as long with work present missed its wake-up.
  return { ...rest, ring, bells: allocateWords(2 * BELL_LINES), parkTimeoutMs: HANG_MS };
}

function start(task: StressTask): { readonly worker: Worker; readonly report: Promise<StressReport> } {
  // The compiled entry is beside this compiled file.
  const worker = new Worker(new URL('./stress-thread.js', import.meta.url), { workerData: task });
  return { worker, report: once(worker, 'message').then(([report]) => report as StressReport) };
}

/**
 * Declares the tests of one load.
 *
 * @param parksMin fewer parks of both threads make the test too weak
 */
export function stressTests(load: string, options: StressOptions, parksMin = 0): void {
  describe(`with ${load}, every record arrives complete and in order, and no wake-up is lost`, () => {
    for (const [title, run] of [
      ['at a consumer thread that blocks', stressThreads],
      ['at a thread with an event loop that waits with parkAsync', stressEventLoop],
    ] as const) {
      test(title, async (t) => {
        const { producer, consumer } = await run(options);
        t.diagnostic(
          `${consumer.records} records, parks: producer ${producer.parks}, consumer ${consumer.parks}`,
        );
        assert.equal(consumer.records, options.recordCount);
        assert.equal(consumer.bytes, producer.bytes);
        assert.equal(consumer.lostWakeUps, 0, 'the consumer slept beside work');
        assert.equal(producer.lostWakeUps, 0, 'the producer slept beside room');
        assert.ok(producer.parks + consumer.parks >= parksMin, 'the threads hardly ever parked');
      });
    }
  });
}

/** Runs a producer thread and a consumer thread, both of which block while they wait. */
async function stressThreads(options: StressOptions): Promise<StressResult> {
  const plan = planOf(options);
  const consuming = start({ role: 'consumer', plan });
  const producing = start({ role: 'producer', plan });
  try {
    const [consumer, producer] = await Promise.all([consuming.report, producing.report]);
    return { producer, consumer };
  } finally {
    await Promise.all([consuming.worker.terminate(), producing.worker.terminate()]);
  }
}

/** Runs a producer thread; the consumer is this thread, which has an event loop and waits with `parkAsync`. */
async function stressEventLoop(options: StressOptions): Promise<StressResult> {
  const plan = planOf(options);
  const producing = start({ role: 'producer', plan });
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
