/** The rules of the watch: when to go on where it ended, and when only a list leads on. */
import { healthy } from './backoff.ts';
import { expiredLoop, veryShortWatch } from './failure.ts';
import { retriedAt } from './retry-window.ts';
import type { Effect, Failure, Memory, Progress, ReflectorEvent, State, Step } from './state.ts';
import {
  accepted,
  after,
  backOff,
  isFirstRefusal,
  isVeryShort,
  list,
  report,
  reports,
  stay,
  watch,
} from './transitions.ts';

const CLOSE: Effect = { type: 'close' };

type Watching = Extract<State, { kind: 'watching' }>;
type Closed = Extract<ReflectorEvent, { type: 'closed' }>;

export function stepWatching(state: Watching, event: ReflectorEvent, now: number): Step {
  const memory = state.memory;
  switch (event.type) {
    case 'opened': {
      const open = { ...accepted(memory), backoff: healthy(memory.backoff, now) };
      return {
        state: { kind: 'watching', memory: open },
        effects: [{ type: 'phase', phase: 'watching' }],
      };
    }
    case 'closed':
      return watchClosed(advanced(memory, event.progress), event, now);
    case 'failed':
      return watchFailed(advanced(memory, event.progress), event.failure, now);
    case 'inconsistent':
      // The most recent state, from where it is kept: a cache on the way may be what was wrong.
      return after([...reports(event.error), { type: 'close' }], list({ ...memory, isUnavailable: true }));
    default:
      return stay(state);
  }
}

function watchClosed(memory: Memory, { progress, error }: Closed, now: number): Step {
  if (isVeryShort(progress)) {
    const failure = veryShortWatch(error);
    return after(reports(failure.error), backOff(memory, 'sync', failure, now));
  }
  const malformedAt = error === undefined ? undefined : memory.malformedAt;
  return after(reports(error), watch({ ...memory, malformedAt }));
}

function watchFailed(memory: Memory, failure: Failure, now: number): Step {
  if (isFirstRefusal(memory, failure)) {
    return after([{ type: 'close' }], watch({ ...memory, isRefused: true }));
  }
  const ending: Effect[] = [report(failure), CLOSE];
  switch (failure.kind) {
    case 'unreachable':
    case 'too-many-requests':
      return after(ending, backOff(memory, 'watch', failure, now));
    case 'stalled':
      return after(ending, watch(memory));
    case 'malformed':
      return after(ending, malformedEvent(memory, failure, now));
    case 'went-back':
      // Where it stands is known to itself only.
      return after(ending, backOff({ ...memory, isUnavailable: true }, 'sync', failure, now));
    case 'expired':
      return expiredWatch(memory, failure, now);
    case 'internal-error':
      return after(ending, internalError(memory, failure, now));
    default:
      return after(ending, backOff(memory, 'sync', failure, now));
  }
}

/**
 * A server that refuses the very version that it has listed would be listed for ever: from the second time on the
 * wait grows twice as fast, and it is said what goes on.
 */
function expiredWatch(memory: Memory, failure: Failure, now: number): Step {
  const isLoop = memory.resourceVersion === memory.listedVersion && memory.expiredWatches > 0;
  const expiredWatches = isLoop ? memory.expiredWatches + 1 : 1;
  if (!isLoop) {
    return after([report(failure), CLOSE], backOff({ ...memory, expiredWatches }, 'sync', failure, now));
  }
  const backoff = { ...memory.backoff, failures: memory.backoff.failures + 1 };
  const loop = { ...failure, error: expiredLoop(expiredWatches, failure.error) };
  return after([report(loop), CLOSE], backOff({ ...memory, backoff, expiredWatches }, 'sync', failure, now));
}

/** Asked again at once as long as the informer has patience for it, then as any other failure. */
function internalError(memory: Memory, failure: Failure, now: number): Step {
  const maxMs = memory.spec.maxInternalErrorRetryDurationMs ?? 0;
  const { window, isOpen } = retriedAt(memory.internalErrors, maxMs, now);
  const next = { ...memory, internalErrors: window };
  return isOpen ? watch(next) : backOff(next, 'sync', failure, now);
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

function advanced(memory: Memory, progress: Progress | undefined): Memory {
  const resourceVersion = progress?.resourceVersion ?? '';
  return resourceVersion === '' ? memory : { ...memory, resourceVersion };
}
