/**
 * The messages between the runner and the client programs. A program is a command with a `Task` as JSON for its
 * argument. It prints a line, an `Outcome` as JSON, and exits with 0, even if the outcome is an error. Every client
 * reads the same source. For latency the source writes the wall-clock time of sending into the annotation
 * `SENT_ANNOTATION` of an event; the receiver subtracts it from the time of receipt.
 */

import type { Unit } from './names.ts';

/**
 * The part of every event that the handler reads: its key, all of its metadata, the fields that controllers read (labels,
 * controller, `spec.nodeName`, `status.phase`, `status.podIP`), every member of the object but managedFields, name and phase of
 * the object, or both of them without the object where the client offers that.
 */
export type Handler = 'key' | 'metadata' | 'fields' | 'object' | 'phase' | 'status';

/** Programs other than an informer with a handler: kubeloom/client-node, and a controller that reads the cached object. */
export type Program = 'drop-in' | 'controller';

/** Every client may support the first five; the others need a program of their own. */
export type TaskKind =
  | 'watch'
  | 'sync'
  | 'latency'
  | 'memory'
  | 'readers'
  | 'relist'
  | 'late-handler'
  | 'resync'
  | 'micro'
  | 'metrics'
  | 'rest'
  | 'partitions'
  | 'start'
  | 'thread-scan'
  | 'thread-handler'
  | 'thread-memory'
  | 'thread-idle';

export type Listing = 'list' | 'pages' | 'watch-list';

export interface Task {
  readonly case: TaskKind;
  /** Default: an informer with a handler. */
  readonly program?: Program;
  readonly url: string;
  readonly token?: string;
  /** PEM. */
  readonly ca?: string;
  /** `pods`, or a custom resource `widgets` of example.com/v1. */
  readonly resource: string;
  /** MODIFIED events to await after the sync, those of the warm-up included. */
  readonly events: number;
  readonly handler: Handler;
  readonly objects: number;
  /** The grid of `readers`: sizes of caches, numbers of readers, and the duration of each cell (also of `metrics`, `rest`, `thread-idle`). */
  readonly podCounts?: readonly number[];
  readonly readers?: readonly number[];
  readonly cellMs?: number;
  /** Number of first events that are not measured, for any client, because code is being compiled. */
  readonly warmUpEvents?: number;
  /** The following fields are for clients that have the setting; the others ignore them. */
  readonly shards?: number;
  readonly codec?: 'json' | 'msgpack';
  /** True: managedFields are dropped before objects are stored. */
  readonly drop?: boolean;
  readonly listing?: Listing;
  /** Handlers on the informer. Default 1. */
  readonly handlers?: number;
  /** Informers, each of a separate resource. Default 1. */
  readonly informers?: number;
  /** Members of a group (`partitions`). */
  readonly members?: number;
  /** Time before memory is read (`memory`, `thread-memory`; default 3,000), or before the section (`rest`). */
  readonly settleMs?: number;
  /** True: the server's address is a connection object in place of a kubeconfig (`start`). */
  readonly connection?: boolean;
}

export const SENT_ANNOTATION = 'kubeloom.io/sent-us';

export interface Latency {
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly maxUs: number;
}

/** Delay of the loop of the thread that runs the handlers: `monitorEventLoopDelay` less its interval of 1 ms. */
export interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
  /** As above, less the thread's wait for a processor; only on Linux. */
  readonly ownP99Ms?: number;
  readonly ownMaxMs?: number;
}

export interface Outcome {
  readonly client: string;
  readonly version: string;
  /** With the version, for programs in JavaScript and Go. */
  readonly runtime?: string;
  /** Number of measured changes, or for a sync of objects. */
  readonly events: number;
  /** From the first event to the last; for a sync from the start until all objects are delivered. */
  readonly elapsedMs: number;
  /** User and system time of the process during the same interval. */
  readonly cpuMs: number;
  /** CPU time of the thread that runs the handlers; only for programs in JavaScript, on Linux. */
  readonly mainThreadCpuMs?: number;
  /** Peak of resident memory. */
  readonly rssBytes: number;
  /** Resident memory at the end, settled (`memory`). */
  readonly settledBytes?: number;
  readonly heapBytes?: number;
  /** Memory outside the heap: buffers, private and shared. */
  readonly bufferBytes?: number;
  readonly latency?: Latency;
  readonly loopDelay?: LoopDelay;
  /** Number of shards. */
  readonly shards?: number;
  /** Figures of cases that have several (`readers`, `micro`, `metrics`, `rest`, `start`, threads). */
  readonly rows?: readonly OutcomeRow[];
  /** Sum of the lengths of all keys that were read; it shows skipped work. */
  readonly checksum: number;
  readonly error?: string;
}

/** `reads/s`, `writes/s` and operations a second are published as events/s. */
export interface OutcomeRow {
  readonly case: string;
  readonly value: number;
  readonly unit: Unit | 'reads/s';
}
