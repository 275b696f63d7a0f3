/** An element of a listener's queue: one notification as a pair of entries, or a cursor as the first of the pair. */
import type { DeliveryCursor } from '../store/deliveries.ts';
import type { Entry } from '../store/entry.ts';

/** The first of the pair: a cursor, or the old entry of a single notification. */
export type Pending = Entry | DeliveryCursor;

export function isCursor(pending: Pending | undefined): pending is DeliveryCursor {
  return pending !== undefined && 'remaining' in pending;
}

/**
 * Approximate heap bytes of a superseded entry besides its bytes: itself, its extracted fields, its places in queues.
 */
const SUPERSEDED_HEAP_BYTES = 512;

/**
 * Returns the bytes that only this notification keeps in use: its old entry has left the cache. The new entry is in the
 * cache, or is the old entry of a later notification.
 */
export function heldBytes(oldEntry: Entry | undefined): number {
  return oldEntry ? oldEntry.length + SUPERSEDED_HEAP_BYTES : 0;
}
