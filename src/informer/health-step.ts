/**
 * The health of an informer as data: whether the cache follows the server, since when, and whether it is stale. A
 * single pure step; the caller supplies the time.
 *
 * A server sends a bookmark a minute on an open watch, so a longer silence is a sign of a problem. The cache is *fresh*
 * at the moment when a watch opens, a record arrives on an open watch, or a whole list is applied. It is *stale* if
 * that moment is longer ago than `staleAfterMs`. It is never stale before the first sync, because it is not used before
 * that.
 */
import type { ReflectorPhase } from '../shared/protocol.ts';

export type Connection =
  | { readonly kind: 'not-started' }
  /** The first list is not in the cache yet. */
  | { readonly kind: 'syncing'; readonly isOpen: boolean; readonly sinceMs: number }
  | { readonly kind: 'connected'; readonly sinceMs: number }
  /** No watch is open: between two watches, during a relist, or during a backoff. */
  | { readonly kind: 'disconnected'; readonly sinceMs: number }
  | { readonly kind: 'stopped'; readonly sinceMs: number };

export interface HealthState {
  readonly connection: Connection;
  /** Last moment at which the cache was fresh. */
  readonly freshMs: number | undefined;
  /** Time at which the last record of the server was merged: an event, a bookmark, an item of a list. */
  readonly lastEventMs: number | undefined;
  readonly lastErrorMs: number | undefined;
  readonly staleSinceMs: number | undefined;
}

export type HealthInput =
  | { readonly type: 'started' }
  | { readonly type: 'phase'; readonly phase: ReflectorPhase }
  | { readonly type: 'merged' }
  | { readonly type: 'replaced' }
  | { readonly type: 'error' }
  | { readonly type: 'tick' }
  | { readonly type: 'stopped' };

export const NOT_STARTED: HealthState = {
  connection: { kind: 'not-started' },
  freshMs: undefined,
  lastEventMs: undefined,
  lastErrorMs: undefined,
  staleSinceMs: undefined,
};

/** Returns the state after an input. `stopped` is final. */
export function stepHealth(
  state: HealthState,
  input: HealthInput,
  nowMs: number,
  staleAfterMs: number,
): HealthState {
  if (state.connection.kind === 'stopped') return state;
  return withStaleness(apply(state, input, nowMs), nowMs, staleAfterMs);
}

/** Returns the time at which the cache becomes stale without further input; undefined when it is stale or not synced. */
export function staleAtMs(state: HealthState, staleAfterMs: number): number | undefined {
  if (!hasSynced(state) || state.staleSinceMs !== undefined) return undefined;
  return (state.freshMs ?? 0) + staleAfterMs;
}

function apply(state: HealthState, input: HealthInput, nowMs: number): HealthState {
  const { connection } = state;
  switch (input.type) {
    case 'started':
      return { ...state, connection: { kind: 'syncing', isOpen: false, sinceMs: nowMs } };
    case 'phase':
      return applyPhase(state, input.phase, nowMs);
    case 'merged':
      return isOpen(connection)
        ? { ...state, freshMs: nowMs, lastEventMs: nowMs }
        : { ...state, lastEventMs: nowMs };
    case 'replaced':
      return {
        ...state,
        connection: connection.kind === 'syncing' ? connected(connection.isOpen, nowMs) : connection,
        freshMs: nowMs,
      };
    case 'error':
      return { ...state, lastErrorMs: nowMs };
    case 'stopped':
      return { ...state, connection: { kind: 'stopped', sinceMs: nowMs }, staleSinceMs: undefined };
    default:
      return state;
  }
}

/**
 * Applies a phase. A paused watch stays open, but the reflector does not read it, so the cache eventually becomes
 * stale.
 */
function applyPhase(state: HealthState, phase: ReflectorPhase, nowMs: number): HealthState {
  const { connection } = state;
  if (connection.kind === 'not-started' || connection.kind === 'stopped') return state;
  const opens = phase === 'watching' || (phase === 'paused' && isOpen(connection));
  // Pausing and continuing do not show that the cache follows the server.
  const freshMs = opens && !isOpen(connection) ? nowMs : state.freshMs;
  if (opens === isOpen(connection)) return state;
  if (connection.kind === 'syncing')
    return { ...state, freshMs, connection: { ...connection, isOpen: opens } };
  return { ...state, freshMs, connection: connected(opens, nowMs) };
}

function connected(isWatchOpen: boolean, nowMs: number): Connection {
  return { kind: isWatchOpen ? 'connected' : 'disconnected', sinceMs: nowMs };
}

function isOpen(connection: Connection): boolean {
  return connection.kind === 'connected' || (connection.kind === 'syncing' && connection.isOpen);
}

function hasSynced({ connection }: HealthState): boolean {
  return connection.kind === 'connected' || connection.kind === 'disconnected';
}

function withStaleness(state: HealthState, nowMs: number, staleAfterMs: number): HealthState {
  if (!hasSynced(state)) return state;
  const isStale = nowMs - (state.freshMs ?? nowMs) >= staleAfterMs;
  if (isStale === (state.staleSinceMs !== undefined)) return state;
  return { ...state, staleSinceMs: isStale ? nowMs : undefined };
}
