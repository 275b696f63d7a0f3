/** A result of a load test that never ran: the same figures in every call, for tests of reports. */
import { seededRandom } from '../../../../src/base/random.ts';
import { BOUNDS_MS, LatencyCounts } from '../../../../src/tools/loadtest/histogram.ts';
import type {
  ChangeName,
  HistogramCounts,
  LatencyHistogram,
  LoadTestResult,
  PhaseResult,
  QuantileColumns,
  Series,
  ServerStage,
  ServerStages,
  WatcherResult,
  WriteCounts,
} from '../../../../src/tools/loadtest/result.ts';
import { readWorkload } from '../../../../src/tools/loadtest/workload/read-workload.ts';
import type { LatencyStep } from '../../../../src/tools/loadtest/workload/workload.ts';

const SECONDS = 90;
const WRITES: WriteCounts = {
  created: 11_502,
  updated: 27_011,
  statusUpdated: 0,
  deleted: 1487,
  refused: 0,
  unanswered: 0,
};
const NO_WRITES: WriteCounts = { ...WRITES, created: 0, updated: 0, deleted: 0 };
const UPDATES: WriteCounts = { ...WRITES, created: 1502 };
const WORKLOAD_YAML = `name: relist-storm
seed: 42
objects:
  - kind: ConfigMap
    count: 10000
    namespaces: 4
    size: { distribution: lognormal, p50: 1KiB, p99: 64KiB }
    labels: { app: [web, api, db] }
watchers:
  - { name: informers, of: ConfigMap, count: 4, processes: 2 }
  - { name: peers, client: client-node, of: ConfigMap, list: list, selector: app=web, slow: { socket: 64KiB } }
phases:
  - create: {}
  - sync: {}
  - steady: { for: 40s, rate: 500, arrival: poisson }
  - relist-storm: { for: 20s, every: 10s, watchers: [informers], rate: 200 }
thresholds:
  - answered→handler p99 < 500ms in steady
  - lost == 0
  - sync p99 < 1s
limits: { objects: 20000, rate: 500 }
`;
const { workload: WORKLOAD } = readWorkload(WORKLOAD_YAML, 'relist-storm.yaml', {}, 42);

const PHASES: readonly PhaseResult[] = [
  phase('create', 'create', 0, 22_410, { ...NO_WRITES, created: 10_000 }, null, null),
  phase('sync', 'sync', 22_410, 25_480, NO_WRITES, null, null),
  phase('steady', 'steady', 25_480, 66_010, UPDATES, 500, 498.7),
  phase('relist-storm', 'relist-storm', 66_010, 88_200, { ...UPDATES, updated: 3600 }, 200, 199.9),
];

function phase(
  name: string,
  type: PhaseResult['type'],
  startMs: number,
  endMs: number,
  writes: WriteCounts,
  rateAsked: number | null,
  rateAchieved: number | null,
): PhaseResult {
  return { name, type, startMs, endMs, outcome: 'done', writes, rateAsked, rateAchieved };
}

/** Returns a distribution whose median is `typicalMs`; a part of it is below 0 for a negative `shiftMs`. */
function observed(count: number, typicalMs: number, seed: number, shiftMs = 0): HistogramCounts {
  const random = seededRandom(seed);
  const counts = new LatencyCounts();
  for (let index = 0; index < count; index++) {
    counts.observe(typicalMs * Math.exp(3 * (random() ** 3 - 0.125)) + shiftMs);
  }
  return counts.data;
}

function latencies(): LatencyHistogram[] {
  const changes: readonly [ChangeName, number][] = [
    ['create', 150],
    ['update', 2700],
    ['delete', 148],
  ];
  return PHASES.slice(2).flatMap(({ name }, index) =>
    changes.flatMap(([change, count]) => [
      latency('dueToSent', name, change, null, observed(count, 0.4, index)),
      latency('sentToAnswered', name, change, null, observed(count, 6, index)),
      latency('answeredToHandler', name, change, 'informers', observed(count * 4, 2, index, -1.6)),
      latency('answeredToHandler', name, change, 'peers', observed(count, 30, index)),
    ]),
  );
}

function latency(
  step: LatencyStep,
  phase: string,
  change: ChangeName,
  group: string | null,
  histogram: HistogramCounts,
): LatencyHistogram {
  return { step, phase, kind: 'ConfigMap', change, group, histogram };
}

function series(): Series {
  const random = seededRandom(1);
  const atMs = Array.from({ length: SECONDS }, (_, second) => second * 1000);
  const column = (of: (ms: number, random: number) => number): number[] =>
    atMs.map((ms) => Math.round(of(ms, random()) * 100) / 100);
  const asked = (ms: number): number => (ms < 26_000 ? 0 : ms < 66_000 ? 500 : 200);
  const sent = column((ms, chance) => (ms < 22_000 ? 450 : asked(ms)) * (0.97 + chance * 0.06));
  const isStorm = (ms: number): boolean => ms === 66_000 || ms === 76_000;
  const quantiles = (of: (ms: number) => number): QuantileColumns => {
    // There is nothing to measure while the watchers sync.
    const gap = (values: readonly number[]): (number | null)[] =>
      values.map((value, second) => (second >= 22 && second < 26 ? null : value));
    const p50 = column((ms, chance) => of(ms) * (0.9 + chance * 0.2));
    return {
      p50: gap(p50),
      p99: gap(p50.map((value) => value * 4)),
      max: gap(p50.map((value) => value * 9)),
    };
  };
  const process = (name: string, cpu: number, rssMib: number): Series['processes'][number] => ({
    name,
    cpu: column((_, chance) => cpu * (0.8 + chance * 0.4)),
    rssBytes: column((ms) => (rssMib + ms / 2000) * 2 ** 20),
    loopDelayMs: column((ms, chance) => (isStorm(ms) ? 80 : 2) + chance * 3),
  });
  return {
    intervalMs: 1000,
    atMs,
    rateAsked: atMs.map(asked),
    sent,
    answered: sent,
    pending: column((ms, chance) => (isStorm(ms) ? 60 : 3) + chance * 4),
    delivered: sent.map((rate, second) => (second < 25 ? 0 : rate * 4)),
    latencyMs: {
      dueToSent: quantiles(() => 0.4),
      sentToAnswered: quantiles((ms) => (isStorm(ms) ? 30 : 6)),
      answeredToHandler: quantiles((ms) => (isStorm(ms) ? 300 : 2)),
    },
    processes: [
      process('generator', 0.6, 90),
      process('watchers 1', 0.4, 140),
      process('watchers 2', 0.3, 130),
    ],
    server: [
      { metric: 'apiserver_watch_events_total', values: sent.map((rate) => rate * 5) },
      { metric: 'process_resident_memory_bytes', values: column((ms) => (400 + ms / 1000) * 2 ** 20) },
    ],
  };
}

function watcher(number: number, overrides: Partial<WatcherResult> = {}): WatcherResult {
  const sync = { mode: 'watchlist', items: 10_000, bytes: 31_457_280 } as const;
  return {
    name: `informers ${number}`,
    group: 'informers',
    client: 'informer',
    of: 'ConfigMap',
    process: 1 + (number % 2),
    namespace: '',
    selector: '',
    syncs: [
      { ...sync, cause: 'start', startMs: 22_420, durationMs: 900 + number * 40 },
      { ...sync, cause: 'storm', startMs: 66_010, durationMs: 2100 + number * 70 },
      { ...sync, cause: 'storm', startMs: 76_010, durationMs: 2300 + number * 50 },
    ],
    events: { added: 1502, modified: 26_800, deleted: 1487 },
    receivedBytes: 145_000_000,
    relists: 2,
    cutWatches: 2,
    verdict: {
      initial: 30_015,
      delivered: 29_789,
      covered: 211,
      lost: 0,
      duplicated: 0,
      reordered: 0,
      findings: [],
    },
    cacheEqualsList: true,
    ...overrides,
  };
}

const PEER: Partial<WatcherResult> = {
  name: 'peers 1',
  group: 'peers',
  client: 'client-node',
  process: 3,
  selector: 'app=web',
  syncs: [{ mode: 'list', cause: 'start', startMs: 22_420, durationMs: 3060, items: 3334, bytes: null }],
  receivedBytes: null,
  relists: 0,
  cutWatches: 0,
};

function stage(metric: string, name: string, ...buckets: ServerStage['buckets']): ServerStage {
  const count = buckets.reduce((sum, [, , observations]) => sum + observations, 0);
  return { phase: 'steady', metric, stage: name, count, sumMs: count, buckets };
}

const SERVER_STAGES: ServerStages = {
  stages: [
    stage('apiserver_request_duration_seconds', 'PUT', [0, 5, 18_000], [5, 25, 2_000]),
    stage('etcd_request_duration_seconds', 'update', [0, 5, 20_000]),
    stage('apiserver_watch_events_dispatch_duration_seconds', 'total', [0, 1, 70_000], [1000, null, 10]),
  ],
  absent: ['apiserver_watch_cache_read_wait_seconds'],
  unread: null,
};

/** Returns a run that lost nothing, and whose syncs were slower than allowed. */
export function exampleResult(): LoadTestResult {
  const [latencyThreshold, lost, sync] = WORKLOAD.thresholds;
  if (!latencyThreshold || !lost || !sync) throw new Error('the workload has three thresholds');
  return {
    format: 1,
    run: {
      workload: WORKLOAD,
      workloadYaml: WORKLOAD_YAML,
      target: {
        context: 'kind-kind',
        cluster: 'kind-kind',
        server: 'https://127.0.0.1:41233',
        user: 'kind-kind',
      },
      versions: { kubeloom: '0.1.0', node: 'v22.19.0', server: 'v1.36.0' },
      machine: {
        platform: 'linux',
        architecture: 'x64',
        cpuModel: 'Example CPU 2.0 GHz',
        cpus: 8,
        memoryBytes: 2 ** 34,
      },
      startedAt: '2026-01-02T03:04:05.678Z',
      durationMs: 89_600,
      namespaces: [1, 2, 3, 4].map((number) => `kubeloom-loadtest-1a2b3c4d-${number}`),
    },
    phases: PHASES,
    writes: WRITES,
    series: series(),
    boundsMs: BOUNDS_MS,
    latencies: latencies(),
    watchers: [watcher(1), watcher(2), watcher(3), watcher(4), watcher(5, PEER)],
    marks: [
      { atMs: 66_010, type: 'relist', watcher: 'informers 1', text: 'storm' },
      { atMs: 71_300, type: 'cut', watcher: 'informers 2', text: 'the server ended the watch' },
      { atMs: 76_010, type: 'relist', watcher: 'informers 1', text: 'storm' },
    ],
    serverMetrics: [
      {
        metric: 'apiserver_terminated_watchers_total',
        labels: { resource: 'configmaps' },
        before: 3,
        after: 3,
      },
      {
        metric: 'apiserver_watch_events_total',
        labels: { kind: 'ConfigMap', version: 'v1' },
        before: 1200,
        after: 151_312,
      },
    ],
    serverStages: SERVER_STAGES,
    thresholds: [
      { threshold: latencyThreshold, figure: 61.2, isMet: true },
      { threshold: lost, figure: 0, isMet: true },
      { threshold: sync, figure: 3060, isMet: false },
    ],
    conclusion: { kind: 'THRESHOLD', reasons: ['sync p99 < 1s: it was 3060 ms'] },
    leftovers: [
      {
        what: 'namespace kubeloom-loadtest-1a2b3c4d-4',
        why: 'DELETE answered 403',
        command: 'kubectl --context kind-kind delete namespace kubeloom-loadtest-1a2b3c4d-4',
      },
    ],
  };
}
