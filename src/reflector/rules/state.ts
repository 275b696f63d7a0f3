/**
 * The states of a reflector, the events that it handles and the effects that it asks for: data only. `step.ts` and
 * the `step-*.ts` files hold the rules; `list-watch-session.ts` carries the effects out.
 *
 * ```
 *           ┌──────────────────────────── failed ───────────────────────────┐
 *           ▼                                                               │
 *  idle ─► streaming-list ── end bookmark ─────────────► watching ◄─┐       │
 *           │ not supported, cut off twice                 ▲   │ └──┘       │
 *           ▼                                              │   │ closed     │
 *          listing ── last page, ReplaceEnd ───────────────┘   │            │
 *           │                                                  ▼            │
 *           └────────────────── failed ────────────────► backing-off ───────┘
 * ```
 *
 * Objects are no events: at full rate each would cost an allocation. They change a count and a
 * resourceVersion, which the reflector keeps and passes in with the next event (`Progress`).
 */
import type { KubeloomError } from '../../base/errors.ts';
import type { DeltaKind } from '../../shared/record/delta.ts';
import type { ReflectorPhase, ReflectorSpec, ResumePosition } from '../../shared/protocol.ts';
import type { Query } from '../../kube/connection-options.ts';
import { NO_FAILURES } from '../../base/backoff.ts';
import type { Backoff, Delay, RetryWindow } from '../../base/backoff.ts';

/** The data that outlives a single list or watch. */
export interface Memory {
  readonly spec: ReflectorSpec;
  /** The last version whose events are all in the rings; '' before the first list. */
  readonly resourceVersion: string;
  /** The server cannot serve that version (expired, or too new for it): ask for ''. */
  readonly isUnavailable: boolean;
  /** A list at "0" came in pages: there is no cache in front of etcd, so always ask for pages. */
  readonly isPaginated: boolean;
  /** The version of the last list; equal to `resourceVersion` while no event has come since. */
  readonly listedVersion: string;
  /** The number of watches in a row that expired before their first event. */
  readonly expiredWatches: number;
  /** The epoch of the last ReplaceBegin. */
  readonly epoch: number;
  readonly backoff: Backoff;
  /** The number of streaming lists in a row that the server closed before they were complete. */
  readonly earlyCloses: number;
  /** The resourceVersion before the last malformed event. */
  readonly malformedAt: string | undefined;
  /** The retries of internal errors of watches since the last list. */
  readonly internalErrors: RetryWindow | undefined;
  /** The server has refused our credentials; the next request needs fresh credentials. */
  readonly isUnauthorized: boolean;
}

/** A list: the request of the first page, and the progress. */
export interface ListProgress {
  /** The version in the request of the first page. */
  readonly requestedVersion: string;
  readonly limit: number;
  /** The token of the page that is being read; '' on the first. */
  readonly continueToken: string;
  /**
   * The number of pages read, and the token of a page: a server that sends the token again repeats pages.
   */
  readonly pages: number;
  readonly anchorToken: string;
  /** The version of the first page, which holds for all of them. */
  readonly listVersion: string;
  /** ReplaceBegin was sent, so ReplaceEnd or ReplaceAbort must follow. */
  readonly isReplacing: boolean;
  /** The list has no limit: it replaces a list whose continuation expired. There is a single such attempt. */
  readonly isFullList: boolean;
}

export type State =
  | { readonly kind: 'idle'; readonly memory: Memory }
  | { readonly kind: 'streaming-list'; readonly memory: Memory; readonly isReplacing: boolean }
  | { readonly kind: 'listing'; readonly memory: Memory; readonly list: ListProgress }
  | { readonly kind: 'watching'; readonly memory: Memory }
  /** `sync` begins with a new list, `watch` resumes where the last watch ended. */
  | { readonly kind: 'backing-off'; readonly memory: Memory; readonly next: 'sync' | 'watch' }
  | { readonly kind: 'stopped' };

export interface Progress {
  /** The last version whose events are all in the rings; at first the version of the request. */
  readonly resourceVersion: string;
  /** Complete events, bookmarks included. */
  readonly events: number;
  readonly durationMs: number;
}

export type FailureKind =
  /** 410, as the answer or as an ERROR event. */
  | 'expired'
  /** The server has not seen that resourceVersion yet. */
  | 'too-large'
  /** No server answered: connection refused, or no credentials. The server may still have our position. */
  | 'unreachable'
  | 'too-many-requests'
  /** 401: the server did not accept the credentials. */
  | 'unauthorized'
  /** An ERROR event about an internal error of the server, which may be temporary. */
  | 'internal-error'
  /** Not JSON, or not a watch event. */
  | 'malformed'
  /** Events older than a position that the server had completed: the server's history is a different history. */
  | 'went-back'
  /** No byte for longer than the limit. */
  | 'stalled'
  /** A streaming list without the end bookmark: the server probably lacks streaming lists. */
  | 'no-end-bookmark'
  | 'other';

export interface Failure {
  readonly kind: FailureKind;
  readonly during: 'list' | 'watch' | 'decode';
  readonly error: KubeloomError;
  /** The server's Retry-After, or 0. */
  readonly retryAfterMs: number;
}

export type ReflectorEvent =
  | { readonly type: 'start' }
  | { readonly type: 'stop' }
  /** The delay of the backoff has ended. */
  | { readonly type: 'timer' }
  /** The response has status 200; the body follows. */
  | { readonly type: 'opened' }
  | { readonly type: 'page'; readonly resourceVersion: string; readonly continueToken: string }
  | { readonly type: 'initial-events-end'; readonly resourceVersion: string }
  /** The response of a watch ended; with an error, the connection broke. */
  | { readonly type: 'closed'; readonly progress: Progress; readonly error?: KubeloomError }
  | { readonly type: 'failed'; readonly failure: Failure; readonly progress?: Progress };

export type Effect =
  /** `isUnauthorized`: the credentials must differ from the previous credentials. */
  | { readonly type: 'list' | 'watch'; readonly query: Query; readonly isUnauthorized: boolean }
  | { readonly type: 'close' }
  | {
      readonly type: 'control';
      readonly kind: DeltaKind;
      readonly epoch: number;
      readonly resourceVersion: string;
    }
  | { readonly type: 'wait'; readonly delay: Delay }
  | { readonly type: 'report'; readonly during: Failure['during']; readonly error: KubeloomError }
  | { readonly type: 'phase'; readonly phase: ReflectorPhase }
  | { readonly type: 'stopped' };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** @param resume the position of the cache, if an earlier reflector has filled it */
export function initialState(spec: ReflectorSpec, resume?: ResumePosition): State {
  return {
    kind: 'idle',
    memory: {
      spec,
      resourceVersion: resume?.resourceVersion ?? '',
      isUnavailable: false,
      isPaginated: false,
      listedVersion: '',
      expiredWatches: 0,
      epoch: resume?.epoch ?? 0,
      backoff: NO_FAILURES,
      earlyCloses: 0,
      malformedAt: undefined,
      internalErrors: undefined,
      isUnauthorized: false,
    },
  };
}
