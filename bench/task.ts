/**
 * What the runner and the client programs say to each other. A program is a command with one argument, a `Task` as
 * JSON; it prints one line, an `Outcome` as JSON, and exits with 0, also when what it prints is an error.
 *
 * Every client gets the same source. For latency the source writes the wall clock at which it sends an event into the
 * annotation `SENT_ANNOTATION`; the receiver subtracts it from its own.
 */

/** What the handler touches of every event: its key, all of its metadata, or the whole object. */
export type Handler = 'key' | 'metadata' | 'object';

/** The first five every client may know; the others need a program that says so. */
export type TaskKind =
  | 'watch'
  | 'sync'
  | 'latency'
  | 'memory'
  | 'readers'
  | 'relist'
  | 'late-handler'
  | 'resync'
  | 'micro';

export type Listing = 'list' | 'pages' | 'watch-list';

export interface Task {
  readonly case: TaskKind;
  readonly url: string;
  readonly token?: string;
  /** PEM. */
  readonly ca?: string;
  /** `pods`, or a custom resource `widgets` of example.com/v1. */
  readonly resource: string;
  /** How many MODIFIED events to await after the sync, those of the warm-up included. */
  readonly events: number;
  readonly handler: Handler;
  readonly objects: number;
  /** The grid of `readers`: caches of so many objects, each read by so many readers, for so long. */
  readonly podCounts?: readonly number[];
  readonly readers?: readonly number[];
  readonly cellMs?: number;
  /** So many first events are not measured, by no client: code gets compiled meanwhile. */
  readonly warmUpEvents?: number;
  /** What follows only some clients know; the others do what they do without being asked. */
  readonly shards?: number;
  readonly codec?: 'json' | 'msgpack';
  /** managedFields are dropped before objects are stored. */
  readonly drop?: boolean;
  readonly listing?: Listing;
  /** Handlers on the informer. Default 1. */
  readonly handlers?: number;
  /** Informers, each of a resource of its own. Default 1. */
  readonly informers?: number;
  /** How long memory may settle before it is read. Default 3,000. */
  readonly settleMs?: number;
}

export const SENT_ANNOTATION = 'kubeloom.io/sent-us';

export interface Latency {
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly maxUs: number;
}

/** How late the loop of the thread that runs the handlers was: `monitorEventLoopDelay` less its interval of 1 ms. */
export interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The same, less what the thread waited for a processor: only on Linux. */
  readonly ownP99Ms?: number;
  readonly ownMaxMs?: number;
}

export interface Outcome {
  readonly client: string;
  readonly version: string;
  /** Measured: changes, or for a sync objects. */
  readonly events: number;
  /** From the first event to the last; of a sync from its start until all objects were delivered. */
  readonly elapsedMs: number;
  /** User and system time of the process during the same interval. */
  readonly cpuMs: number;
  /** That of the thread that runs the handlers; only of programs in JavaScript, on Linux. */
  readonly mainThreadCpuMs?: number;
  /** Most that was ever resident. */
  readonly rssBytes: number;
  /** Resident at the end, settled (`memory`). */
  readonly settledBytes?: number;
  readonly heapBytes?: number;
  /** Outside the heap: buffers, private and shared. */
  readonly bufferBytes?: number;
  readonly latency?: Latency;
  readonly loopDelay?: LoopDelay;
  /** Shards that took part. */
  readonly shards?: number;
  /** Figures of cases that have several (`readers`, `micro`). */
  readonly rows?: readonly OutcomeRow[];
  /** Lengths of all keys that were seen: work that is skipped shows. */
  readonly checksum: number;
  readonly error?: string;
}

/** `reads/s`, `writes/s` and operations a second are published as events/s. */
export interface OutcomeRow {
  readonly case: string;
  readonly value: number;
  readonly unit: 'events/s' | 'reads/s' | 'ms';
}
