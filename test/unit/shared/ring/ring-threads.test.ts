/**
 * Smoke test with 100,000 records between real threads. The model (bell-model.test.ts) and the twin
 * (ring-interleavings.test.ts) prove the interleavings; ring-threads.slow.ts runs longer.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { stressEventLoop, stressThreads } from './stress.ts';
import type { StressOptions, StressResult } from './stress.ts';

const OPTIONS: StressOptions = {
  recordCount: 100_000,
  capacity: 4096,
  // Positions pass 2^32 after a few hundred records.
  startPosition: 2 ** 32 - 65_536,
  payloadBytesMax: 120,
  drainEvery: 64,
  seed: 20_251_120,
};

function assertComplete({ producer, consumer }: StressResult): void {
  assert.equal(consumer.records, OPTIONS.recordCount);
  assert.equal(consumer.bytes, producer.bytes);
  assert.equal(consumer.lostWakeUps, 0, 'the consumer slept beside work');
  assert.equal(producer.lostWakeUps, 0, 'the producer slept beside room');
  assert.ok(producer.parks + consumer.parks > 100, 'the threads hardly ever parked: the test is too weak');
}

describe('100,000 records from a producer thread arrive complete and in order, no wake-up is lost', () => {
  test('at a consumer thread that blocks', async () => {
    assertComplete(await stressThreads(OPTIONS));
  });

  test('at a thread with an event loop that waits with parkAsync', async () => {
    assertComplete(await stressEventLoop(OPTIONS));
  });
});
