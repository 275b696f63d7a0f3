/**
 * What a reflector can be doing, what can happen to it and what it can want done: data only. `step.ts`
 * and its parts say how they hang together, `reflector.ts` carries the effects out.
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
 * Objects do not pass through here: at full rate that would be one allocation each. What they change is a
 * count and a resourceVersion, which the reflector keeps and hands in with the next event (`Progress`).
 */
import type { KubeloomError } from '../errors.ts';
import type { DeltaKind } from '../record/delta.ts';
import type { Query, ReflectorPhase, ReflectorSpec, ResumePosition } from '../threads/protocol.ts';
import { NO_FAILURES } from './backoff.ts';
import type { Backoff, Delay } from './backoff.ts';
import type { RetryWindow } from './retry-window.ts';

/** What outlives the single list and the single watch. */
export interface Memory {
  readonly spec: ReflectorSpec;
  /** The last one whose events are all in the rings; '' before the first list. */
  readonly resourceVersion: string;
  /** The server said that it cannot serve that version (expired, or too new for it): ask for ''. */
  readonly isUnavailable: boolean;
  /** A list at "0" came in pages: there is no cache in front of etcd, so always ask for pages. */
  readonly isPaginated: boolean;
  /** Of the last list: the position is still there when nothing has come since. */
  readonly listedVersion: string;
  /** How many watches in a row have expired before anything came. */
  readonly expiredWatches: number;
  /** Of the last ReplaceBegin. */
  readonly epoch: number;
  readonly backoff: Backoff;
  /** How many streaming lists in a row the server closed before they were complete. */
  readonly earlyCloses: number;
  /** Where the last malformed event was met: the resourceVersion before it. */
  readonly malformedAt: string | undefined;
  /** Internal errors of watches since the last list, while they are answered at once. */
  readonly internalErrors: RetryWindow | undefined;
  /** The server has refused our credentials, and the next request has fresh ones. */
  readonly isRefused: boolean;
}

/** One list: its first page's request and how far it has come. */
export interface ListProgress {
  /** What the first page asked for. */
  readonly requestedVersion: string;
  readonly limit: number;
  /** Of the page that is being read; '' on the first. */
  readonly continueToken: string;
  /** Pages that have been read, and the token of one of them: a server that sends it again goes in circles. */
  readonly pages: number;
  readonly anchorToken: string;
  /** The first page's: it holds for all of them. */
  readonly listVersion: string;
  /** ReplaceBegin was sent, so that ReplaceEnd or ReplaceAbort must follow. */
  readonly isReplacing: boolean;
  /** Expired continuations are answered by one list without a limit, once. */
  readonly isFullList: boolean;
}

export type State =
  /** Begins with a list; with the watch, where a predecessor was; with a list, after aborting a predecessor's. */
  | { readonly kind: 'idle'; readonly memory: Memory; readonly first: 'sync' | 'watch' | 'abort' }
  | { readonly kind: 'streaming-list'; readonly memory: Memory; readonly isReplacing: boolean }
  | { readonly kind: 'listing'; readonly memory: Memory; readonly list: ListProgress }
  | { readonly kind: 'watching'; readonly memory: Memory }
  /** `sync` begins with a new list, `watch` goes on where the last watch ended. */
  | { readonly kind: 'backing-off'; readonly memory: Memory; readonly next: 'sync' | 'watch' }
  | { readonly kind: 'stopped' };

/** How far a watch has come. */
export interface Progress {
  /** The last one whose events are all in the rings, or what the watch was asked for. */
  readonly resourceVersion: string;
  /** Complete events, bookmarks included. */
  readonly events: number;
  /** Since the response began. */
  readonly durationMs: number;
}

export type FailureKind =
  /** 410, as the answer or as an ERROR event. */
  | 'expired'
  /** The server has not seen that resourceVersion yet. */
  | 'too-large'
  /** Nothing was reached: connection refused, or no credentials. The server may still know our position. */
  | 'unreachable'
  | 'too-many-requests'
  /** 401: the credentials were not accepted. */
  | 'unauthorized'
  /** An ERROR event about something inside the server, which may be over at once. */
  | 'internal-error'
  /** Not JSON, or not a watch event. */
  | 'malformed'
  /** Events from before what the server had told completely: its history is another one. */
  | 'went-back'
  /** No byte for longer than the server promised. */
  | 'stalled'
  /** A streaming list without its end bookmark: the server seems not to know what was asked for. */
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
  /** The backoff is over. */
  | { readonly type: 'timer' }
  /** The request was answered with 200; the body follows. */
  | { readonly type: 'opened' }
  /** A page of a list is complete. */
  | { readonly type: 'page'; readonly resourceVersion: string; readonly continueToken: string }
  | { readonly type: 'initial-events-end'; readonly resourceVersion: string }
  /** The response of a watch ended; with an error the connection was torn. */
  | { readonly type: 'closed'; readonly progress: Progress; readonly error?: KubeloomError }
  | { readonly type: 'failed'; readonly failure: Failure; readonly progress?: Progress }
  /** A list at the version of the streaming list has something else in it. */
  | { readonly type: 'inconsistent'; readonly error: KubeloomError };

export type Effect =
  /** With `isRefused` the credentials must be other ones than before. */
  | { readonly type: 'list'; readonly query: Query; readonly isRefused: boolean }
  | { readonly type: 'watch'; readonly query: Query; readonly isRefused: boolean }
  /** Nothing more of the request in progress is wanted. */
  | { readonly type: 'close' }
  | {
      readonly type: 'control';
      readonly kind: DeltaKind;
      readonly epoch: number;
      readonly resourceVersion: string;
    }
  | { readonly type: 'wait'; readonly delay: Delay }
  /** Compare what was streamed with a list at exactly this version, beside the watch. */
  | { readonly type: 'check'; readonly resourceVersion: string }
  /** What was to be compared is out of date. */
  | { readonly type: 'abandon-check' }
  | { readonly type: 'report'; readonly during: Failure['during']; readonly error: KubeloomError }
  | { readonly type: 'phase'; readonly phase: ReflectorPhase }
  | { readonly type: 'stopped' };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** @param resume where the reflector had come to in whose place this one is */
export function initialState(spec: ReflectorSpec, resume?: ResumePosition): State {
  return {
    kind: 'idle',
    first: firstOf(resume),
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
      isRefused: false,
    },
  };
}

function firstOf(resume: ResumePosition | undefined): 'sync' | 'watch' | 'abort' {
  if (resume?.isReplacing) return 'abort';
  return resume === undefined || resume.resourceVersion === '' ? 'sync' : 'watch';
}
