/** Single parts, in operations a second (bench/peers/micro.ts and what it imports). */
import type { BenchCase } from '../case.ts';
import { POD_BYTES, still } from './common.ts';

export const MICRO_CASES: readonly BenchCase[] = [
  {
    suite: 'micro',
    name: 'parts',
    tier: 'default',
    source: { ...still(1), objectBytes: POD_BYTES },
    task: { case: 'micro', handler: 'key' },
    clients: { kubeloom: 0 },
  },
];
