/** The life of an informer's cache for a reading thread: the phases of writing, and the kinds of end. */
import type { KubeloomError } from '../../base/errors.ts';

export type CacheExportState =
  /** Every change is written. */
  | { readonly kind: 'open' }
  /** Pending changes are still written, later changes are not. */
  | { readonly kind: 'leaving' }
  /** A record could not be written, so the thread's cache ended with this error. */
  | { readonly kind: 'failed'; readonly failure: KubeloomError }
  /** The handler ended, and with it the thread's cache. */
  | { readonly kind: 'removed' }
  /** The thread ended. */
  | { readonly kind: 'closed' };

export type CacheExportEvent =
  | { readonly type: 'leave' }
  | { readonly type: 'close' }
  | { readonly type: 'fail'; readonly failure: KubeloomError }
  | { readonly type: 'remove' };

export const OPEN: CacheExportState = { kind: 'open' };

/** Returns whether changes are still written; if not, the thread's cache no longer changes. */
export function isWriting(
  state: CacheExportState,
): state is Extract<CacheExportState, { kind: 'open' | 'leaving' }> {
  return state.kind === 'open' || state.kind === 'leaving';
}

/** Returns the same object if the event does not change the state. */
export function stepCacheExport(state: CacheExportState, event: CacheExportEvent): CacheExportState {
  if (event.type === 'close') return state.kind === 'closed' ? state : { kind: 'closed' };
  if (!isWriting(state)) return state;
  if (event.type === 'leave') return state.kind === 'open' ? { kind: 'leaving' } : state;
  if (event.type === 'fail') return { kind: 'failed', failure: event.failure };
  return { kind: 'removed' };
}
