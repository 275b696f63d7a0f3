/** Initial sync, and the other long deliveries: relist, resync, a handler that joins late. */
import type { BenchCase } from '../case.ts';
import type { Listing } from '../task.ts';
import { SMALL_BYTES, atMost, each, ratioAtLeast, still } from './common.ts';

const ALL = ['kubeloom', 'limit', 'client-node', 'client-go', 'kube-rs'] as const;
/** In turn on the LTS. */
const LTS = ['kubeloom-lts', 'client-node-2', 'kubernetes-fluent-client'] as const;
const OWN = each(['kubeloom'], 0);
const MILLION = still(1_000_000, SMALL_BYTES);
const RELIST_CHURN = 2000;

function sync(name: string, source: BenchCase['source'], extra: Partial<BenchCase> = {}): BenchCase {
  const task = { case: 'sync', handler: 'key' } as const;
  return { suite: 'sync', name, tier: 'default', source, task, clients: each(ALL, 0), ...extra };
}

const widgets = (count: number): BenchCase['source'] => ({ ...still(count), resource: 'widgets' });

function listed(name: string, source: BenchCase['source'], tier: BenchCase['tier']): BenchCase[] {
  return (['list', 'pages', 'watch-list'] satisfies Listing[]).map((listing) => {
    const task = { case: 'sync', handler: 'key', listing } as const;
    return sync(`${name}, ${listing}`, source, { tier, task, clients: OWN });
  });
}

function delivery(
  kind: 'late-handler' | 'resync',
  name: string,
  source: BenchCase['source'],
  tier: BenchCase['tier'],
): BenchCase {
  return sync(name, source, { tier, task: { case: kind, handler: 'key' }, clients: OWN });
}

export const SYNC_CASES: readonly BenchCase[] = [
  sync('60,000 pods', still(60_000), {
    clients: each([...ALL, ...LTS], 0),
    goals: [
      ratioAtLeast(8, 'ms'),
      atMost(2, 'ms', 'loop-delay-own-p99'),
      atMost(10, 'ms', 'loop-delay-own-max'),
    ],
  }),
  ...listed('60,000 pods', still(60_000), 'standard'),
  sync('110,000 pods', still(110_000)),
  ...listed('110,000 pods', still(110_000), 'all'),
  delivery('late-handler', 'late handler, 110,000 pods', still(110_000), 'default'),
  delivery('resync', 'resync, 110,000 pods', still(110_000), 'default'),
  sync('1,000,000 small pods', MILLION, {
    clients: OWN,
    goals: [atMost(20, 'ms', 'loop-delay-own-max')],
  }),
  ...listed('1,000,000 small pods', MILLION, 'all'),
  delivery('late-handler', 'late handler, 1,000,000 small pods', MILLION, 'standard'),
  delivery('resync', 'resync, 1,000,000 small pods', MILLION, 'standard'),
  sync('1,000,000 small pods, peers', MILLION, {
    tier: 'all',
    clients: each(['client-node', 'client-go', 'kube-rs'], 0),
  }),
  sync('10,000 pods', still(10_000), {
    tier: 'standard',
    clients: each([...ALL, ...LTS], 0),
  }),
  ...listed('10,000 pods', still(10_000), 'all'),
  sync('60,000 widgets', widgets(60_000), {
    tier: 'standard',
    clients: each(['kubeloom', 'limit', 'client-node'], 0),
  }),
  sync('200 informers of 200 widgets each', widgets(200), {
    tier: 'standard',
    task: { case: 'sync', handler: 'key', informers: 200 },
    clients: each(['kubeloom', 'client-node'], 0),
  }),
  sync('relist of 20,000 pods under 2,000 changes a second', still(20_000), {
    churnPerSecond: RELIST_CHURN,
    task: { case: 'relist', handler: 'key' },
    clients: each(['kubeloom', 'client-node'], 0),
  }),
];
