/** The rules of the streaming list: a watch that begins with every object. */
import { DeltaKind } from '../../shared/record/delta.ts';
import { healthy } from './backoff.ts';
import type { Effect, Failure, Memory, Progress, ReflectorEvent, State, Step } from './state.ts';
import {
  abort,
  accepted,
  after,
  backOff,
  control,
  isFirstRefusal,
  isVeryShort,
  list,
  replaced,
  report,
  reports,
  stay,
  stream,
} from './transitions.ts';

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
  if (isFirstRefusal(memory, failure)) return after(ending, stream({ ...memory, isRefused: true }));
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
      // problem fails the list, too.
      return after(state.isReplacing ? [report(failure), ...ending] : ending, list(memory));
  }
}
