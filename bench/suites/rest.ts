/** A cluster with little to do: the CPU time and the wake-ups of a synced informer at low rates, over TLS. */
import type { BenchCase, Goal } from '../case.ts';
import { POD_BYTES, atMost, each, paced, ratioAtLeast, still } from './common.ts';

const PODS = 2000;
const CLIENTS = ['kubeloom', 'kubeloom-lts', 'client-node', 'client-node-2'] as const;
/** Four seconds at the pace of a warm-up: every object ten times. */
const WARM_UP_EVENTS = 20_000;
const SECTION_MS = 20_000;
/** Packing is over. */
const SETTLE_MS = 5000;
/** V8 also finishes the collections of an almost unused heap: 18 s and 27 s after a warm-up. */
const IDLE_SETTLE_MS = 35_000;
/** Up to this rate V8 takes the heap for idle. */
const IDLE_RATE_MAX = 10;
/** Up to this rate informers stay on the calling thread. The warm-up is faster. */
const ONE_THREAD_RATE_MAX = 100;

/** The rates that clusters really have. */
const GOALS: ReadonlyMap<number, readonly Goal[]> = new Map([
  [0, [atMost(1, 'cpu-ms/s'), atMost(4, 'wake-ups/s')]],
  [10, [atMost(8, 'cpu-ms/s')]],
  [100, [ratioAtLeast(1, 'cpu-ms/s')]],
  [1000, [ratioAtLeast(1.7, 'cpu-ms/s')]],
  [5000, [ratioAtLeast(4, 'cpu-ms/s')]],
  [10_000, [ratioAtLeast(2.4, 'cpu-ms/s')]],
]);

/** A group that shares 128 partitions on Leases: a member reads 25 renewals a second. */
const GROUP: BenchCase = {
  suite: 'rest',
  name: '50 members, 128 partitions',
  tier: 'default',
  source: still(1),
  task: { case: 'partitions', handler: 'key', members: 50, settleMs: IDLE_SETTLE_MS, cellMs: SECTION_MS },
  clients: each(['kubeloom'], 0),
  goals: [atMost(20, 'cpu-ms/s')],
};

const WATCHED: readonly BenchCase[] = [...GOALS].map(([rate, goals]) => ({
  suite: 'rest',
  name: rate === 0 ? 'no events' : `${rate.toLocaleString('en-US')} events/s`,
  tier: 'default',
  source: paced(PODS, rate, WARM_UP_EVENTS),
  task: {
    case: 'rest',
    handler: 'key',
    warmUpEvents: WARM_UP_EVENTS,
    settleMs: rate > IDLE_RATE_MAX ? SETTLE_MS : IDLE_SETTLE_MS,
    cellMs: SECTION_MS,
    ...(rate <= ONE_THREAD_RATE_MAX ? { shards: 0 } : {}),
  },
  clients: each(CLIENTS, 0),
  goals,
}));

const INFORMERS = 20;
const INFORMER_RATE = 50;
const INFORMER_PODS = PODS / INFORMERS;

/**
 * A controller of many kinds: the same events as 1,000 a second of a single kind, over a connection for each informer.
 */
const MANY: BenchCase = {
  suite: 'rest',
  name: `${INFORMERS} informers, ${INFORMER_RATE} events/s each`,
  tier: 'default',
  source: {
    ...paced(INFORMER_PODS, INFORMER_RATE, WARM_UP_EVENTS / INFORMERS),
    resource: 'widgets',
    // Each connection carries separate events.
    roundBytesMax: INFORMER_PODS * POD_BYTES,
  },
  task: {
    case: 'rest',
    handler: 'key',
    informers: INFORMERS,
    warmUpEvents: WARM_UP_EVENTS,
    settleMs: SETTLE_MS,
    cellMs: SECTION_MS,
  },
  clients: each(CLIENTS, 0),
  goals: [ratioAtLeast(3, 'cpu-ms/s')],
};

export const REST_CASES: readonly BenchCase[] = [...WATCHED, MANY, GROUP];
