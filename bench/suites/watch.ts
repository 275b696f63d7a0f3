/** Watch throughput: changes of 10,000 objects as fast as the client takes them. */
import type { BenchCase } from '../case.ts';
import type { Handler } from '../task.ts';
import { HANDLERS, POD_BYTES } from './common.ts';

const SOURCE = {
  pods: 10_000,
  objectBytes: POD_BYTES,
  events: 1_000_000,
  // Everybody is done with the list when the first event comes.
  quietMs: 500,
};

/** Two or three seconds for each: who parses everything is given less. */
const CLIENT_NODE = { 'client-node': 80_000 } as const;
const COMPILED = { 'client-go': 80_000, 'kube-rs': 80_000 } as const;
const OTHER_JAVASCRIPT = { 'client-node-2': 80_000, 'kubernetes-fluent-client': 40_000 } as const;
const OWN: Readonly<Record<Handler, number>> = { key: 600_000, metadata: 400_000, object: 120_000 };
const LIMIT = { limit: 800_000 } as const;
/** What peers do for the metadata is what they do for the key: everything is parsed. */
const BY_HANDLER: Readonly<Record<Handler, BenchCase['clients']>> = {
  key: { ...LIMIT, ...CLIENT_NODE, ...COMPILED, ...OTHER_JAVASCRIPT },
  metadata: { ...LIMIT, ...CLIENT_NODE },
  object: { ...LIMIT, ...CLIENT_NODE, ...COMPILED },
};

type Extra = Pick<BenchCase, 'clients'> & Partial<Omit<BenchCase, 'task'>> & Partial<BenchCase['task']>;

/** Who has which: whatever is not said is as in the default rows. */
function watch(name: string, handler: Handler, extra: Extra): BenchCase {
  const { tier = 'standard', source = SOURCE, clients, ...task } = extra;
  const own = { kubeloom: OWN[handler], ...clients };
  return { suite: 'watch', name, tier, source, task: { ...task, case: 'watch', handler }, clients: own };
}

const defaults = [
  ...HANDLERS.map((handler) => watch('pods', handler, { tier: 'default', clients: BY_HANDLER[handler] })),
  watch('pods, managedFields dropped', 'object', {
    tier: 'default',
    drop: true,
    clients: { ...LIMIT, ...CLIENT_NODE },
  }),
];

const sizes = [1024, 10_240].flatMap((objectBytes) =>
  HANDLERS.map((handler) =>
    watch('pods', handler, {
      tier: handler === 'metadata' ? 'all' : 'standard',
      source: { ...SOURCE, objectBytes },
      clients: { ...LIMIT, ...CLIENT_NODE },
    }),
  ),
);

/** On their own and without a peer: they are compared with the default rows. */
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
  // The other rows are updates of status: metadata is not projected or parsed again.
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

/** Every combination, beside the limit of its wire. */
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
