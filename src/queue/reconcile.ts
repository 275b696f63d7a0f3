/** A list without atomic events: what it means for what is queued and for what is known. */
import { tombstone } from '../cache/tombstone.ts';
import { isObjectDelta } from './delta.ts';
import type { Delta, MaybeTombstone, ObjectDelta } from './delta.ts';
import { deletionsOfMissing, type KnownObjects } from './known-objects.ts';

/** The newest pending change of every key, keys in the order in which they came. */
export function newestByKey<Item>(
  pending: readonly Delta<Item>[],
  keyOf: (object: MaybeTombstone<Item>) => string,
): Map<string, ObjectDelta<Item>> {
  const newest = new Map<string, ObjectDelta<Item>>();
  for (const delta of pending) {
    if (isObjectDelta(delta)) newest.set(keyOf(delta.object), delta);
  }
  return newest;
}

/**
 * Deletions of the queued objects that the list misses, of the known ones, and then the items in list order.
 * What already ends with a deletion gets no second one.
 */
export function reconcileReplacement<Item>(
  newest: ReadonlyMap<string, ObjectDelta<Item>>,
  known: KnownObjects<Item> | undefined,
  items: readonly Item[],
  keyOf: (object: MaybeTombstone<Item>) => string,
): ObjectDelta<Item>[] {
  const keys = new Set(items.map(keyOf));
  const changes: ObjectDelta<Item>[] = [];
  for (const [key, { type, object }] of newest) {
    if (keys.has(key) || type === 'Deleted') continue;
    changes.push({ type: 'Deleted', object: tombstone(key, object) });
  }
  for (const [, delta] of deletionsOfMissing(known, (key) => keys.has(key) || newest.has(key))) {
    changes.push(delta);
  }
  for (const object of items) changes.push({ type: 'Replaced', object });
  return changes;
}
