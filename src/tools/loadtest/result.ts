/**
 * The result of a load test as plain JSON data. Every report is a pure function of it.
 *
 * All times of the run (`atMs`, `startMs`, `endMs`) are milliseconds since the start. Absent figures are `null`, which
 * plots show as a gap.
 */
import type {
  LatencyStep,
  ListMode,
  PhaseType,
  Threshold,
  WatcherClient,
  Workload,
} from './workload/workload.ts';

export interface LoadTestResult {
  /** The version of this format. */
  readonly format: 1;
  readonly run: RunFacts;
  readonly phases: readonly PhaseResult[];
  /** Confirmed and failed writes of the whole run. */
  readonly writes: WriteCounts;
  readonly series: Series;
  /** Upper bounds of the buckets of all histograms, ascending, in milliseconds; the last bucket is unbounded. */
  readonly boundsMs: readonly number[];
  readonly latencies: readonly LatencyHistogram[];
  readonly watchers: readonly WatcherResult[];
  /** Events in the order of their times. */
  readonly marks: readonly Mark[];
  /** Counters of the server, before and after; empty when the user may not read them. */
  readonly serverMetrics: readonly ServerMetric[];
  readonly serverStages: ServerStages;
  readonly thresholds: readonly ThresholdResult[];
  readonly conclusion: Conclusion;
  /** Objects that could not be removed. */
  readonly leftovers: readonly Leftover[];
}

export interface RunFacts {
  readonly workload: Workload;
  /** The workload as a file that repeats this run, including the seed. */
  readonly workloadYaml: string;
  readonly target: {
    readonly context: string;
    readonly cluster: string;
    readonly server: string;
    readonly user: string;
  };
  readonly versions: { readonly kubeloom: string; readonly node: string; readonly server: string };
  readonly machine: {
    readonly platform: string;
    readonly architecture: string;
    readonly cpuModel: string;
    readonly cpus: number;
    readonly memoryBytes: number;
  };
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** The namespaces of this run; they are removed at the end. */
  readonly namespaces: readonly string[];
  /** The indexes of a Job, each with a share of the watchers; absent for a run on a single machine. */
  readonly indexes?: readonly IndexFacts[];
}

/**
 * An index of a Job. Index 0 runs the generator: only its watchers measure `answeredToHandler`, because clocks of
 * machines differ. Times of other indexes are later by the delay of a watch.
 */
export interface IndexFacts {
  readonly index: number;
  readonly host: string;
  readonly machine: RunFacts['machine'];
  /** The numbers of the index's processes with watchers. */
  readonly processes: readonly number[];
}

export interface PhaseResult {
  readonly name: string;
  readonly type: PhaseType;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: 'done' | 'interrupted';
  readonly writes: WriteCounts;
  /** Writes a second; null for a phase without a rate. */
  readonly rateAsked: number | null;
  /** Confirmed writes a second, from when the first was due to when the last was sent. */
  readonly rateAchieved: number | null;
}

export interface WriteCounts {
  readonly created: number;
  readonly updated: number;
  readonly statusUpdated: number;
  readonly deleted: number;
  /** Writes that the server refused. */
  readonly refused: number;
  /** Writes without an answer: they may have been written or not. */
  readonly unanswered: number;
}

/** Figures second by second, in columns of equal length. Element n is the interval from `atMs[n]` to a second later. */
export interface Series {
  readonly intervalMs: number;
  readonly atMs: readonly number[];
  /** Writes a second. */
  readonly rateAsked: readonly number[];
  readonly sent: readonly number[];
  readonly answered: readonly number[];
  /** Writes that were due but not answered at the end of the interval: the backlog of the open loop. */
  readonly pending: readonly number[];
  /** Changes that all watchers together received. */
  readonly delivered: readonly number[];
  readonly latencyMs: Readonly<Record<LatencyStep, QuantileColumns>>;
  readonly processes: readonly ProcessSeries[];
  /** Gauges of the server, and counters as a difference an interval. */
  readonly server: readonly ServerSeries[];
}

export interface QuantileColumns {
  readonly p50: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  readonly max: readonly (number | null)[];
}

/** The cost of a process of the test. */
export interface ProcessSeries {
  /** `generator`, `watchers 1`, … */
  readonly name: string;
  /** CPU seconds a second, of all threads. */
  readonly cpu: readonly (number | null)[];
  readonly rssBytes: readonly (number | null)[];
  /** The longest delay of the event loop of the process's main thread in the interval. */
  readonly loopDelayMs: readonly (number | null)[];
}

export interface ServerSeries {
  readonly metric: string;
  readonly values: readonly (number | null)[];
}

export type ChangeName = 'create' | 'update' | 'status' | 'delete';

/** Latencies of a step, for a kind of object and a change, in a phase. */
export interface LatencyHistogram {
  readonly step: LatencyStep;
  readonly phase: string;
  readonly kind: string;
  readonly change: ChangeName;
  /** The group of watchers for `answeredToHandler`; null for the steps of the generator. */
  readonly group: string | null;
  readonly histogram: HistogramCounts;
}

export interface HistogramCounts {
  readonly count: number;
  readonly sumMs: number;
  /** null without an observation. */
  readonly minMs: number | null;
  readonly maxMs: number | null;
  /** The buckets that are not empty: index of the bucket, number of observations. */
  readonly buckets: readonly (readonly [index: number, count: number])[];
}

export interface WatcherResult {
  readonly name: string;
  readonly group: string;
  readonly client: WatcherClient;
  /** The kind of the watcher's objects. */
  readonly of: string;
  /** The number of the watcher's process, from 1. */
  readonly process: number;
  /** Empty: all namespaces of the test. */
  readonly namespace: string;
  readonly selector: string;
  /** The first sync, and every list after it. */
  readonly syncs: readonly SyncResult[];
  /** Changes after the first state, by type. */
  readonly events: { readonly added: number; readonly modified: number; readonly deleted: number };
  /** Bytes of all answers; null if the client does not count bytes. */
  readonly receivedBytes: number | null;
  /** Lists after the first. */
  readonly relists: number;
  /** Watches that ended before the watcher, for any reason. */
  readonly cutWatches: number;
  readonly verdict: VerdictCounts;
  /** null for a client without a cache. */
  readonly cacheEqualsList: boolean | null;
}

export interface SyncResult {
  /**
   * The kind of request that the server answered, which may differ from the configured mode; null before any answer.
   */
  readonly mode: ListMode | null;
  readonly cause: 'start' | 'storm' | 'server';
  readonly startMs: number;
  /** The time until the last object was delivered; null if it was not. */
  readonly durationMs: number | null;
  readonly items: number | null;
  readonly bytes: number | null;
}

export interface VerdictCounts {
  /** Objects of the first state that were delivered as logged. */
  readonly initial: number;
  /** Changes that were delivered as logged. */
  readonly delivered: number;
  /** Changes that a relist, or the first list of a client that was started again, combined with a later change. */
  readonly covered: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly reordered: number;
  /** The first few faults as text, and the first differences between the cache and a LIST. */
  readonly findings: readonly string[];
}

export interface Mark {
  readonly atMs: number;
  readonly type: 'relist' | 'cut' | 'fault';
  /** The watcher; null for an event of the whole run. */
  readonly watcher: string | null;
  readonly text: string;
}

export interface ServerMetric {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly before: number;
  readonly after: number;
}

/** The server's time by its own histograms, phase by phase. */
export interface ServerStages {
  readonly stages: readonly ServerStage[];
  /** The histograms that the server does not offer, by name. */
  readonly absent: readonly string[];
  /** The first reason why the server's metrics could not be read; null when all of them could. */
  readonly unread: string | null;
}

/** The observations of a stage during a phase, of the resources that the run writes where the server tells resources apart. */
export interface ServerStage {
  /** The name of the phase. */
  readonly phase: string;
  /** `apiserver_request_duration_seconds` */
  readonly metric: string;
  /** The value of the label that names the stage, such as a verb; empty for a histogram without one. */
  readonly stage: string;
  readonly count: number;
  readonly sumMs: number;
  /** The buckets that are not empty, ascending; the last bucket of a histogram has no end. */
  readonly buckets: readonly (readonly [fromMs: number, toMs: number | null, count: number])[];
}

export interface ThresholdResult {
  readonly threshold: Threshold;
  /** null if the run measured no such figure, which misses the threshold. */
  readonly figure: number | null;
  readonly isMet: boolean;
}

export interface Conclusion {
  /**
   * PASS: every write was delivered and every threshold met. FAIL: delivery was violated. INVALID: no conclusion is
   * possible, because writes failed or a part was saturated. THRESHOLD: a threshold was missed. INTERRUPTED: by the
   * user.
   */
  readonly kind: 'PASS' | 'FAIL' | 'INVALID' | 'THRESHOLD' | 'INTERRUPTED';
  /** Reasons as text; empty for a PASS. */
  readonly reasons: readonly string[];
}

export interface Leftover {
  /** `namespace kubeloom-loadtest-1a2b` */
  readonly what: string;
  readonly why: string;
  /** The command that removes it. */
  readonly command: string;
}
