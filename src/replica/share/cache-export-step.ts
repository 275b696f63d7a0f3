/** The life of one informer's cache for one other thread: when it is written, and when it has ended there. */
import type { KubeloomError } from '../../base/errors.ts';

export type CacheExportState =
  /** Every change is written. */
  | { readonly kind: 'open' }
  /** The changes that are pending are written, and no later ones. */
  | { readonly kind: 'leaving' }
  /** A record cannot be written, so the thread's cache has ended with this error. */
  | { readonly kind: 'failed'; readonly failure: KubeloomError }
  /** The handler has ended, so the thread's cache has ended, perhaps with an error. */
  | { readonly kind: 'removed'; readonly failure: KubeloomError | undefined }
  /** The thread has ended. */
  | { readonly kind: 'closed' };

export type CacheExportEvent =
  | { readonly type: 'leave' }
  | { readonly type: 'close' }
  | { readonly type: 'fail'; readonly failure: KubeloomError }
  | { readonly type: 'remove'; readonly failure: KubeloomError | undefined };

export const OPEN: CacheExportState = { kind: 'open' };

/** Returns whether changes are still written. In every other state the thread's cache never changes again. */
export function isWriting(
  state: CacheExportState,
): state is Extract<CacheExportState, { kind: 'open' | 'leaving' }> {
  return state.kind === 'open' || state.kind === 'leaving';
}

/** Returns the same object when the event changes nothing. */
export function stepCacheExport(state: CacheExportState, event: CacheExportEvent): CacheExportState {
  if (event.type === 'close') return state.kind === 'closed' ? state : { kind: 'closed' };
  if (!isWriting(state)) return state;
  if (event.type === 'leave') return state.kind === 'open' ? { kind: 'leaving' } : state;
  if (event.type === 'fail') return { kind: 'failed', failure: event.failure };
  return { kind: 'removed', failure: event.failure };
}
