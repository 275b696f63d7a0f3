/**
 * What becomes of one thread that others rely on: the rules, as data. `supervisor.ts` carries the effects out.
 *
 * ```
 *  running ── threw, exited, or silent for too long ──► ending ── it is gone ──► draining ─┐
 *     ▲                                                   │ it does not end                │ all it finished
 *     │                                                   ▼                                │ is merged
 *     └─────────────── replaced ◄───────────────── (too often: given-up) ◄─────────────────┘
 * ```
 */

export interface SupervisorLimits {
  /** Without a sign of life for so long, a thread is ended and replaced. */
  readonly stallTimeoutMs: number;
  /** So many threads of one role are replaced within the window; the next death is the end. */
  readonly restartsMax: number;
  readonly restartWindowMs: number;
}

/** What outlives the single thread. */
export interface ThreadHistory {
  /** Threads before this one. */
  readonly restarts: number;
  /** When they were replaced, as far as that is within the window. */
  readonly restartsMs: readonly number[];
  /** The record that the last one died of, if it died of one. */
  readonly suspect: number | undefined;
}

export type ThreadState =
  /** `quietMs`: time that was waited for `heartbeat` to change, at first from what its predecessor left. */
  | {
      readonly kind: 'running';
      readonly history: ThreadHistory;
      readonly heartbeat: number;
      /** It has shown a sign of life: until then it may take longer, it loads its code. */
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
  /** `elapsedMs`: since the last tick, but no more than a tick may take: a process can be stopped for hours. */
  | { readonly type: 'tick'; readonly elapsedMs: number; readonly heartbeat: number | undefined }
  | { readonly type: 'died'; readonly cause: unknown }
  | { readonly type: 'ended' }
  /** `unfinished`: the sequence that it was working on, if there was one. `heartbeat`: how far it had come. */
  | {
      readonly type: 'drained';
      readonly nowMs: number;
      readonly unfinished: number | undefined;
      readonly heartbeat: number;
    };

export type ThreadEffect =
  | { readonly type: 'end' }
  | { readonly type: 'replace'; readonly cause: unknown; readonly poison: number | undefined }
  | { readonly type: 'give-up'; readonly cause: unknown; readonly why: 'too-often' | 'does-not-end' };

export interface ThreadStep {
  readonly state: ThreadState;
  readonly effect?: ThreadEffect;
}

/** A thread loads its code, on a machine that may be busy, before its first sign of life. */
export const START_TIMEOUT_MS = 30_000;
/** For a thread that is told to end, by force: it can only be held up outside of JavaScript. */
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

/** The second death of one record is the record's fault: the successor does not look into it. */
function replaced({ history, cause }: Draining, event: Drained, limits: SupervisorLimits): ThreadStep {
  const { nowMs, unfinished, heartbeat } = event;
  const recentMs = history.restartsMs.filter((atMs) => nowMs - atMs < limits.restartWindowMs);
  if (recentMs.length >= limits.restartsMax) {
    return {
      state: { kind: 'given-up', history },
      effect: { type: 'give-up', cause, why: 'too-often' },
    };
  }
  const isPoison = unfinished !== undefined && unfinished === history.suspect;
  const next = {
    restarts: history.restarts + 1,
    restartsMs: [...recentMs, nowMs],
    suspect: isPoison ? undefined : (unfinished ?? history.suspect),
  };
  return {
    state: started(next, heartbeat),
    effect: { type: 'replace', cause, poison: isPoison ? unfinished : undefined },
  };
}
