/**
 * What was seen of one run over one collection, from every vantage point. Plain data: a run that fails is
 * written down and judged again elsewhere.
 *
 *   server ── commits ──► wire ── requests, what was sent ──► shards ── applied ──► handlers ── told
 *     truth                  what the client could know        what was made of it    what users saw
 *
 * All times are milliseconds of one clock, which may be a virtual one. Revisions are numbers: servers under
 * test count from small ones.
 */

/** H1: the server's log. The truth that everything else is compared with. */
export interface Commit {
  readonly revision: number;
  readonly type: ChangeType;
  readonly key: string;
  readonly at?: number;
  /** What is undefined was not recorded, and nothing that needs it is checked. */
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** `bodyHash` of the object as it is sent; of a deletion with the version of the deletion. */
  readonly hash?: string;
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** H2: what went over the wire, for each connection (one request has one). */
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
  /** The state that an answer to a list, or a streaming list up to its end bookmark, is of. */
  | { readonly what: 'listed'; readonly connection: number; readonly at?: number; readonly revision: number }
  /** One whole line of a watch. */
  | {
      readonly what: 'sent';
      readonly connection: number;
      readonly at?: number;
      readonly type: ChangeType | 'BOOKMARK' | 'ERROR';
      readonly revision: number;
      readonly key?: string;
      /** Made up for a streaming list: no version of the history. */
      readonly isInitial?: boolean;
      /** The fault that put it there: it is not what a server should send. */
      readonly fault?: string;
    }
  | {
      readonly what: 'closed';
      readonly connection: number;
      readonly at?: number;
      readonly why: string;
      readonly fault?: string;
    };

/** H3: what a shard put into its ring to the main thread. */
export interface AppliedRecord {
  readonly shard: number;
  /** Of the notification: counted by the reflector, modulo 2^32. */
  readonly sequence: number;
  /** Of the shard: another one begins when it was replaced. */
  readonly incarnation: number;
  readonly kind: string;
}

/** H4: what one handler was told. */
export type ToldRecord = RegisteredRecord | ChangeRecord | StepRecord;

export interface RegisteredRecord {
  readonly kind: 'registered';
  readonly handler: string;
  readonly informer: string;
  readonly at?: number;
  /** The version of the cache then; 0 before the first list. */
  readonly revision: number;
}

export interface ChangeRecord {
  readonly kind: 'add' | 'update' | 'delete';
  readonly handler: string;
  readonly at?: number;
  readonly key: string;
  readonly revision: number;
  /** Of the old object of an update. */
  readonly oldRevision?: number;
  readonly uid?: string;
  readonly isInInitialList?: boolean;
  readonly finalStateUnknown?: boolean;
  /** `bodyHash` of `bytes()`, and of what `object` is when it is written as JSON again. */
  readonly hash?: string;
  readonly objectHash?: string;
  /** What the cache had under this key in the call; null when nothing. */
  readonly cached?: number | null;
  /** Whether all indices agreed with that. */
  readonly isIndexed?: boolean;
}

export interface StepRecord {
  /** `synced`: `registration.hasSynced()` was true for the first time. `removed`: it may be told no more. */
  readonly kind: 'synced' | 'removed';
  readonly handler: string;
  readonly at?: number;
}

/** F: what was done to the run on purpose. */
export interface FaultRecord {
  readonly id: string;
  readonly kind: string;
  readonly at?: number;
  /** Undefined while it has not happened: a fault that never lands proves nothing. */
  readonly landedAt?: number;
  readonly healedAt?: number;
  /** One of these codes must be reported after it has landed. Empty or absent: none has to be. */
  readonly codes?: readonly string[];
}

/** An error that reached somebody: `onError`, a warning of the process. */
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
  /** In the order of `list()`. */
  readonly objects: readonly SnapshotObject[];
  /** Index → value → keys. */
  readonly indices?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  /** The last one of a run that has come to rest. */
  readonly isFinal?: boolean;
}

export interface SnapshotObject {
  readonly key: string;
  readonly revision: number;
  readonly uid?: string;
  readonly hash?: string;
  /** What it must be found by: index → values. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
}

/** A queue, and what it may hold. */
export interface GaugeRecord {
  readonly at?: number;
  readonly name: string;
  readonly value: number;
  readonly bound: number;
}

/** What an informer was asked to select. */
export interface Scope {
  readonly namespace?: string;
  /** All of these labels, with these values. */
  readonly labels?: Readonly<Record<string, string>>;
  /** It was told to list in pages of so many, always. */
  readonly pageSize?: number;
}

export interface Histories {
  /** Informers by name. */
  readonly scopes: Record<string, Scope>;
  readonly commits: Commit[];
  readonly wire: WireRecord[];
  readonly applied: AppliedRecord[];
  readonly told: ToldRecord[];
  readonly faults: FaultRecord[];
  readonly reports: ReportRecord[];
  readonly snapshots: SnapshotRecord[];
  readonly gauges: GaugeRecord[];
}

export function emptyHistories(): Histories {
  return {
    scopes: {},
    commits: [],
    wire: [],
    applied: [],
    told: [],
    faults: [],
    reports: [],
    snapshots: [],
    gauges: [],
  };
}
