/** The suites: tables of cases. */
import type { BenchCase } from './case.ts';
import type { SuiteName } from './names.ts';
import { GROWTH_CASES } from './suites/growth.ts';
import { LATENCY_CASES } from './suites/latency.ts';
import { MEMORY_CASES } from './suites/memory.ts';
import { MICRO_CASES } from './suites/micro.ts';
import { READERS_CASES } from './suites/readers.ts';
import { SYNC_CASES } from './suites/sync.ts';
import { WATCH_CASES } from './suites/watch.ts';

export const SUITE_CASES: Readonly<Record<SuiteName, readonly BenchCase[]>> = {
  watch: WATCH_CASES,
  sync: SYNC_CASES,
  latency: LATENCY_CASES,
  memory: MEMORY_CASES,
  growth: GROWTH_CASES,
  readers: READERS_CASES,
  micro: MICRO_CASES,
};
