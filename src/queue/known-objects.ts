/**
 * What the consumer of a queue has processed already, usually its store. The queues without atomic events
 * look there for what a new list no longer has, and for what a resync repeats.
 */
import { tombstone } from '../cache/tombstone.ts';
import type { ObjectDelta } from './delta.ts';

export interface KnownObjects<Item> {
  listKeys(): string[];
  getByKey(key: string): Item | undefined;
}

/** Deletions of all known objects whose key is not accounted for, in the order of the known keys. */
export function deletionsOfMissing<Item>(
  known: KnownObjects<Item> | undefined,
  isAccountedFor: (key: string) => boolean,
): [key: string, delta: ObjectDelta<Item>][] {
  return (known?.listKeys() ?? [])
    .filter((key) => !isAccountedFor(key))
    .map((key) => [key, { type: 'Deleted', object: tombstone(key, known?.getByKey(key)) }]);
}

/**
 * Syncs of all known objects for which nothing is pending. What is pending is newer: a sync after it would
 * bring the old state back.
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
