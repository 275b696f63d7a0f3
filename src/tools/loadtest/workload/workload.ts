/**
 * A workload as data: the objects, the watchers, the phases in order, and the thresholds. A workload file uses the same
 * members with human units (`30s`, `1KiB`); here units are in the names.
 */

export interface Workload {
  readonly name: string;
  /** The seed of all randomness: the same seed writes the same objects in the same order. */
  readonly seed: number;
  readonly objects: readonly ObjectGroup[];
  readonly watchers: readonly WatcherGroup[];
  /** Phases in order; each begins when the previous phase has ended. */
  readonly phases: readonly Phase[];
  readonly thresholds: readonly Threshold[];
  readonly limits: Limits;
}

export const KINDS = ['ConfigMap', 'Lease', 'Pod', 'Widget'] as const;

/** The kinds that a load test can write. `Widget` is a custom resource whose definition the test installs and removes. */
export type ObjectKind = (typeof KINDS)[number];

/** Objects of a kind. A kind occurs once in a workload. */
export interface ObjectGroup {
  readonly kind: ObjectKind;
  /** Number of objects that a `create` phase creates. */
  readonly count: number;
  /** Namespaces over which the objects are spread in turn. */
  readonly namespaces: number;
  /** Bytes of padding in an object. */
  readonly size: SizeDistribution;
  /** `realistic`: Pods with containers, variables, volumes and a status as clusters have them; undefined: the least that is valid. */
  readonly shape?: 'realistic' | undefined;
  /** Label to values; object n carries the value n modulo the number of values. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

export type SizeDistribution =
  | { readonly distribution: 'constant'; readonly bytes: number }
  | { readonly distribution: 'uniform'; readonly bytesMin: number; readonly bytesMax: number }
  /** Logarithms are normally distributed; the seed decides each size. */
  | { readonly distribution: 'lognormal'; readonly bytesP50: number; readonly bytesP99: number };

export const CLIENTS = ['informer', 'raw', 'client-node'] as const;

/** The client of a watcher: kubeloom's informer, a socket that only counts, or client-node's informer. */
export type WatcherClient = (typeof CLIENTS)[number];

/**
 * The request for the first state: a list within the watch, a single list, or a list in pages of 500. A server that
 * lists from the watch cache ignores the pages; the result reports the mode of the answer.
 */
export type ListMode = 'watchlist' | 'list' | 'pages';

/** Watchers with equal settings, of a single kind of object. */
export interface WatcherGroup {
  /** The name in phases and reports; unique in a workload. */
  readonly name: string;
  readonly client: WatcherClient;
  readonly of: ObjectKind;
  readonly count: number;
  /** Processes over which the watchers are spread in turn. */
  readonly processes: number;
  /** Indexer threads in an informer's process; 0: all work on the main thread. */
  readonly threads: number;
  readonly list: ListMode;
  /** A label selector; empty: all objects. */
  readonly selector: string;
  /** True for watchers of a single namespace each, in turn; false for watchers of all namespaces of the test. */
  readonly perNamespace: boolean;
  /** Slowness of these watchers during the whole test; undefined: they are not slow. */
  readonly slow?: Slowness | undefined;
  /** The time between two drops of the connection, from the first sync on; undefined: connections are not dropped. */
  readonly reconnectEveryMs?: number | undefined;
}

export type Slowness =
  /** Each call of the handler takes this long. */
  | { readonly type: 'handler'; readonly delayMs: number }
  /** The client reads the socket at this rate. */
  | { readonly type: 'socket'; readonly bytesPerSecond: number };

/** A part of a run. The name is unique in a workload: the type of the phase, or a name from the file. */
export type Phase = { readonly name: string } &
  /** Creates the objects of these kinds, at a rate or as fast as the server answers. */
  (
    | { readonly type: 'create'; readonly kinds: readonly ObjectKind[]; readonly ratePerSecond?: number }
    /** Starts groups of watchers, and ends when all of them have their first state. */
    | { readonly type: 'sync'; readonly watchers: readonly string[]; readonly timeoutMs: number }
    /** Writes for a time. */
    | { readonly type: 'steady'; readonly durationMs: number; readonly load: Load }
    /** Makes groups of watchers drop their state and list again, all of them at the same moment, several times. */
    | (Loaded & {
        readonly type: 'relist-storm';
        readonly watchers: readonly string[];
        readonly everyMs: number;
      })
    /** Makes groups of watchers slow for a time; afterwards they catch up. */
    | (Loaded & {
        readonly type: 'slow-consumer';
        readonly watchers: readonly string[];
        readonly slow: Slowness;
      })
    /** Runs a program of the user, with arguments, that restarts the server. Refused without `--allow-restart`. */
    | (Loaded & { readonly type: 'server-restart'; readonly command: readonly string[] })
    /** No writes for a time. */
    | { readonly type: 'pause'; readonly durationMs: number }
  );

export type PhaseType = Phase['type'];
export type CreatePhase = Extract<Phase, { readonly type: 'create' }>;

interface Loaded {
  readonly durationMs: number;
  readonly load?: Load;
}

/** Writes in open loop: a late write does not delay later writes. */
export interface Load {
  readonly rate: Rate;
  readonly arrival: 'constant' | 'poisson';
  readonly mix: Mix;
  readonly kinds: readonly ObjectKind[];
}

/**
 * Writes a second: from the first value to the last in equal steps, a step each second of the phase. Equal values: a
 * constant rate.
 */
export interface Rate {
  readonly fromPerSecond: number;
  readonly toPerSecond: number;
}

/** Shares of the writes, which add up to any sum. */
export interface Mix {
  readonly create: number;
  readonly update: number;
  /** Updates of the status subresource; kinds without that subresource update the object. */
  readonly status: number;
  readonly delete: number;
}

/** Limits of a run; a workload that exceeds them is refused before the first request. */
export interface Limits {
  readonly objectsMax: number;
  readonly ratePerSecondMax: number;
}

/** A latency between two times of a write; `answeredToHandler` is below 0 if the watch was faster than the answer. */
export type LatencyStep = 'dueToSent' | 'sentToAnswered' | 'answeredToHandler';

export type LatencyStatistic = 'p50' | 'p90' | 'p95' | 'p99' | 'p999' | 'max' | 'mean';

export type ThresholdSubject =
  | { readonly type: 'latency'; readonly step: LatencyStep; readonly statistic: LatencyStatistic }
  | { readonly type: 'sync'; readonly statistic: LatencyStatistic }
  | { readonly type: 'count'; readonly count: CountName }
  /** The difference of a counter of the server, by the name in `/metrics`, summed over all labels. */
  | { readonly type: 'server'; readonly metric: string };

export type CountName =
  | 'lost'
  | 'duplicated'
  | 'reordered'
  | 'relists'
  | 'cutWatches'
  | 'refused'
  | 'unanswered'
  | 'terminatedWatches';

/** A figure that a run must keep: `answered→handler p99 < 500ms in steady`. */
export interface Threshold {
  /** The line of the file. */
  readonly text: string;
  readonly subject: ThresholdSubject;
  /** The name of the measured phase; undefined: all phases. */
  readonly phase?: string | undefined;
  readonly operator: '<' | '<=' | '==' | '>=' | '>';
  /** Milliseconds for latencies and syncs, else a count. */
  readonly value: number;
}
