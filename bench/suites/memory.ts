/**
 * The memory of an object: resident memory, heap and buffers, a while after the sync or after changes of
 * random objects, and the peak of resident memory.
 */
import type { BenchCase } from '../case.ts';
import { POD_BYTES, atMost, each, ratioAtLeast, still } from './common.ts';

const PODS = 110_000;
/** Share of the bytes received. */
const RESIDENT_SHARE_MAX = 1.4;
/** Share of the bytes received, for objects that are packed. */
const PACKED_SHARE_MAX = 0.9;
/** Changes every object three times, in a scattered order. */
const CHURN_EVENTS = 3 * PODS;
/** Memory is flat: what changes all the time takes as much as what never changed, but for the allocator and the collector. */
const FLAT = 0.85;
/** Packing begins 2 s after the last change and takes some seconds; every client gets the same time. */
const SETTLE_MS = 15_000;
const PEERS = ['client-go', 'kube-rs', 'client-node'] as const;

type Extra = Partial<Omit<BenchCase, 'task'>> & Pick<BenchCase['task'], 'codec' | 'drop'>;

function memory(name: string, { codec = 'json', drop = false, ...extra }: Extra): BenchCase {
  return {
    suite: 'memory',
    name,
    tier: 'default',
    source: still(PODS),
    clients: each(['kubeloom'], 0),
    ...extra,
    task: { case: 'memory', handler: 'key', codec, drop, settleMs: SETTLE_MS },
  };
}

export const MEMORY_CASES: readonly BenchCase[] = [
  memory('110,000 pods', {
    clients: each(['kubeloom', ...PEERS], 0),
    goals: [
      atMost(200, 'bytes', 'heap-per-object'),
      atMost(PACKED_SHARE_MAX * POD_BYTES, 'bytes', 'rss-per-object'),
      atMost(RESIDENT_SHARE_MAX * POD_BYTES, 'bytes', 'rss-max-per-object'),
    ],
  }),
  memory('110,000 pods, msgpack, managedFields dropped', { codec: 'msgpack', drop: true }),
  memory('110,000 pods, managedFields dropped', { tier: 'standard', drop: true }),
  memory('110,000 pods, churn', {
    source: { ...still(PODS), events: CHURN_EVENTS, roundBytesMax: 2 ** 30 },
    clients: each(['kubeloom'], CHURN_EVENTS),
    goals: [{ ...ratioAtLeast(FLAT, 'bytes', { caseName: '110,000 pods' }), figure: 'rss-max-per-object' }],
  }),
  memory('20,000 pods', {
    tier: 'standard',
    source: still(20_000),
    clients: each(['kubeloom', 'kubeloom-lts', 'client-node', 'client-node-2'], 0),
  }),
];
