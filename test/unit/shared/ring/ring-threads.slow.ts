/**
 * Tests a ring between real threads for some seconds: full most of the time, empty most of the time, a wake-up
 * for every few records, large records, positions that pass 2^31 and 2^32. Run by `npm run suite -- slow`.
 */
import { stressTests } from './stress.ts';
import type { StressOptions } from './stress.ts';

const BASE: StressOptions = {
  recordCount: 300_000,
  capacity: 2 ** 16,
  startPosition: 2 ** 31 - 2 ** 20,
  payloadBytesMax: 248,
  drainEvery: 4096,
  seed: 1,
};

const LOADS: readonly [string, StressOptions][] = [
  ['a ring of 1 KiB that is full all the time', { ...BASE, capacity: 1024, payloadBytesMax: 120, seed: 2 }],
  ['a drain every few records', { ...BASE, recordCount: 60_000, drainEvery: 4, seed: 3 }],
  ['records of up to 8 KB', { ...BASE, recordCount: 30_000, payloadBytesMax: 8184, seed: 4 }],
  ['positions that pass 2^32', { ...BASE, startPosition: 2 ** 32 - 2 ** 20, seed: 5 }],
];

for (const [load, options] of LOADS) stressTests(load, options);
