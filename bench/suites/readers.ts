/**
 * Reading while writing: client-go's `BenchmarkSharedIndexInformer` grid, a namespace and readers that list it again
 * and again. Then lists by label and scans of whole objects, cold and warm.
 */
import type { BenchCase } from '../case.ts';
import { POD_BYTES, each, still } from './common.ts';

const CLIENTS = ['kubeloom', 'client-node', 'client-go'] as const;
/** client-go's own numbers of readers. */
const READERS = [0, 1, 10, 20, 40, 80];
const CELL_MS = 500;

function grid(name: string, tier: BenchCase['tier'], podCounts: number[], readers: number[]): BenchCase {
  const task = { case: 'readers', handler: 'key', podCounts, readers, cellMs: CELL_MS } as const;
  // The grid needs no server; the pods are of the smallest size.
  return { suite: 'readers', name, tier, source: still(1), task, clients: each(CLIENTS, 0) };
}

function lists(pods: number, tier: BenchCase['tier']): BenchCase {
  return {
    suite: 'readers',
    name: `${pods.toLocaleString('en-US')} pods of ${POD_BYTES} bytes`,
    tier,
    source: still(pods),
    task: { case: 'readers', handler: 'object', podCounts: [], readers: [] },
    clients: each(CLIENTS, 0),
  };
}

export const READERS_CASES: readonly BenchCase[] = [
  grid('grid', 'default', [10_000], [0, 1, 10]),
  lists(100_000, 'standard'),
  grid('whole grid', 'all', [10_000, 20_000, 40_000, 80_000, 160_000], READERS),
  grid('large grid', 'standard', [160_000], [0, 1, 80]),
];
