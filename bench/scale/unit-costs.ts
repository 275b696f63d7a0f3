/**
 * Measured costs of one event and one object, in a member and in an apiserver: each with the place that has the
 * measurement. Pods of 5 KB over TLS, Node 20, cores of 2 × AMD EPYC (KVM). docs/scale.md prints this table.
 */
export interface UnitCost {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly source: string;
}

function cost(name: string, value: number, unit: string, source: string): UnitCost {
  return { name, value, unit, source };
}

const RUNS = 'runs 1, 2';

export const UNIT_COSTS = {
  objectBytes: cost('an object on the wire', 5120, 'bytes', 'the benchmarks’ pod'),
  eventKeyUs: cost('an event, key handler, TLS, full rate: all threads', 9.1, 'µs', `${RUNS}: pods, TLS`),
  eventObjectUs: cost('the same, whole objects', 35.2, 'µs', `${RUNS}: pods, TLS, object`),
  mainObjectUs: cost('of that the main thread', 23.3, 'µs', `${RUNS}: pods, TLS, object: main-thread`),
  readUs: cost('reading an event and its key in the reflector', 2.8, 'µs', 'decision 0010'),
  tlsUs: cost('TLS of an event, in the reflector', 2.7, 'µs', `${RUNS}: pods, TLS, less pods`),
  listUs: cost('listing an object: time', 12, 'µs', `${RUNS}: sync of 60,000, less its start, with TLS`),
  cachedBytes: cost('a cached object, packed, of 1,000 owners: resident', 1600, 'bytes', 'measured'),
  listedBytes: cost('a listed object before it is packed: resident at most', 5720, 'bytes', 'measured'),
  processBytes: cost('a process after a list, without its objects: resident', 206e6, 'bytes', 'measured'),
  matchNs: cost('apiserver: a shard selector on one object', 121, 'ns', 'measured'),
  watchNs: cost('apiserver: an event through one watch with a shard selector', 390, 'ns', 'measured'),
  encodeUs: cost('apiserver: an event encoded as JSON', 16.4, 'µs', 'measured'),
  goObjectBytes: cost('apiserver: a pod in memory, at least', 9962, 'bytes', `${RUNS}: client-go, heap`),
} as const satisfies Record<string, UnitCost>;

/** CPU time of a process, ms/s, at changes/s that it receives: few events are a wake-up each. Decision 0024, after, medians. */
export const CPU_AT_RATES: readonly (readonly [changesPerSecond: number, cpuMs: number])[] = [
  [0, 0.5],
  [10, 6.4],
  [100, 42],
  [1000, 98.5],
  [5000, 283],
];
