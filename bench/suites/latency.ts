/** From the wire to the handler: open loop, one event a write, at a rate that does not depend on the client. */
import type { BenchCase } from '../case.ts';
import { POD_BYTES, each } from './common.ts';

const SECONDS = 7;
const WARM_UP_SECONDS = 2;
const CLIENTS = ['kubeloom', 'limit', 'client-node', 'client-go', 'kube-rs'] as const;
const PAIR = ['kubeloom', 'client-node'] as const;

export const LATENCY_CASES: readonly BenchCase[] = [10_000, 1000, 20_000].map((rate) => ({
  suite: 'latency',
  name: `${rate.toLocaleString('en-US')} events/s`,
  tier: rate === 10_000 ? 'default' : 'standard',
  source: {
    pods: 10_000,
    objectBytes: POD_BYTES,
    events: rate * SECONDS,
    ratePerSecond: rate,
    chunkPerEvent: true,
  },
  task: { case: 'latency', handler: 'key', warmUpEvents: rate * WARM_UP_SECONDS },
  clients: each(rate === 10_000 ? CLIENTS : PAIR, rate * SECONDS),
}));
