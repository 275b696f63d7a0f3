/** What a large cache costs: the same changes on 1,000 … 1,000,000 cached objects, all of which change. */
import type { BenchCase } from '../case.ts';
import { SMALL_BYTES } from './common.ts';

const EVENTS = 400_000;
const PEER_EVENTS = 60_000;
/** Enough for every object to be touched before any is touched again. */
const ROUND_BYTES_MAX = 2 ** 31;

export const GROWTH_CASES: readonly BenchCase[] = [1000, 1_000_000, 10_000, 100_000].map((pods) => ({
  suite: 'growth',
  name: `${pods.toLocaleString('en-US')} cached`,
  tier: pods === 1000 || pods === 1_000_000 ? 'default' : 'standard',
  source: { pods, objectBytes: SMALL_BYTES, events: 1_000_000, roundBytesMax: ROUND_BYTES_MAX },
  task: { case: 'watch', handler: 'key' },
  clients: { kubeloom: EVENTS, ...(pods > 100_000 ? {} : { 'client-node': PEER_EVENTS }) },
}));
