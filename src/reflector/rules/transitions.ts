/** The transitions that several states share: each returns the next state and the effects that begin it. */
import type { KubeloomError } from '../../base/errors.ts';
import { DeltaKind } from '../../shared/record/delta.ts';
import { failed } from '../../base/backoff.ts';
import {
  listQuery,
  listVersion,
  nextPageQuery,
  pageLimit,
  streamVersion,
  streamingListQuery,
  watchQuery,
} from '../../http/queries.ts';
import type { Effect, Failure, ListProgress, Memory, Progress, State, Step } from './state.ts';

/**
 * A watch that ends sooner and brought no event is a failure; later it is a server that closes idle watches.
 */
export const SHORT_WATCH_MS = 1000;

export function sync(memory: Memory): Step {
  return memory.spec.watchList === 'auto' ? stream(memory) : list(memory);
}

export function stream(memory: Memory): Step {
  const version = streamVersion(memory.resourceVersion, memory.isUnavailable);
  const query = streamingListQuery(memory.spec.query, version);
  return {
    state: { kind: 'streaming-list', memory, isReplacing: false },
    effects: [CONNECTING, { type: 'watch', query, isUnauthorized: memory.isUnauthorized }],
  };
}

export function list(memory: Memory): Step {
  const { resourceVersion, isUnavailable, spec } = memory;
  const version = listVersion(resourceVersion, isUnavailable, spec.initialList ?? 'any');
  return listFrom(memory, version, pageLimit(version, spec.pageSize, memory.isPaginated), false);
}

/** Lists everything in a single page after the pages of another list have expired. */
export function fullList(memory: Memory, version: string): Step {
  return listFrom(memory, version, 0, true);
}

function listFrom(memory: Memory, requestedVersion: string, limit: number, isFullList: boolean): Step {
  const progress: ListProgress = {
    requestedVersion,
    limit,
    continueToken: '',
    pages: 0,
    anchorToken: '',
    listVersion: '',
    isReplacing: false,
    isFullList,
  };
  return requestPage(memory, progress);
}

export function requestPage(memory: Memory, progress: ListProgress): Step {
  const { continueToken, limit, requestedVersion } = progress;
  const isFirst = continueToken === '';
  const query = isFirst
    ? listQuery(memory.spec.query, requestedVersion, limit)
    : nextPageQuery(memory.spec.query, limit, continueToken);
  const request: Effect = { type: 'list', query, isUnauthorized: memory.isUnauthorized };
  return {
    state: { kind: 'listing', memory, list: progress },
    effects: isFirst ? [CONNECTING, request] : [request],
  };
}

export function watch(memory: Memory): Step {
  const query = watchQuery(memory.spec.query, memory.resourceVersion);
  return {
    state: { kind: 'watching', memory },
    effects: [CONNECTING, { type: 'watch', query, isUnauthorized: memory.isUnauthorized }],
  };
}

export function backOff(memory: Memory, next: 'sync' | 'watch', failure: Failure, now: number): Step {
  const { backoff, baseMs } = failed(memory.backoff, memory.spec, now);
  return {
    state: { kind: 'backing-off', memory: { ...memory, backoff, isUnauthorized: false }, next },
    effects: [
      { type: 'phase', phase: 'backing-off' },
      { type: 'wait', delay: { baseMs, atLeastMs: failure.retryAfterMs } },
    ],
  };
}

/**
 * Returns whether to retry at once with fresh credentials: they expire, and their source renews them. A
 * second refusal in a row is a failure like any other.
 */
export function isFirstUnauthorized(memory: Memory, failure: Failure): boolean {
  return failure.kind === 'unauthorized' && !memory.isUnauthorized;
}

/** Records that the server accepted the credentials: a response has begun. */
export function accepted(memory: Memory): Memory {
  return memory.isUnauthorized ? { ...memory, isUnauthorized: false } : memory;
}

export function replaced(memory: Memory, resourceVersion: string): Memory {
  return {
    ...memory,
    resourceVersion,
    listedVersion: resourceVersion,
    isUnavailable: false,
    earlyCloses: 0,
    internalErrors: undefined,
  };
}

export function isVeryShort(progress: Progress): boolean {
  return progress.durationMs < SHORT_WATCH_MS && progress.events === 0;
}

const CONNECTING: Effect = { type: 'phase', phase: 'connecting' };

/** Returns the effects that end a list before it is complete. */
export function abort(isReplacing: boolean, memory: Memory): Effect[] {
  return isReplacing ? [control(DeltaKind.ReplaceAbort, memory)] : [];
}

export function report(failure: Failure): Effect {
  return { type: 'report', during: failure.during, error: failure.error };
}

export function reports(error: KubeloomError | undefined): Effect[] {
  return error ? [{ type: 'report', during: 'watch', error }] : [];
}

export function control(kind: DeltaKind, memory: Memory, resourceVersion = ''): Effect {
  return { type: 'control', kind, epoch: memory.epoch, resourceVersion };
}

export function after(effects: readonly Effect[], next: Step): Step {
  return { state: next.state, effects: [...effects, ...next.effects] };
}

export function stay(state: State): Step {
  return { state, effects: [] };
}
