/**
 * The rules of list-and-watch, all of them and nothing else: one pure function from a state and an event
 * to the next state and what is to be done. client-go's rules, and where it is known to be weak, better
 * ones (no hot loops, no silent errors, a deadline for the end bookmark).
 */
import type { KubeloomError } from '../errors.ts';
import { DeltaKind } from '../record/delta.ts';
import { failed, healthy } from './backoff.ts';
import { noListProgress, veryShortWatch } from './failure.ts';
import {
  listQuery,
  listVersion,
  nextPageQuery,
  pageLimit,
  streamVersion,
  streamingListQuery,
  watchQuery,
} from './queries.ts';
import type {
  Effect,
  Failure,
  ListProgress,
  Memory,
  Progress,
  ReflectorEvent,
  State,
  Step,
} from './state.ts';

type Streaming = Extract<State, { kind: 'streaming-list' }>;
type Listing = Extract<State, { kind: 'listing' }>;
type Watching = Extract<State, { kind: 'watching' }>;
type Page = Extract<ReflectorEvent, { type: 'page' }>;

/** A watch that ends sooner and brought nothing is a failure, not a server that closes idle watches. */
export const SHORT_WATCH_MS = 1000;
/** After so many streaming lists in a row that were cut off, a list in pages is more likely to complete. */
export const EARLY_CLOSES_MAX = 2;

/** @param now milliseconds, monotonic */
export function step(state: State, event: ReflectorEvent, now: number): Step {
  if (state.kind === 'stopped') return stay(state);
  if (event.type === 'stop') return stop(state.memory);
  switch (state.kind) {
    case 'idle':
      return event.type === 'start' ? sync(state.memory) : stay(state);
    case 'streaming-list':
      return stepStreamingList(state, event, now);
    case 'listing':
      return stepListing(state, event, now);
    case 'watching':
      return stepWatching(state, event, now);
    default:
      if (event.type !== 'timer') return stay(state);
      return state.next === 'watch' ? watch(state.memory) : sync(state.memory);
  }
}

function stepStreamingList(state: Streaming, event: ReflectorEvent, now: number): Step {
  const memory = state.memory;
  switch (event.type) {
    case 'opened': {
      const begun = { ...memory, epoch: memory.epoch + 1 };
      return {
        state: { kind: 'streaming-list', memory: begun, isReplacing: true },
        effects: [{ type: 'phase', phase: 'streaming-list' }, control(DeltaKind.ReplaceBegin, begun)],
      };
    }
    case 'initial-events-end': {
      // The same stream goes on as the watch.
      const synced = replaced(memory, event.resourceVersion);
      return {
        state: { kind: 'watching', memory: { ...synced, backoff: healthy(synced.backoff, now) } },
        effects: [
          control(DeltaKind.ReplaceEnd, memory, event.resourceVersion),
          { type: 'phase', phase: 'watching' },
        ],
      };
    }
    case 'closed':
      return after(
        [...reports(event.error), ...abort(state.isReplacing, memory)],
        streamCutOff(memory, event.progress),
      );
    case 'failed':
      return streamFailed(state, event.failure, now);
    default:
      return stay(state);
  }
}

function streamCutOff(memory: Memory, progress: Progress): Step {
  const earlyCloses = memory.earlyCloses + 1;
  const next = { ...memory, earlyCloses };
  return isVeryShort(progress) || earlyCloses >= EARLY_CLOSES_MAX ? list(next) : stream(next);
}

function streamFailed(state: Streaming, failure: Failure, now: number): Step {
  const ending: Effect[] = [{ type: 'close' }, ...abort(state.isReplacing, state.memory)];
  const report: Effect = { type: 'report', during: failure.during, error: failure.error };
  switch (failure.kind) {
    case 'unreachable':
    case 'too-many-requests':
      return after([report, ...ending], backOff(state.memory, 'sync', failure, now));
    case 'expired':
    case 'too-large':
      return after(
        ending,
        state.memory.isUnavailable ? list(state.memory) : stream({ ...state.memory, isUnavailable: true }),
      );
    case 'malformed':
    case 'stalled':
    case 'no-end-bookmark':
      return after([report, ...ending], list(state.memory));
    default:
      // An answer other than 200 is most likely a server without streaming lists: no error, the list will
      // say if there is more to it.
      return after(state.isReplacing ? [report, ...ending] : ending, list(state.memory));
  }
}

function stepListing(state: Listing, event: ReflectorEvent, now: number): Step {
  switch (event.type) {
    case 'opened': {
      const phase: Effect = { type: 'phase', phase: 'listing' };
      if (state.list.isReplacing) return { state, effects: [phase] };
      const memory = { ...state.memory, epoch: state.memory.epoch + 1 };
      return {
        state: { kind: 'listing', memory, list: { ...state.list, isReplacing: true } },
        effects: [phase, control(DeltaKind.ReplaceBegin, memory)],
      };
    }
    case 'page':
      return pageRead(state, event, now);
    case 'failed':
      return listFailed(state, event.failure, now);
    default:
      return stay(state);
  }
}

function pageRead(state: Listing, page: Page, now: number): Step {
  const { memory, list } = state;
  // Of an inconsistent continuation the later pages have another one, and it is too new for the first.
  const version = list.continueToken === '' ? page.resourceVersion : list.listVersion;
  if (page.continueToken === '') {
    const end = control(DeltaKind.ReplaceEnd, memory, version);
    return after([end], watch(replaced(memory, version)));
  }
  if (page.continueToken === list.continueToken) return listFailed(state, noListProgress(), now);
  const isPaginated = memory.isPaginated || list.requestedVersion === '0';
  return {
    state: {
      kind: 'listing',
      memory: { ...memory, isPaginated },
      list: { ...list, listVersion: version, continueToken: page.continueToken },
    },
    effects: [{ type: 'list', query: nextPageQuery(memory.spec.query, list.limit, page.continueToken) }],
  };
}

function listFailed(state: Listing, failure: Failure, now: number): Step {
  const { memory, list: progress } = state;
  const ending: Effect[] = [{ type: 'close' }, ...abort(progress.isReplacing, memory)];
  const isUnavailable = failure.kind === 'expired' || failure.kind === 'too-large';
  if (failure.kind === 'expired' && progress.continueToken !== '' && !progress.isFullList) {
    return after(ending, fullList(memory, progress.requestedVersion));
  }
  if (isUnavailable && !memory.isUnavailable && progress.requestedVersion !== '') {
    return after(ending, list({ ...memory, isUnavailable: true }));
  }
  const report: Effect = { type: 'report', during: failure.during, error: failure.error };
  return after([report, ...ending], backOff(memory, 'sync', failure, now));
}

function stepWatching(state: Watching, event: ReflectorEvent, now: number): Step {
  const memory = state.memory;
  switch (event.type) {
    case 'opened':
      return {
        state: { kind: 'watching', memory: { ...memory, backoff: healthy(memory.backoff, now) } },
        effects: [{ type: 'phase', phase: 'watching' }],
      };
    case 'closed': {
      const seen = advanced(memory, event.progress);
      if (isVeryShort(event.progress)) {
        const failure = veryShortWatch(event.error);
        return after(reports(failure.error), backOff(seen, 'sync', failure, now));
      }
      const isTorn = event.error !== undefined;
      const malformedAt = isTorn ? seen.malformedAt : undefined;
      return after(reports(event.error), watch({ ...seen, malformedAt }));
    }
    case 'failed':
      return watchFailed(advanced(memory, event.progress), event.failure, now);
    default:
      return stay(state);
  }
}

function watchFailed(memory: Memory, failure: Failure, now: number): Step {
  const ending: Effect[] = [
    { type: 'report', during: failure.during, error: failure.error },
    { type: 'close' },
  ];
  switch (failure.kind) {
    case 'unreachable':
    case 'too-many-requests':
      return after(ending, backOff(memory, 'watch', failure, now));
    case 'stalled':
      return after(ending, watch(memory));
    case 'malformed':
      return after(ending, malformedEvent(memory, failure, now));
    default:
      return after(ending, backOff(memory, 'sync', failure, now));
  }
}

/**
 * The first time the line may have been damaged on its way: ask again. A second time at the same position
 * it is what the server has, and only a list leads past it. Further ones elsewhere wait, or a server that
 * damages every event would be asked again for each.
 */
function malformedEvent(memory: Memory, failure: Failure, now: number): Step {
  const next = { ...memory, malformedAt: memory.resourceVersion };
  if (memory.malformedAt === undefined) return watch(next);
  const isSamePosition = memory.malformedAt === memory.resourceVersion;
  return backOff(next, isSamePosition ? 'sync' : 'watch', failure, now);
}

function sync(memory: Memory): Step {
  return memory.spec.watchList === 'auto' ? stream(memory) : list(memory);
}

function stream(memory: Memory): Step {
  const version = streamVersion(memory.resourceVersion, memory.isUnavailable);
  return {
    state: { kind: 'streaming-list', memory, isReplacing: false },
    effects: [CONNECTING, { type: 'watch', query: streamingListQuery(memory.spec.query, version) }],
  };
}

function list(memory: Memory): Step {
  const version = listVersion(memory.resourceVersion, memory.isUnavailable);
  return listFrom(memory, version, pageLimit(version, memory.spec.pageSize, memory.isPaginated), false);
}

/** One list of everything, after the pages of another one have expired. */
function fullList(memory: Memory, version: string): Step {
  return listFrom(memory, version, 0, true);
}

function listFrom(memory: Memory, requestedVersion: string, limit: number, isFullList: boolean): Step {
  const progress: ListProgress = {
    requestedVersion,
    limit,
    continueToken: '',
    listVersion: '',
    isReplacing: false,
    isFullList,
  };
  return {
    state: { kind: 'listing', memory, list: progress },
    effects: [CONNECTING, { type: 'list', query: listQuery(memory.spec.query, requestedVersion, limit) }],
  };
}

function watch(memory: Memory): Step {
  return {
    state: { kind: 'watching', memory },
    effects: [CONNECTING, { type: 'watch', query: watchQuery(memory.spec.query, memory.resourceVersion) }],
  };
}

function backOff(memory: Memory, next: 'sync' | 'watch', failure: Failure, now: number): Step {
  const { backoff, baseMs } = failed(memory.backoff, memory.spec, now);
  return {
    state: { kind: 'backing-off', memory: { ...memory, backoff }, next },
    effects: [
      { type: 'phase', phase: 'backing-off' },
      { type: 'wait', delay: { baseMs, atLeastMs: failure.retryAfterMs } },
    ],
  };
}

function stop(memory: Memory): Step {
  const detach = control(DeltaKind.Detach, memory);
  return {
    state: { kind: 'stopped' },
    effects: [{ type: 'close' }, detach, { type: 'phase', phase: 'stopped' }, { type: 'stopped' }],
  };
}

const CONNECTING: Effect = { type: 'phase', phase: 'connecting' };

/** A whole collection was read. */
function replaced(memory: Memory, resourceVersion: string): Memory {
  return { ...memory, resourceVersion, isUnavailable: false, earlyCloses: 0 };
}

function advanced(memory: Memory, progress: Progress | undefined): Memory {
  const resourceVersion = progress?.resourceVersion ?? '';
  return resourceVersion === '' ? memory : { ...memory, resourceVersion };
}

function isVeryShort(progress: Progress): boolean {
  return progress.durationMs < SHORT_WATCH_MS && progress.events === 0;
}

function abort(isReplacing: boolean, memory: Memory): Effect[] {
  return isReplacing ? [control(DeltaKind.ReplaceAbort, memory)] : [];
}

function reports(error: KubeloomError | undefined): Effect[] {
  return error ? [{ type: 'report', during: 'watch', error }] : [];
}

function control(kind: DeltaKind, memory: Memory, resourceVersion = ''): Effect {
  return { type: 'control', kind, epoch: memory.epoch, resourceVersion };
}

function after(effects: readonly Effect[], next: Step): Step {
  return { state: next.state, effects: [...effects, ...next.effects] };
}

function stay(state: State): Step {
  return { state, effects: [] };
}
