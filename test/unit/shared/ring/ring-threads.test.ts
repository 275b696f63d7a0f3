/**
 * Smoke test of a ring between real threads. The model (bell-model.test.ts) and the schedules (ring-schedules.test.ts)
 * prove the interleavings; ring-threads.slow.ts runs longer.
 */
import { stressTests } from './stress.ts';

const OPTIONS = {
  recordCount: 100_000,
  capacity: 4096,
  // Positions pass 2^32 after a few hundred records.
  startPosition: 2 ** 32 - 65_536,
  payloadBytesMax: 120,
  drainEvery: 64,
  seed: 20_251_120,
};

stressTests('100,000 records in a small ring', OPTIONS, 100);
