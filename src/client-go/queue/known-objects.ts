/**
 * The objects that the consumer of a queue has processed, usually the consumer's store. Queues without atomic events
 * compare them with a new list to find deletions, and repeat them in a resync.
 */
import { having } from '../../base/option-checks.ts';
import type { OptionCheck } from '../../base/option-checks.ts';
import { tombstone } from '../../kube/tombstone.ts';
import type { Tombstone } from '../../kube/tombstone.ts';
import type { ObjectDelta } from './delta.ts';

/** The objects that a queue's consumer knows. */
export interface KnownObjects<Item> {
  /** Returns the keys of all known objects. */
  listKeys(): string[];
  /** Returns the last known state of the object; undefined for an unknown key. */
  getByKey(key: string): Item | undefined;
}

export const aKnownObjects: OptionCheck = having(
  'a store with listKeys() and getByKey()',
  ...(['listKeys', 'getByKey'] satisfies (keyof KnownObjects<unknown>)[]),
);

/**
 * Returns tombstones of the pending objects that a list does not contain, followed by tombstones of the known objects.
 * A pending object whose last change is a deletion gets no second tombstone.
 *
 * @param pending the newest change of every key that is queued or in process
 */
export function missingObjects<Item>(
  pending: ReadonlyMap<string, ObjectDelta<Item>>,
  known: KnownObjects<Item> | undefined,
  listed: ReadonlySet<string>,
): Tombstone<Item>[] {
  const missing: Tombstone<Item>[] = [];
  for (const [key, { type, object }] of pending) {
    if (listed.has(key) || type === 'Deleted') continue;
    missing.push(tombstone(key, object));
  }
  for (const key of known?.listKeys() ?? []) {
    if (!listed.has(key) && !pending.has(key)) missing.push(tombstone(key, known?.getByKey(key)));
  }
  return missing;
}

/** Returns the known objects without a pending change: a sync after a pending change would restore the old state. */
export function resyncedObjects<Item>(
  known: KnownObjects<Item> | undefined,
  isPending: (key: string) => boolean,
): [key: string, object: Item][] {
  const objects: [string, Item][] = [];
  for (const key of known?.listKeys() ?? []) {
    if (isPending(key)) continue;
    const object = known?.getByKey(key);
    if (object !== undefined) objects.push([key, object]);
  }
  return objects;
}
