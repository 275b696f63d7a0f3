/** The record of one window of a soak, which the judge reads: plain data. */
import type { Notification } from '../../src/tools/loadtest/watch/recording-handler.ts';
import type { Line } from '../e2e/members/history.ts';
import type { FaultName } from './faults.ts';

/** The kinds that the program watches. Their server answers a deletion with its version. */
export const KIND_NAMES = ['podTemplates', 'serviceAccounts', 'services'] as const;
export type KindName = (typeof KIND_NAMES)[number];
/** The kinds that are written: the members divide the ConfigMaps among them. */
export const WRITTEN_KINDS = [...KIND_NAMES, 'configMaps'] as const;
export type WrittenKind = (typeof WRITTEN_KINDS)[number];

/** Keys, `namespace/name`, with the version of each object. */
export type State = ReadonlyMap<string, number>;

/** A write that the server has made, as its answer says or as a read after a missing answer. */
export interface MadeWrite {
  readonly kind: WrittenKind;
  readonly change: 'create' | 'update' | 'delete';
  readonly key: string;
  readonly uid: string;
  /** 0: unknown, of a deletion whose answer was lost, or contains no version. */
  readonly version: number;
  /** Times of the request and of its answer or failure, on the clock that the processes of a machine share. */
  readonly sentMs: number;
  readonly endedMs: number;
  /** Time of the answer, or of the read that shows that the write was made. */
  readonly atMs: number;
}

/** The notifications of one handler in the window, from its initial list on. */
export interface HandlerRecord {
  readonly name: string;
  readonly kind: KindName;
  readonly notifications: readonly Notification[];
  /** Whether its informer listed in the window. */
  readonly isRelisted: boolean;
  /** The cache at the end. */
  readonly state: State;
}

export interface Report {
  readonly from: string;
  readonly code: string;
  readonly message: string;
}

/** Requests to the health door. */
export interface Scrape {
  /** HTTP status by path; 0 without an answer. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Counters by series. */
  readonly counters: ReadonlyMap<string, number>;
}

/** Counts and figures of the program at the end of a window, when everything is at rest. */
export interface Rest {
  /** Figures that no gate judges. */
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly descriptors: number;
  /** Threads of the program that run. */
  readonly threads: number;
  /** Listeners of the process, and handlers of informers. */
  readonly listeners: number;
  /** Handlers of earlier windows that are no garbage. */
  readonly handlersHeld: number;
}

export interface WindowRecord {
  readonly index: number;
  readonly faults: readonly FaultName[];
  /** Faults that did not strike. */
  readonly missed: readonly string[];
  /** The server's objects before the first and after the last write. */
  readonly before: Readonly<Record<KindName, State>>;
  readonly after: Readonly<Record<KindName, State>>;
  readonly writes: readonly MadeWrite[];
  readonly handlers: readonly HandlerRecord[];
  /** Lines of the members, and what the judge still needs of earlier windows. */
  readonly group: readonly Line[];
  /** Lines of the threads of the pool. */
  readonly pool: readonly Line[];
  readonly reports: readonly Report[];
  readonly scrapes: readonly Scrape[];
  /** Parts that came to no rest, each with an example. */
  readonly behind: Readonly<Record<string, string>>;
  readonly rest: Rest;
}
