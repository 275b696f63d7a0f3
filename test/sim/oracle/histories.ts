/**
 * Records of one run over one collection, at every vantage point. Plain data: a failing run is written to a file and
 * judged again elsewhere.
 *
 *   server ── commits ──► wire ── requests, sent ──► shards ── applied ──► handlers ── received
 *     truth                what the client could read    its records          what users received
 *
 * All times are milliseconds of one clock, which may be a virtual one. Revisions are numbers: servers under
 * test count from small ones.
 */
import { compareU32 } from '../../../src/shared/ring/word.ts';

/** H1: the server's log. All other records are compared with it. */
export interface Commit {
  readonly revision: number;
  /** `REWRITTEN`: the object has another body under the same revision since, and no watch has an event of it. */
  readonly type: ChangeType | 'REWRITTEN';
  readonly key: string;
  readonly at?: number;
  /** Undefined fields were not recorded; checks that need them are skipped. */
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** `bodyHash` of the object as sent; a deletion is sent with its own version. */
  readonly hash?: string;
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** H2: records of the wire, for each connection (one for each request). */
export type WireRecord =
  | {
      readonly what: 'request';
      readonly connection: number;
      readonly at?: number;
      readonly informer?: string;
      readonly method: string;
      readonly isWatch: boolean;
      readonly query: Readonly<Record<string, string>>;
    }
  /** A status other than 200, or 0 for no answer at all. */
  | { readonly what: 'refused'; readonly connection: number; readonly at?: number; readonly status: number }
  /** The state of a list, or of a streaming list up to its end bookmark. */
  | { readonly what: 'listed'; readonly connection: number; readonly at?: number; readonly revision: number }
  /** One whole line of a watch. */
  | {
      readonly what: 'sent';
      readonly connection: number;
      readonly at?: number;
      readonly type: ChangeType | 'BOOKMARK' | 'ERROR';
      readonly revision: number;
      readonly key?: string;
      /** Whether it was generated for a streaming list, so it is no event of the history. */
      readonly isInitial?: boolean;
      /** The fault that inserted it; a correct server would not send it. */
      readonly fault?: string;
    }
  | {
      readonly what: 'closed';
      readonly connection: number;
      readonly at?: number;
      readonly why: string;
      readonly fault?: string;
    };

/** H3: records that a shard wrote into its ring to the main thread. */
export interface AppliedRecord {
  readonly shard: number;
  /** The notification's sequence, counted by the reflector modulo 2^32. */
  readonly sequence: number;
  /** Number of the threads. New threads write the sequences of unmerged records again. */
  readonly incarnation: number;
  /** A `DeltaKind` by name; `Nothing` when it changes no cache. */
  readonly kind: string;
}

/** New threads after a death: records behind `merged` that the threads before wrote are dropped. */
export interface RestartRecord {
  /** Number of the new threads. */
  readonly incarnation: number;
  /** The last merged sequence. */
  readonly merged: number;
  /** Number of records of the wire before. */
  readonly wire: number;
}

/** Returns whether new threads write the record again. */
export function drops({ incarnation, merged }: RestartRecord, record: AppliedRecord): boolean {
  return record.incarnation < incarnation && compareU32(record.sequence, merged) > 0;
}

/** H4: the notifications that one handler received, and the steps of its life. */
export type DeliveredRecord = RegisteredRecord | ChangeRecord | StepRecord;

export interface RegisteredRecord {
  readonly kind: 'registered';
  readonly handler: string;
  readonly informer: string;
  readonly at?: number;
  /** The cache's version then; 0 before the first list. */
  readonly revision: number;
  /** Whether it may receive more than its initial list and one notification an event, as in a resync. */
  readonly mayRepeat?: boolean;
  /** False: it is in another thread, and no scrape has its figures. */
  readonly hasMetrics?: boolean;
}

export interface ChangeRecord {
  readonly kind: 'add' | 'update' | 'delete';
  readonly handler: string;
  readonly at?: number;
  readonly key: string;
  readonly revision: number;
  /** Revision of an update's old object. */
  readonly oldRevision?: number;
  readonly uid?: string;
  readonly isInInitialList?: boolean;
  readonly finalStateUnknown?: boolean;
  /** `bodyHash` of `bytes()`, and of `object` written as JSON again. */
  readonly hash?: string;
  readonly objectHash?: string;
  /** Revision in the cache under this key during the call; null when absent. */
  readonly cached?: number | null;
  /** Whether all indices agreed with that. */
  readonly isIndexed?: boolean;
}

export interface StepRecord {
  /**
   * `synced`: `registration.hasSynced()` was true for the first time. `removed`: the handler may receive nothing more.
   * `failed`: its last call threw, or its promise rejected.
   */
  readonly kind: 'synced' | 'removed' | 'failed';
  readonly handler: string;
  readonly at?: number;
}

/** F: faults that the run has caused. */
export interface FaultRecord {
  readonly id: string;
  readonly kind: string;
  readonly at?: number;
  /** Undefined until it lands: a fault that never lands proves nothing. */
  readonly landedAt?: number;
  readonly healedAt?: number;
  /** One of these codes must be reported after it has landed; none if empty or absent. */
  readonly codes?: readonly string[];
}

/** An error that was reported: to `onError`, or as a warning of the process. */
export interface ReportRecord {
  readonly at?: number;
  readonly code: string;
  readonly message: string;
}

/** The whole cache of an informer at one moment. */
export interface SnapshotRecord {
  readonly informer: string;
  readonly at?: number;
  /** `lastSyncResourceVersion`; 0 before the first list. */
  readonly revision: number;
  /** Objects in the order of `list()`. */
  readonly objects: readonly SnapshotObject[];
  /** Index → value → keys. */
  readonly indices?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  /** Whether it is the last one of a run that has come to rest. */
  readonly isFinal?: boolean;
}

export interface SnapshotObject {
  readonly key: string;
  readonly revision: number;
  readonly uid?: string;
  readonly hash?: string;
  /** Expected index entries: index → values. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
}

/** Length of a queue, and its bound. */
export interface GaugeRecord {
  readonly at?: number;
  readonly name: string;
  readonly value: number;
  readonly bound: number;
}

/** Metrics at one moment, and the number of other records at that moment, with which they are compared. */
export interface ScrapeRecord {
  readonly at?: number;
  readonly before: Readonly<Record<'wire' | 'applied' | 'delivered' | 'reports', number>>;
  /** `lastSyncResourceVersion` of each informer; 0 before its first list. */
  readonly revisions: Readonly<Record<string, number>>;
  readonly samples: readonly ScrapedSample[];
  /** Whether it is the last one of a run that has come to rest. */
  readonly isFinal?: boolean;
}

/** A sample of an informer, which has the name of the histories, or of one of its handlers. */
export interface ScrapedSample {
  readonly metric: string;
  readonly informer: string;
  /** The other labels: `handler`, `code`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Selection of an informer. */
export interface Scope {
  readonly namespace?: string;
  /** Required labels with their values. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Page size of all its lists. */
  readonly pageSize?: number;
}

export interface Histories {
  /** Informers by name. */
  readonly scopes: Record<string, Scope>;
  readonly commits: Commit[];
  readonly wire: WireRecord[];
  readonly applied: AppliedRecord[];
  readonly restarts: RestartRecord[];
  readonly delivered: DeliveredRecord[];
  readonly faults: FaultRecord[];
  readonly reports: ReportRecord[];
  readonly snapshots: SnapshotRecord[];
  readonly gauges: GaugeRecord[];
  readonly scrapes: ScrapeRecord[];
}

export function emptyHistories(): Histories {
  const lists = { commits: [], wire: [], applied: [], restarts: [], delivered: [], faults: [] };
  return { scopes: {}, ...lists, reports: [], snapshots: [], gauges: [], scrapes: [] };
}
