/**
 * Watches: throughput of changes of 10,000 objects, the cost of a large cache, and latency from the wire to the handler.
 */
import type { BenchCase, Goal } from '../case.ts';
import { HANDLERS, POD_BYTES, SMALL_BYTES, atMost, each, ratioAtLeast } from './common.ts';
import type { WatchHandler } from './common.ts';

export const SOURCE = {
  pods: 10_000,
  objectBytes: POD_BYTES,
  events: 1_000_000,
  // Every client has handled the list before the first event arrives.
  quietMs: 500,
};

/** Two or three seconds for each client: those that parse every object get fewer events. */
const CLIENT_NODE = { 'client-node': 80_000 } as const;
const COMPILED = { 'client-go': 80_000, 'kube-rs': 80_000 } as const;
const PROTOBUF = { 'client-go-protobuf': 80_000 } as const;
const OWN: Readonly<Record<WatchHandler, number>> = {
  key: 600_000,
  metadata: 400_000,
  fields: 200_000,
  object: 120_000,
};
const LIMIT = { limit: 800_000 } as const;
/** In turn on the LTS. */
const onLts = (handler: WatchHandler): BenchCase['clients'] => ({
  'kubeloom-lts': OWN[handler],
  'client-node-2': 80_000,
  'kubernetes-fluent-client': 40_000,
});
/** Compiled peers do the same work for the metadata as for the key: they parse everything. */
const BY_HANDLER: Readonly<Record<WatchHandler, BenchCase['clients']>> = {
  key: { ...LIMIT, ...CLIENT_NODE, ...onLts('key'), ...COMPILED, ...PROTOBUF },
  metadata: { ...LIMIT, ...CLIENT_NODE, ...onLts('metadata') },
  fields: { ...LIMIT, ...CLIENT_NODE, ...onLts('fields'), ...COMPILED, ...PROTOBUF },
  object: { ...LIMIT, ...CLIENT_NODE, ...onLts('object') },
};

const GOALS: Readonly<Record<WatchHandler, readonly Goal[]>> = {
  key: [
    ratioAtLeast(12, 'events/s'),
    atMost(5, 'cpu-us/event'),
    atMost(1, 'cpu-us/event', 'main-thread'),
    ratioAtLeast(1, 'events/s', 'client-go-protobuf'),
  ],
  metadata: [ratioAtLeast(9, 'events/s')],
  fields: [
    ratioAtLeast(3.3, 'events/s'),
    ratioAtLeast(2.5, 'cpu-us/event'),
    ratioAtLeast(1.8, 'events/s', 'client-go-protobuf'),
  ],
  object: [],
};

type Extra = Pick<BenchCase, 'clients'> & Partial<Omit<BenchCase, 'task'>> & Partial<BenchCase['task']>;

/** A row; without other settings it is as the default rows. */
function watch(name: string, handler: WatchHandler, extra: Extra): BenchCase {
  const { tier = 'standard', source = SOURCE, clients, goals = [], ...task } = extra;
  const own = { kubeloom: OWN[handler], ...clients };
  return {
    suite: 'watch',
    name,
    tier,
    source,
    task: { ...task, case: 'watch', handler },
    clients: own,
    goals,
  };
}

const defaults = [
  ...HANDLERS.map((handler) =>
    watch('pods', handler, { tier: 'default', clients: BY_HANDLER[handler], goals: GOALS[handler] }),
  ),
  watch('pods', 'fields', {
    tier: 'default',
    source: { ...SOURCE, objectBytes: SMALL_BYTES },
    clients: { ...LIMIT, ...CLIENT_NODE, ...onLts('fields') },
    goals: [ratioAtLeast(1.2, 'events/s'), ratioAtLeast(0.9, 'cpu-us/event')],
  }),
  watch('pods, managedFields dropped', 'object', {
    tier: 'default',
    drop: true,
    clients: { ...LIMIT, ...CLIENT_NODE },
  }),
];

const sizes = [SMALL_BYTES, 10_240].flatMap((objectBytes) =>
  HANDLERS.filter((handler) => objectBytes !== SMALL_BYTES || handler !== 'fields').map((handler) =>
    watch('pods', handler, {
      tier: handler === 'metadata' ? 'all' : 'standard',
      source: { ...SOURCE, objectBytes },
      clients: { ...LIMIT, ...CLIENT_NODE },
    }),
  ),
);

/** Rows without a peer: they are compared with the default rows. */
const settings = [
  ...[0, 2, 4].flatMap((shards) =>
    (['key', 'object'] as const).map((handler) =>
      watch(`pods, ${shards} shards`, handler, { shards, clients: {} }),
    ),
  ),
  ...(['key', 'object'] as const).map((handler) =>
    watch('pods, msgpack', handler, { codec: 'msgpack', clients: {} }),
  ),
  watch('pods, msgpack, managedFields dropped', 'object', { codec: 'msgpack', drop: true, clients: {} }),
  watch('pods, managedFields dropped', 'key', { drop: true, clients: {} }),
  // The other rows are updates of status: metadata is not extracted or parsed again.
  ...(['key', 'metadata'] as const).map((handler) =>
    watch('pods, an annotation changes', handler, {
      source: { ...SOURCE, changes: 'metadata' },
      clients: CLIENT_NODE,
    }),
  ),
  watch('pods without managedFields', 'object', {
    source: { ...SOURCE, managedFields: false },
    clients: { ...LIMIT, ...CLIENT_NODE },
  }),
  ...[10, 100].map((handlers) =>
    watch(`pods, ${handlers} handlers`, 'key', {
      handlers,
      clients: { kubeloom: 3_000_000 / (handlers * 2), ...(handlers === 10 ? CLIENT_NODE : {}) },
    }),
  ),
];

const wires = (['key', 'object'] as const).flatMap((handler) => [
  watch('pods, TLS', handler, { source: { ...SOURCE, tls: true }, clients: { ...LIMIT, ...CLIENT_NODE } }),
  watch('widgets', handler, {
    source: { ...SOURCE, resource: 'widgets' },
    tier: handler === 'key' ? 'standard' : 'all',
    clients: { ...LIMIT, ...CLIENT_NODE },
  }),
  watch('pods, a chunk an event', handler, {
    tier: handler === 'key' ? 'standard' : 'all',
    source: { ...SOURCE, chunkPerEvent: true },
    clients: { ...LIMIT, ...CLIENT_NODE, ...COMPILED },
  }),
]);

/** Every combination, beside the limit of the wire. */
const grid = [false, true].flatMap((tls) =>
  [1024, POD_BYTES, 10_240].flatMap((objectBytes) =>
    [0, 1, 2, 4].flatMap((shards) =>
      (['json', 'msgpack'] as const).flatMap((codec) =>
        [false, true].flatMap((drop) =>
          HANDLERS.map((handler) => {
            const words = [tls ? 'TLS' : 'plain', `${shards} shards`, codec, drop ? 'dropped' : 'kept'];
            const source = { ...SOURCE, objectBytes, tls };
            const clients = shards === 1 ? LIMIT : {};
            const options = { tier: 'all', source, shards, codec, drop, clients } as const;
            return watch(`grid: ${words.join(', ')}`, handler, options);
          }),
        ),
      ),
    ),
  ),
);

export const WATCH_CASES: readonly BenchCase[] = [...defaults, ...settings, ...sizes, ...wires, ...grid];

const GROWTH_EVENTS = 400_000;
const GROWTH_PEER_EVENTS = 60_000;
/** Large enough that every object changes before any changes again. */
const ROUND_BYTES_MAX = 2 ** 31;

/** A large cache may slow changes down by less than 30 %, in rate and in CPU time. */
const GROWTH_GOALS = (['events/s', 'cpu-us/event'] as const).map((unit) =>
  ratioAtLeast(0.7, unit, { caseName: '1,000 cached' }),
);

/** The same changes on 1,000 … 1,000,000 cached objects, all of which change. */
export const GROWTH_CASES: readonly BenchCase[] = [1000, 1_000_000, 10_000, 100_000].map((pods) => ({
  suite: 'growth',
  name: `${pods.toLocaleString('en-US')} cached`,
  tier: pods === 1000 || pods === 1_000_000 ? 'default' : 'standard',
  source: { pods, objectBytes: SMALL_BYTES, events: 1_000_000, roundBytesMax: ROUND_BYTES_MAX },
  task: { case: 'watch', handler: 'key' },
  clients: { kubeloom: GROWTH_EVENTS, ...(pods > 100_000 ? {} : { 'client-node': GROWTH_PEER_EVENTS }) },
  goals: pods === 1_000_000 ? GROWTH_GOALS : [],
}));

const LATENCY_SECONDS = 7;
const WARM_UP_SECONDS = 2;
const LATENCY_CLIENTS = [
  'kubeloom',
  'limit',
  'client-node',
  'kubeloom-lts',
  'client-node-2',
  'client-go',
  'kube-rs',
] as const;
const LATENCY_PAIR = ['kubeloom', 'client-node'] as const;

/** Open loop, an event a write, at a rate that does not depend on the client. */
export const LATENCY_CASES: readonly BenchCase[] = [10_000, 1000, 20_000].map((rate) => ({
  suite: 'latency',
  name: `${rate.toLocaleString('en-US')} events/s`,
  tier: rate === 10_000 ? 'default' : 'standard',
  source: {
    pods: 10_000,
    objectBytes: POD_BYTES,
    events: rate * LATENCY_SECONDS,
    ratePerSecond: rate,
    // The time at which an event was sent.
    changes: 'metadata',
    chunkPerEvent: true,
  },
  task: { case: 'latency', handler: 'key', warmUpEvents: rate * WARM_UP_SECONDS },
  clients: each(rate === 10_000 ? LATENCY_CLIENTS : LATENCY_PAIR, rate * LATENCY_SECONDS),
}));
