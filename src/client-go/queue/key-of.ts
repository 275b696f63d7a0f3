/** Keys of objects, tombstones and deltas. Every failure is a KeyError. */
import { KeyError, keyOf } from '../../kube/keys.ts';
import type { KeyFunction } from '../../kube/store.ts';
import { isTombstone } from '../../kube/tombstone.ts';
import { isObjectDelta, newestDelta, type Deltas, type MaybeTombstone } from './delta.ts';

/** @throws ERR_KUBELOOM_KEY */
export function keyOfObject<Item>(keyFunction: KeyFunction<Item>, object: MaybeTombstone<Item>): string {
  return isTombstone(object) ? object.key : keyOf(keyFunction, object);
}

/**
 * Returns the key of a value as `keyOfObject` does; of an array of deltas, the key of the newest.
 *
 * @throws ERR_KUBELOOM_KEY
 */
export function keyOfValue<Item>(
  keyFunction: KeyFunction<Item>,
  value: MaybeTombstone<Item> | Deltas<Item>,
): string {
  if (!isDeltas(value)) return keyOfObject(keyFunction, value);
  const newest = newestDelta(value);
  if (newest === undefined) throw new KeyError(value, 'deltas of length 0 have no key');
  if (!isObjectDelta(newest))
    throw new KeyError(value, `a delta of type ${newest.type} concerns no single object`);
  return keyOfObject(keyFunction, newest.object);
}

function isDeltas<Item>(value: MaybeTombstone<Item> | Deltas<Item>): value is Deltas<Item> {
  return Array.isArray(value);
}
