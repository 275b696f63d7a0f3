/**
 * Activity of a reflector: what it counts in shared memory because it is frequent, and what it sends as a message because
 * it is rare. Names of causes and reasons are the values of labels in docs/metrics.md.
 */
import { allocateCounters } from './counters.ts';

/** Places of the counters. Events of a watch have the numbers of the reflector's `WatchEventType`. */
export const ActivityCounter = {
  UnknownEvents: 0,
  AddedEvents: 1,
  ModifiedEvents: 2,
  DeletedEvents: 3,
  Bookmarks: 4,
  ErrorEvents: 5,
  ListBytes: 6,
  WatchBytes: 7,
  Nameless: 8,
  Unversioned: 9,
  Unexpected: 10,
  TooLarge: 11,
  OutOfOrder: 12,
  OtherShard: 13,
} as const;
export type ActivityCounter = (typeof ActivityCounter)[keyof typeof ActivityCounter];

/** Shared memory for the counters of an informer; successive reflectors keep them. */
export function allocateActivity(): SharedArrayBuffer {
  return allocateCounters(Object.keys(ActivityCounter).length);
}

/** Failure of a list or watch. `error`: any failure without a name. */
export type FailureReason =
  | 'expired'
  | 'too_large'
  | 'unreachable'
  | 'too_many_requests'
  | 'unauthorized'
  | 'internal_error'
  | 'malformed'
  | 'went_back'
  | 'silence'
  | 'no_end_bookmark'
  | 'error';

/** Reason for a list: the failure of the list or watch before it, or else a reason of this list. */
export type ListCause =
  | FailureReason
  | 'initial'
  /** The thread ended within a list; the successor begins a new list. */
  | 'restarted'
  /** The server refused a streaming list. */
  | 'unsupported'
  /** The server closed a streaming list before the end. */
  | 'cut_off'
  | 'short_watch';

/** End of a watch. `server`: the server closed it, as it does every few minutes. `torn`: the connection broke. */
export type WatchEnd = FailureReason | 'server' | 'short_watch' | 'torn' | 'stopped';

/**
 * Treatment of a shard selector by the server. `filtered`: the last list said so. `filtered-without-echo`: the last list
 * did not say so and contained no object of another shard. `ignored`: the server sent such an object since the last list began.
 */
export type ShardFilterSupport = 'filtered' | 'filtered-without-echo' | 'ignored';

/** Treatment of `drop=metadata.managedFields` in Accept headers by the server: it leaves them out, or sends them. */
export type ManagedFieldsSupport = 'dropped' | 'sent';

/** Mode of a list: a watch that begins with every object, or requests of pages. */
export type ListMode = 'stream' | 'pages';

export type Activity =
  /** A list ended. `result`: `ok`, `cut_off`, `stopped`, or the code of the error. */
  | {
      readonly kind: 'list';
      readonly mode: ListMode;
      readonly cause: ListCause;
      readonly result: string;
      readonly items: number;
      readonly bytes: number;
      readonly durationMs: number;
    }
  /** The server accepted a watch, or a streaming list is complete and continues as a watch. */
  | { readonly kind: 'watch-started' }
  | {
      readonly kind: 'watch';
      readonly reason: WatchEnd;
      readonly events: number;
      readonly durationMs: number;
    }
  /** The server proves to do something else with the shard selector than before. */
  | { readonly kind: 'shard-filtering'; readonly filtering: ShardFilterSupport }
  /** The server proves to do something else with managedFields than before. */
  | { readonly kind: 'managed-fields'; readonly support: ManagedFieldsSupport }
  /** A request was answered, or ended without an answer: the code is `<error>`, as in client-go. */
  | {
      readonly kind: 'request';
      readonly verb: 'LIST' | 'WATCH';
      readonly host: string;
      readonly code: string;
      /** Time until the head of the response. */
      readonly durationMs: number;
    };
