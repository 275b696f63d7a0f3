/**
 * Rules for threads that may die, as a pure step over all threads of a pipeline. `supervisor.ts` performs the effects.
 *
 * ```
 *  running ── one threw, exited, or was quiet too long ─► ending ── all have ended ─► (too often: given-up)
 *     ▲                                                     │ one does not end        │
 *     │                                                     ▼                         │
 *     │                                                  given-up                     │
 *     └──────────────── restarted: new threads, empty rings, a list ◄─────────────────┘
 * ```
 */
import type { Role } from './backend.ts';

export interface SupervisorLimits {
  /** Time without a heartbeat after which a thread is terminated. */
  readonly stallTimeoutMs: number;
  /** Restarts within the window; the informers end at the next death. */
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

/** The unexpected end of a thread. */
export interface Death {
  readonly role: Role;
  readonly cause: unknown;
  /** Number of the informer whose record the thread was processing; 0 if unknown. */
  readonly informer: number;
}

interface Restart {
  readonly atMs: number;
  readonly informer: number;
}

/** Signs of life of a thread. At first `heartbeat` is the predecessor's last value. */
interface Life {
  readonly heartbeat: number;
  /** Whether the heartbeat changed once. The first change may take longer, because the thread loads code. */
  readonly isUp: boolean;
  /** Time for which `heartbeat` did not change. */
  readonly quietMs: number;
}

/** Signs of a thread's work. */
export interface ThreadSign {
  /** A number that changes while the thread works. */
  readonly heartbeat: number;
  /** Number of the informer whose record the thread is processing; 0 for none. */
  readonly informer: number;
}

/** Signs by role. Roles on the calling thread have none: they cannot stall unless the supervisor does. */
export type ThreadSigns = ReadonlyMap<Role, ThreadSign>;

export type ThreadsState =
  | {
      readonly kind: 'running';
      /** Restarts within the window, the latest last. */
      readonly restarts: readonly Restart[];
      readonly lives: ReadonlyMap<Role, Life>;
    }
  | {
      readonly kind: 'ending';
      readonly restarts: readonly Restart[];
      readonly death: Death;
      /** Whether all threads had come up before the death. */
      readonly wereUp: boolean;
      readonly quietMs: number;
    }
  | { readonly kind: 'given-up' };

export type ThreadsEvent =
  /** `elapsedMs`: time since the last tick, capped, because a process can be suspended for hours. */
  | { readonly type: 'tick'; readonly elapsedMs: number; readonly signs: ThreadSigns }
  | { readonly type: 'died'; readonly death: Death }
  /** Worker threads take over from the calling thread, which has no signs. */
  | { readonly type: 'began'; readonly signs: ThreadSigns }
  /** All threads have ended. `signs`: their last values. */
  | { readonly type: 'ended'; readonly nowMs: number; readonly signs: ThreadSigns };

export type ThreadsEffect =
  | { readonly type: 'end' }
  /** `culprit`: the informer that ends, because threads ended only while they worked for it; 0 for none. */
  | { readonly type: 'restart'; readonly death: Death; readonly culprit: number }
  | { readonly type: 'give-up'; readonly death: Death; readonly why: 'too-often' | 'does-not-end' };

export interface ThreadsStep {
  readonly state: ThreadsState;
  readonly effect?: ThreadsEffect;
}

/** Time for a thread to load code on a busy machine before the first heartbeat. */
export const START_TIMEOUT_MS = 30_000;
/** Time for terminated threads to end; only native code can delay them. */
export const END_TIMEOUT_MS = 10_000;

export class StallError extends Error {}

export function firstThreads(signs: ThreadSigns): ThreadsState {
  return started([], signs);
}

export function stepThreads(state: ThreadsState, event: ThreadsEvent, limits: SupervisorLimits): ThreadsStep {
  switch (state.kind) {
    case 'running':
      return stepRunning(state, event, limits);
    case 'ending':
      return stepEnding(state, event, limits);
    default:
      return { state };
  }
}

function started(restarts: readonly Restart[], signs: ThreadSigns): ThreadsState {
  const lives = new Map<Role, Life>();
  for (const [role, { heartbeat }] of signs) lives.set(role, { heartbeat, isUp: false, quietMs: 0 });
  return { kind: 'running', restarts, lives };
}

type Running = Extract<ThreadsState, { kind: 'running' }>;
type Ending = Extract<ThreadsState, { kind: 'ending' }>;

function stepRunning(state: Running, event: ThreadsEvent, limits: SupervisorLimits): ThreadsStep {
  if (event.type === 'died') return end(state, event.death);
  if (event.type === 'began') return { state: started(state.restarts, event.signs) };
  if (event.type !== 'tick') return { state };
  const lives = new Map<Role, Life>();
  for (const [role, before] of state.lives) {
    const { heartbeat, informer } = event.signs.get(role) ?? { heartbeat: before.heartbeat, informer: 0 };
    const life = lifeAfter(before, heartbeat, event.elapsedMs);
    const limitMs = life.isUp ? limits.stallTimeoutMs : Math.max(START_TIMEOUT_MS, limits.stallTimeoutMs);
    if (life.quietMs >= limitMs) {
      const cause = new StallError(`it made no progress for ${Math.round(life.quietMs)} ms`);
      return end(state, { role, cause, informer });
    }
    lives.set(role, life);
  }
  return { state: { ...state, lives } };
}

function lifeAfter({ heartbeat, isUp, quietMs }: Life, now: number, elapsedMs: number): Life {
  if (now !== heartbeat) return { heartbeat: now, isUp: true, quietMs: 0 };
  return { heartbeat, isUp, quietMs: quietMs + elapsedMs };
}

function end({ restarts, lives }: Running, death: Death): ThreadsStep {
  const wereUp = [...lives.values()].every(({ isUp }) => isUp);
  return { state: { kind: 'ending', restarts, death, wereUp, quietMs: 0 }, effect: { type: 'end' } };
}

function stepEnding(state: Ending, event: ThreadsEvent, limits: SupervisorLimits): ThreadsStep {
  if (event.type === 'ended') return ended(state, event, limits);
  if (event.type !== 'tick') return { state };
  const quietMs = state.quietMs + event.elapsedMs;
  if (quietMs < END_TIMEOUT_MS) return { state: { ...state, quietMs } };
  const { death } = state;
  return { state: { kind: 'given-up' }, effect: { type: 'give-up', death, why: 'does-not-end' } };
}

/**
 * Restarts the threads, or gives up. If all recent deaths were on records of a single informer, this informer ends in
 * place of all. While threads die before they have come up, no restart leaves the window.
 */
function ended(
  { restarts, death, wereUp }: Ending,
  { nowMs, signs }: Extract<ThreadsEvent, { type: 'ended' }>,
  { restartsMax, restartWindowMs }: SupervisorLimits,
): ThreadsStep {
  const { informer } = death;
  const recent = restarts.filter(({ atMs }) => !wereUp || nowMs - atMs < restartWindowMs);
  if (recent.length < restartsMax) {
    const state = started([...recent, { atMs: nowMs, informer }], signs);
    return { state, effect: { type: 'restart', death, culprit: 0 } };
  }
  const isCulprit = restartsMax > 0 && informer !== 0 && recent.every((each) => each.informer === informer);
  return isCulprit
    ? { state: started([], signs), effect: { type: 'restart', death, culprit: informer } }
    : { state: { kind: 'given-up' }, effect: { type: 'give-up', death, why: 'too-often' } };
}
