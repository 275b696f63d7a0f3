/**
 * Rules for a thread that may die, as a pure step. `supervisor.ts` performs the effects.
 *
 * ```
 *  running ── threw, exited, or quiet too long ────────► ending ── it ended ────► draining ─┐
 *     ▲                                                   │ it does not end                │ all it finished
 *     │                                                   ▼                                │ is merged
 *     └─────────────── replaced ◄───────────────── (too often: given-up) ◄─────────────────┘
 * ```
 */

export interface SupervisorLimits {
  /** Time without a heartbeat after which a thread is terminated and replaced. */
  readonly stallTimeoutMs: number;
  /** Replacements of a role within the window; the informers end at the next death. */
  readonly restartsMax: number;
  readonly restartWindowMs: number;
}

/** Heartbeats within `stallTimeoutMs`. Each wakes the thread, so their number is small for idle threads. */
const HEARTBEATS = 4;
/** The same period bounds the delay of a lost wake-up, so it is short even with a long `stallTimeoutMs`. */
const HEARTBEAT_MS_MAX = 1250;

/**
 * Returns the longest time between two heartbeats of a thread without work, and between two ticks of the supervisor. A
 * stalled thread is found within `stallTimeoutMs` plus this time.
 */
export function heartbeatMsOf(stallTimeoutMs: number): number {
  return Math.min(stallTimeoutMs / HEARTBEATS, HEARTBEAT_MS_MAX);
}

/** State of a role across all threads of the role. */
export interface ThreadHistory {
  /** Number of earlier threads. */
  readonly restarts: number;
  /** Times of the replacements within the window. */
  readonly restartsMs: readonly number[];
  /** Sequence of the record that the last thread was processing when it died, if any. */
  readonly suspect: number | undefined;
}

export type ThreadState =
  /** `quietMs`: time for which `heartbeat` did not change. At first `heartbeat` is the predecessor's last value. */
  | {
      readonly kind: 'running';
      readonly history: ThreadHistory;
      readonly heartbeat: number;
      /** Whether the heartbeat changed once. The first change may take longer, because the thread loads code. */
      readonly isUp: boolean;
      readonly quietMs: number;
    }
  | {
      readonly kind: 'ending';
      readonly history: ThreadHistory;
      readonly cause: unknown;
      readonly quietMs: number;
    }
  | { readonly kind: 'draining'; readonly history: ThreadHistory; readonly cause: unknown }
  | { readonly kind: 'given-up'; readonly history: ThreadHistory };

export type ThreadEvent =
  /** `elapsedMs`: time since the last tick, capped, because a process can be suspended for hours. */
  | { readonly type: 'tick'; readonly elapsedMs: number; readonly heartbeat: number | undefined }
  | { readonly type: 'died'; readonly cause: unknown }
  | { readonly type: 'ended' }
  /**
   * `unfinished`: the sequence that the thread was processing, if any. `heartbeat`: the thread's last value.
   * `hasResumed`: whether the thread had taken over the predecessor's state.
   */
  | {
      readonly type: 'drained';
      readonly nowMs: number;
      readonly unfinished: number | undefined;
      readonly heartbeat: number;
      readonly hasResumed: boolean;
    };

export type ThreadEffect =
  | { readonly type: 'end' }
  | { readonly type: 'replace'; readonly cause: unknown; readonly quarantined: number | undefined }
  | { readonly type: 'give-up'; readonly cause: unknown; readonly why: 'too-often' | 'does-not-end' };

export interface ThreadStep {
  readonly state: ThreadState;
  readonly effect?: ThreadEffect;
}

/** Time for a thread to load code on a busy machine before the first heartbeat. */
export const START_TIMEOUT_MS = 30_000;
/** Time for a terminated thread to end; only native code can delay it. */
export const END_TIMEOUT_MS = 10_000;

export const FIRST_THREAD: ThreadState = started({ restarts: 0, restartsMs: [], suspect: undefined }, 0);

export class StallError extends Error {}

export function stepThread(state: ThreadState, event: ThreadEvent, limits: SupervisorLimits): ThreadStep {
  switch (state.kind) {
    case 'running':
      return stepRunning(state, event, limits);
    case 'ending':
      return stepEnding(state, event);
    case 'draining':
      return event.type === 'drained' ? replaced(state, event, limits) : { state };
    default:
      return { state };
  }
}

function started(history: ThreadHistory, heartbeat: number): ThreadState {
  return { kind: 'running', history, heartbeat, isUp: false, quietMs: 0 };
}

type Running = Extract<ThreadState, { kind: 'running' }>;
type Ending = Extract<ThreadState, { kind: 'ending' }>;
type Draining = Extract<ThreadState, { kind: 'draining' }>;
type Drained = Extract<ThreadEvent, { type: 'drained' }>;

function stepRunning(state: Running, event: ThreadEvent, limits: SupervisorLimits): ThreadStep {
  if (event.type === 'died') return end(state, event.cause);
  if (event.type !== 'tick' || event.heartbeat === undefined) return { state };
  if (event.heartbeat !== state.heartbeat) {
    return { state: { ...state, heartbeat: event.heartbeat, isUp: true, quietMs: 0 } };
  }
  const quietMs = state.quietMs + event.elapsedMs;
  const limitMs = state.isUp ? limits.stallTimeoutMs : Math.max(START_TIMEOUT_MS, limits.stallTimeoutMs);
  if (quietMs < limitMs) return { state: { ...state, quietMs } };
  return end(state, new StallError(`it made no progress for ${Math.round(quietMs)} ms`));
}

function end({ history }: Running, cause: unknown): ThreadStep {
  return { state: { kind: 'ending', history, cause, quietMs: 0 }, effect: { type: 'end' } };
}

function stepEnding(state: Ending, event: ThreadEvent): ThreadStep {
  const { history, cause } = state;
  if (event.type === 'ended') return { state: { kind: 'draining', history, cause } };
  if (event.type !== 'tick') return { state };
  const quietMs = state.quietMs + event.elapsedMs;
  if (quietMs < END_TIMEOUT_MS) return { state: { ...state, quietMs } };
  return {
    state: { kind: 'given-up', history },
    effect: { type: 'give-up', cause, why: 'does-not-end' },
  };
}

/**
 * Replaces a thread, or gives up. A record on which two threads died is quarantined: the successor does not read the
 * record's bytes. While successors die before they have taken over, no restart leaves the window: the window counts
 * threads that worked, and until a successor works, records are not merged.
 */
function replaced({ history, cause }: Draining, event: Drained, limits: SupervisorLimits): ThreadStep {
  const { nowMs, unfinished, heartbeat, hasResumed } = event;
  const recentMs = history.restartsMs.filter((atMs) => !hasResumed || nowMs - atMs < limits.restartWindowMs);
  if (recentMs.length >= limits.restartsMax) {
    return {
      state: { kind: 'given-up', history },
      effect: { type: 'give-up', cause, why: 'too-often' },
    };
  }
  const isQuarantined = unfinished !== undefined && unfinished === history.suspect;
  const next = {
    restarts: history.restarts + 1,
    restartsMs: [...recentMs, nowMs],
    suspect: isQuarantined ? undefined : (unfinished ?? history.suspect),
  };
  return {
    state: started(next, heartbeat),
    effect: { type: 'replace', cause, quarantined: isQuarantined ? unfinished : undefined },
  };
}
