/**
 * A watcher of a load test, of any client: an informer, a socket that only counts, or another library's informer. It
 * lives in a watcher process, which creates it from a `WatcherTask` and requests the verdict after the load.
 */
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import type { InformerThreads } from '../../../index.ts';
import type { ResourceRef } from '../../../kube/resource.ts';
import type { ConnectionOptions } from '../../../kube/connection-options.ts';
import type { ChangeName, HistogramCounts, Mark, SyncResult, VerdictCounts } from '../result.ts';
import type { Slowness, WatcherGroup } from '../workload/workload.ts';

export interface WatcherTask {
  /** Unique in the run: `informers 3`. */
  readonly name: string;
  readonly group: WatcherGroup;
  readonly resource: ResourceRef;
  /** Empty: all namespaces. */
  readonly namespace: string;
  /** The selector of the requests: the group's, and the label of this run. */
  readonly selector: string;
  /** True when the connection must be droppable or slowable during the run. */
  readonly isProxied: boolean;
}

/** The parts that the watchers of a process share. */
export interface WatcherContext {
  /** Loads client-node at the first read. */
  readonly kubeConfig: AnyKubeConfig;
  /** The same server and credentials, for clients that open their own sockets. */
  readonly connection: ConnectionOptions;
  /** Threads that the informers of the process share. */
  readonly threads: InformerThreads;
  /** The start of the run, by `nowUs`. */
  readonly startedUs: number;
  readonly onError: (error: Error) => void;
}

/** A sync whose figures are incomplete. */
export type OpenSync = { -readonly [Member in keyof SyncResult]: SyncResult[Member] };

export interface Watcher extends AsyncDisposable {
  readonly task: WatcherTask;
  /** Counters for the live view; they only grow. */
  readonly activity: WatcherActivity;
  /** Lists and watches; resolves when the first state was delivered. */
  sync(signal: AbortSignal): Promise<void>;
  /** Drops the state and the connection, and lists again; resolves when the new state was delivered. */
  relist(signal: AbortSignal): Promise<void>;
  /** Ends the connection, so that the client opens a new connection at the same position. */
  dropConnection(): void;
  /** Makes the watcher slow until the next call; undefined: as fast as possible. */
  setSlowness(slowness: Slowness | undefined): void;
  /** Returns whether all changes up to this revision of the log were delivered. */
  hasReached(revision: number): boolean;
  /** Compares all deliveries with the log of the server. Called once, at the end. */
  judge(truth: Truth): WatcherJudgement;
}

export interface WatcherActivity {
  /** Changes after the first state. */
  readonly changes: number;
  readonly relists: number;
  readonly cutWatches: number;
  /** null when the client does not count bytes. */
  readonly receivedBytes: number | null;
}

/** The log of the server for the watcher's objects, and their state after the load. */
export interface Truth {
  /** In the order of revisions. */
  readonly log: readonly LoggedWrite[];
  /** Key to resourceVersion by a LIST after the load. */
  readonly state: ReadonlyMap<string, string>;
}

export interface LoggedWrite {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** `namespace/name` */
  readonly key: string;
  /** undefined for a change by another writer, such as kwok. */
  readonly own: OwnWrite | undefined;
}

export interface OwnWrite {
  readonly change: ChangeName;
  /** The index of the phase that wrote it. */
  readonly phase: number;
  /** The time of the answer, by `nowUs`. */
  readonly answeredUs: number;
}

export interface WatcherJudgement {
  readonly syncs: readonly SyncResult[];
  readonly events: { readonly added: number; readonly modified: number; readonly deleted: number };
  readonly verdict: VerdictCounts;
  /** null for a client without a cache. */
  readonly cacheEqualsList: boolean | null;
  /** Answered to handler, by phase and change. */
  readonly latencies: readonly {
    readonly phase: number;
    readonly change: ChangeName;
    readonly histogram: HistogramCounts;
  }[];
  /** The seconds of the run in which changes were delivered. */
  readonly seconds: readonly SecondOfDeliveries[];
  readonly marks: readonly Mark[];
}

export interface SecondOfDeliveries {
  /** The number of the second, from 0. */
  readonly second: number;
  readonly changes: number;
  readonly latency: HistogramCounts;
}
