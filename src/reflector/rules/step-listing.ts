/**
 * The rules of the list: page after page, at one version, and the recovery when a server has lost the
 * version or the token.
 */
import { DeltaKind } from '../../shared/record/delta.ts';
import { noListProgress } from './failure.ts';
import type { Effect, Failure, ReflectorEvent, State, Step } from './state.ts';
import {
  abort,
  accepted,
  after,
  backOff,
  control,
  fullList,
  isFirstRefusal,
  list,
  replaced,
  report,
  requestPage,
  stay,
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

/** Selects the tokens to keep: Brent's algorithm finds a cycle of any length with one token in memory. */
function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}

function listFailed(state: Listing, failure: Failure, now: number): Step {
  const { memory, list: progress } = state;
  if (isFirstRefusal(memory, failure)) {
    // The pages so far are good: request only this one again.
    return after([{ type: 'close' }], requestPage({ ...memory, isRefused: true }, progress));
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
