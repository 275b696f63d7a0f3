/** The rules of the watch: when to resume where it ended, and when a list is needed. */
import { healthy, retriedAt } from '../../base/backoff.ts';
import { expiredLoop, veryShortWatch } from './failure.ts';
import type { Effect, Failure, Memory, Progress, ReflectorEvent, State, Step } from './state.ts';
import {
  accepted,
  after,
  backOff,
  isFirstUnauthorized,
  isVeryShort,
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
  if (isFirstUnauthorized(memory, failure)) {
    return after([{ type: 'close' }], watch({ ...memory, isUnauthorized: true }));
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
      // The position of such a server is unknown, so list the most recent state.
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
 * Lists after an expired watch. A server that refuses the version it has just listed would be listed without
 * end. From the second time on the delay grows twice as fast, and the failure is reported.
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

/** Retries at once within the informer's window, then as after any other failure. */
function internalError(memory: Memory, failure: Failure, now: number): Step {
  const maxMs = memory.spec.maxInternalErrorRetryDurationMs ?? 0;
  const { window, isOpen } = retriedAt(memory.internalErrors, maxMs, now);
  const next = { ...memory, internalErrors: window };
  return isOpen ? watch(next) : backOff(next, 'sync', failure, now);
}

/**
 * Retries after a malformed event, because the line may have been damaged on its way. The second time at the
 * same position the server itself stores it, and only a list leads past it. Further malformed events at other positions
 * wait, or a server that damages every event would receive a request for each.
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
