/** The price of metrics: a watch at full rate beside the same with scrapes, and the duration of a scrape. */
import type { BenchCase } from '../case.ts';
import { POD_BYTES, each, still } from './common.ts';

const INFORMERS = 200;
const OBJECTS = 100;

export const METRICS_CASES: readonly BenchCase[] = [
  {
    suite: 'metrics',
    name: 'pods',
    tier: 'default',
    // More than any machine reads in the time of the case.
    source: { pods: 10_000, objectBytes: POD_BYTES, events: 100_000_000 },
    task: { case: 'metrics', handler: 'key' },
    clients: each(['kubeloom'], 0),
    goals: [{ unit: 'ratio', figure: 'a scrape a second/events/s', relation: 'at least', value: 0.99 }],
  },
  {
    suite: 'metrics',
    name: `${INFORMERS} informers`,
    tier: 'default',
    source: { ...still(OBJECTS), resource: 'widgets' },
    task: { case: 'metrics', handler: 'key', informers: INFORMERS },
    clients: each(['kubeloom'], 0),
  },
];
