/** The suites: tables of cases. */
import type { BenchCase } from './case.ts';
import type { SuiteName } from './names.ts';
import { POD_BYTES, still } from './suites/common.ts';
import { MEMORY_CASES } from './suites/memory.ts';
import { METRICS_CASES } from './suites/metrics.ts';
import { PROGRAMS_CASES } from './suites/programs.ts';
import { READERS_CASES } from './suites/readers.ts';
import { REST_CASES } from './suites/rest.ts';
import { SMALL_CASES } from './suites/small.ts';
import { SIZES_CASES } from './suites/sizes.ts';
import { START_CASES } from './suites/start.ts';
import { SYNC_CASES } from './suites/sync.ts';
import { THREADS_CASES } from './suites/threads.ts';
import { GROWTH_CASES, LATENCY_CASES, WATCH_CASES } from './suites/watch.ts';

/** Single parts, in operations a second (bench/peers/micro.ts and its imports). */
const MICRO_CASES: readonly BenchCase[] = [
  {
    suite: 'micro',
    name: 'parts',
    tier: 'default',
    source: { ...still(1), objectBytes: POD_BYTES },
    task: { case: 'micro', handler: 'key' },
    clients: { kubeloom: 0 },
  },
];

export const SUITE_CASES: Readonly<Record<SuiteName, readonly BenchCase[]>> = {
  programs: PROGRAMS_CASES,
  watch: WATCH_CASES,
  sizes: SIZES_CASES,
  sync: SYNC_CASES,
  latency: LATENCY_CASES,
  memory: MEMORY_CASES,
  growth: GROWTH_CASES,
  readers: READERS_CASES,
  micro: MICRO_CASES,
  metrics: METRICS_CASES,
  rest: REST_CASES,
  start: START_CASES,
  small: SMALL_CASES,
  threads: THREADS_CASES,
};
