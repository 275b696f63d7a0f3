/**
 * The stages of a backlog against its budget: deliver everything, merge pending notifications, take no more records
 * from the rings, remove a handler. Each stage ends well below the number of bytes at which it began, so that stages do
 * not alternate with every record.
 */

export interface BacklogLimits {
  /** Bytes of superseded objects that only pending notifications need, over all handlers of the threads. */
  readonly backlogBytesMax: number;
  /** Duration of a pause after which the handler that holds most is removed. */
  readonly backlogTimeoutMs: number;
}

export type BacklogState =
  /** Every handler receives every change. */
  | { readonly kind: 'normal' }
  /** A handler that is behind receives fewer intermediate states, but every final state. */
  | { readonly kind: 'coalescing' }
  /** Coalescing was not enough: records stay in rings and log, and new events in the sockets. */
  | { readonly kind: 'full'; readonly sinceMs: number }
  /** As `full`, for longer than a burst: the pause is reported. */
  | { readonly kind: 'paused'; readonly sinceMs: number }
  /** The pause was not enough: the handler that holds most is being removed. */
  | { readonly kind: 'overflow' };

export interface BacklogPressure {
  readonly kind: Exclude<BacklogState['kind'], 'normal' | 'full'>;
  /** Bytes of all handlers together. */
  readonly bytes: number;
  readonly limits: BacklogLimits;
}

export const NORMAL: BacklogState = { kind: 'normal' };
/** Age of the oldest notification above which a handler is behind. */
export const BEHIND_MS = 1000;
const COALESCING: BacklogState = { kind: 'coalescing' };

export const COALESCE_ABOVE: number = 1 / 2;
const NORMAL_BELOW = 1 / 4;
const RESUME_BELOW = 3 / 4;

/** @param isCoalesced whether all backlogs are already coalesced */
export function stepBacklog(
  state: BacklogState,
  { bytes, isCoalesced }: { readonly bytes: number; readonly isCoalesced: boolean },
  nowMs: number,
  { backlogBytesMax, backlogTimeoutMs }: BacklogLimits,
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
      return nowMs - state.sinceMs >= backlogTimeoutMs ? { kind: 'overflow' } : state;
    default:
      // The next handler gets as much time as the first.
      return bytes < backlogBytesMax * RESUME_BELOW ? COALESCING : { kind: 'paused', sinceMs: nowMs };
  }
}
