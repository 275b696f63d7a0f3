/**
 * How far the process is from what its backlogs may hold, and what follows: nothing, merging what is pending,
 * taking nothing more from the rings, giving a handler up. Each stage ends well below where it began, so that it
 * does not come and go with every record.
 */

export interface BacklogLimits {
  /** Of superseded objects that only pending notifications need, of all handlers of the threads together. */
  readonly backlogBytesMax: number;
  /** So long nothing is merged before the handler that holds most is given up. */
  readonly backlogPauseMsMax: number;
}

export type BacklogState =
  /** Everybody is told everything. */
  | { readonly kind: 'normal' }
  /** Whoever is behind is told less often, of the same states in the end. */
  | { readonly kind: 'coalescing' }
  /** That was not enough: records stay in rings and log, and the server's in its sockets. */
  | { readonly kind: 'full'; readonly sinceMs: number }
  /** The same for so long that it is no burst: somebody should know. */
  | { readonly kind: 'paused'; readonly sinceMs: number }
  /** Nor was that: the handler that holds most is being removed. */
  | { readonly kind: 'overflow' };

export interface BacklogInput {
  readonly bytes: number;
  /** Nothing is left that can be merged now. */
  readonly isCoalesced: boolean;
}

export const NORMAL: BacklogState = { kind: 'normal' };
/** A handler whose oldest notification is no older is not behind: it had no time yet. */
export const BEHIND_MS = 1000;
const COALESCING: BacklogState = { kind: 'coalescing' };

/** Parts of the budget. */
const COALESCE_ABOVE = 1 / 2;
const NORMAL_BELOW = 1 / 4;
const RESUME_BELOW = 3 / 4;

export function stepBacklog(
  state: BacklogState,
  { bytes, isCoalesced }: BacklogInput,
  nowMs: number,
  { backlogBytesMax, backlogPauseMsMax }: BacklogLimits,
): BacklogState {
  switch (state.kind) {
    case 'normal':
      return bytes > backlogBytesMax * COALESCE_ABOVE ? COALESCING : state;
    case 'coalescing':
      if (bytes >= backlogBytesMax && isCoalesced) return { kind: 'full', sinceMs: nowMs };
      return bytes < backlogBytesMax * NORMAL_BELOW ? NORMAL : state;
    case 'full':
      if (bytes < backlogBytesMax * RESUME_BELOW) return COALESCING;
      return isCoalesced && nowMs - state.sinceMs >= BEHIND_MS
        ? { kind: 'paused', sinceMs: state.sinceMs }
        : state;
    case 'paused':
      if (bytes < backlogBytesMax * RESUME_BELOW) return COALESCING;
      return nowMs - state.sinceMs >= backlogPauseMsMax ? { kind: 'overflow' } : state;
    default:
      // The next one has the same time as the first had.
      return bytes < backlogBytesMax * RESUME_BELOW ? COALESCING : { kind: 'paused', sinceMs: nowMs };
  }
}
