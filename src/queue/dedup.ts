/** Two deletions in a row say the same: the one that knows more stays. */
import { isTombstone } from '../cache/tombstone.ts';
import type { ObjectDelta } from './delta.ts';

/**
 * Adds one more change to those of its key, and gives the same array. A tombstone gives way to any later
 * deletion, a final state to none.
 */
export function appendDelta<Item>(deltas: ObjectDelta<Item>[], next: ObjectDelta<Item>): ObjectDelta<Item>[] {
  const newest = deltas.at(-1);
  if (newest?.type !== 'Deleted' || next.type !== 'Deleted') deltas.push(next);
  else if (isTombstone(newest.object)) deltas[deltas.length - 1] = next;
  return deltas;
}
