/**
 * The rules of lists. A paged list: page after page, at the same version, and the recovery when a server has lost the
 * version or the token. A streaming list: a watch that begins with every object.
 */
import { DeltaKind } from '../../shared/record/delta.ts';
import { healthy } from '../../base/backoff.ts';
import { noListProgress } from './failure.ts';
import type { Effect, Failure, Memory, Progress, ReflectorEvent, State, Step } from './state.ts';
import {
  abort,
  accepted,
  after,
  backOff,
  control,
  fullList,
  isFirstUnauthorized,
  isVeryShort,
  list,
  replaced,
  report,
  reports,
  requestPage,
  stay,
  stream,
  watch,
} from './transitions.ts';

type Listing = Extract<State, { kind: 'listing' }>;
type Page = Extract<ReflectorEvent, { type: 'page' }>;

export function stepListing(state: Listing, event: ReflectorEvent, now: number): Step {
  switch (event.type) {
    case 'opened':
      return opened(state);
    case 'page':
      return pageRead(state, event, now);
    case 'failed':
      return listFailed(state, event.failure, now);
    default:
      return stay(state);
  }
}

function opened(state: Listing): Step {
  const phase: Effect = { type: 'phase', phase: 'listing' };
  const memory = accepted(state.memory);
  if (state.list.isReplacing) return { state: { ...state, memory }, effects: [phase] };
  const begun = { ...memory, epoch: memory.epoch + 1 };
  return {
    state: { kind: 'listing', memory: begun, list: { ...state.list, isReplacing: true } },
    effects: [phase, control(DeltaKind.ReplaceBegin, begun)],
  };
}

function pageRead(state: Listing, page: Page, now: number): Step {
  const { memory, list: progress } = state;
  // An inconsistent continuation gives later pages another version, which is too new for the first page.
  const version = progress.continueToken === '' ? page.resourceVersion : progress.listVersion;
  if (page.continueToken === '') {
    const end = control(DeltaKind.ReplaceEnd, memory, version);
    return after([end], watch(replaced(memory, version)));
  }
  const { continueToken, anchorToken, pages } = progress;
  if (page.continueToken === continueToken || page.continueToken === anchorToken) {
    return listFailed(state, noListProgress(), now);
  }
  const isPaginated = memory.isPaginated || progress.requestedVersion === '0';
  return requestPage(
    { ...memory, isPaginated },
    {
      ...progress,
      listVersion: version,
      continueToken: page.continueToken,
      pages: pages + 1,
      anchorToken: isPowerOfTwo(pages + 1) ? page.continueToken : anchorToken,
    },
  );
}

/** Selects the tokens to keep: Brent's algorithm finds a cycle of any length with a single token in memory. */
function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}

function listFailed(state: Listing, failure: Failure, now: number): Step {
  const { memory, list: progress } = state;
  if (isFirstUnauthorized(memory, failure)) {
    // The pages so far are good: request only this page again.
    return after([{ type: 'close' }], requestPage({ ...memory, isUnauthorized: true }, progress));
  }
  const ending: Effect[] = [{ type: 'close' }, ...abort(progress.isReplacing, memory)];
  const isUnavailable = failure.kind === 'expired' || failure.kind === 'too-large';
  if (failure.kind === 'expired' && progress.continueToken !== '' && !progress.isFullList) {
    return after(ending, fullList(memory, progress.requestedVersion));
  }
  if (isUnavailable && !memory.isUnavailable && progress.requestedVersion !== '') {
    return after(ending, list({ ...memory, isUnavailable: true }));
  }
  return after([report(failure), ...ending], backOff(memory, 'sync', failure, now));
}

type Streaming = Extract<State, { kind: 'streaming-list' }>;

/**
 * The number of interrupted streaming lists in a row after which a paged list is tried: it is more likely to
 * complete.
 */
export const EARLY_CLOSES_MAX = 2;

export function stepStreamingList(state: Streaming, event: ReflectorEvent, now: number): Step {
  const memory = state.memory;
  switch (event.type) {
    case 'opened': {
      const begun = { ...accepted(memory), epoch: memory.epoch + 1 };
      return {
        state: { kind: 'streaming-list', memory: begun, isReplacing: true },
        effects: [{ type: 'phase', phase: 'streaming-list' }, control(DeltaKind.ReplaceBegin, begun)],
      };
    }
    case 'initial-events-end':
      return complete(memory, event.resourceVersion, now);
    case 'closed':
      return after(
        [...reports(event.error), ...abort(state.isReplacing, memory)],
        cutOff(memory, event.progress),
      );
    case 'failed':
      return streamFailed(state, event.failure, now);
    default:
      return stay(state);
  }
}

/** Ends the list; the same stream continues as the watch. */
function complete(memory: Memory, resourceVersion: string, now: number): Step {
  const synced = replaced(memory, resourceVersion);
  return {
    state: { kind: 'watching', memory: { ...synced, backoff: healthy(synced.backoff, now) } },
    effects: [control(DeltaKind.ReplaceEnd, memory, resourceVersion), { type: 'phase', phase: 'watching' }],
  };
}

function cutOff(memory: Memory, progress: Progress): Step {
  const earlyCloses = memory.earlyCloses + 1;
  const next = { ...memory, earlyCloses };
  return isVeryShort(progress) || earlyCloses >= EARLY_CLOSES_MAX ? list(next) : stream(next);
}

function streamFailed(state: Streaming, failure: Failure, now: number): Step {
  const { memory } = state;
  const ending: Effect[] = [{ type: 'close' }, ...abort(state.isReplacing, memory)];
  if (isFirstUnauthorized(memory, failure)) return after(ending, stream({ ...memory, isUnauthorized: true }));
  switch (failure.kind) {
    case 'unreachable':
    case 'too-many-requests':
    case 'unauthorized':
      return after([report(failure), ...ending], backOff(memory, 'sync', failure, now));
    case 'expired':
    case 'too-large':
      return after(ending, memory.isUnavailable ? list(memory) : stream({ ...memory, isUnavailable: true }));
    case 'malformed':
    case 'stalled':
    case 'no-end-bookmark':
      return after([report(failure), ...ending], list(memory));
    default:
      // An answer other than 200 is most likely a server without streaming lists. It is not reported: a real
      // problem also fails the list.
      return after(state.isReplacing ? [report(failure), ...ending] : ending, list(memory));
  }
}
