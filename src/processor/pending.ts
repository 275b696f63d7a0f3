/** What waits for a listener's handler: one notification as a pair of entries, or a cursor in the first place. */
import type { DeliveryCursor } from '../store/deliveries.ts';
import type { Entry } from '../store/entry.ts';

/** What a listener's queue holds in its first place: a cursor, or the old entry of a single notification. */
export type Pending = Entry | DeliveryCursor;

export function isCursor(pending: Pending | undefined): pending is DeliveryCursor {
  return pending !== undefined && 'remaining' in pending;
}

/** What a superseded entry takes in the heap besides its bytes, about: itself, its projection, its places in queues. */
const SUPERSEDED_HEAP_BYTES = 512;

/**
 * Memory that a notification keeps from being used again: its old entry, which is in the cache no more. The new
 * one is in the cache, or is the old one of a later notification.
 */
export function heldBytes(oldEntry: Entry | undefined): number {
  return oldEntry ? oldEntry.length + SUPERSEDED_HEAP_BYTES : 0;
}
