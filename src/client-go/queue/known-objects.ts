/**
 * The objects that the consumer of a queue has processed, usually its store. Queues without atomic events compare
 * it with a new list to find deletions, and repeat its objects in a resync.
 */
import { tombstone } from '../../kube/tombstone.ts';
import { isObjectDelta } from './delta.ts';
import type { ObjectDelta, Delta, MaybeTombstone } from './delta.ts';

export interface KnownObjects<Item> {
  listKeys(): string[];
  getByKey(key: string): Item | undefined;
}

/** Returns deletions of all known objects whose key is not accounted for, in the order of the known keys. */
export function deletionsOfMissing<Item>(
  known: KnownObjects<Item> | undefined,
  isAccountedFor: (key: string) => boolean,
): [key: string, delta: ObjectDelta<Item>][] {
  return (known?.listKeys() ?? [])
    .filter((key) => !isAccountedFor(key))
    .map((key) => [key, { type: 'Deleted', object: tombstone(key, known?.getByKey(key)) }]);
}

/**
 * Returns syncs of all known objects without a pending change. A pending change is newer: a sync after it would
 * restore the old state.
 */
export function syncsOfKnown<Item>(
  known: KnownObjects<Item> | undefined,
  isPending: (key: string) => boolean,
): [key: string, delta: ObjectDelta<Item>][] {
  const syncs: [string, ObjectDelta<Item>][] = [];
  for (const key of known?.listKeys() ?? []) {
    if (isPending(key)) continue;
    const object = known?.getByKey(key);
    if (object !== undefined) syncs.push([key, { type: 'Sync', object }]);
  }
  return syncs;
}

/** Returns the newest pending change of every key, keys in the order in which they came. */
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
 * Returns deletions of the queued objects that the list does not contain, then of the known ones, then the items
 * in list order. A key whose last change is a deletion gets no second one.
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
