/** Keys of what queues are given and hold: objects, tombstones, deltas. What goes wrong is a KeyError. */
import { KeyError, keyOf } from '../cache/keys.ts';
import type { KeyFunction } from '../cache/store.ts';
import { isTombstone } from '../cache/tombstone.ts';
import { isObjectDelta, newestDelta, type Deltas, type MaybeTombstone } from './delta.ts';

/** @throws ERR_KUBELOOM_KEY */
export function keyOfObject<Item>(keyFunction: KeyFunction<Item>, object: MaybeTombstone<Item>): string {
  return isTombstone(object) ? object.key : keyOf(keyFunction, object);
}

/**
 * As `keyOfObject`; an array is taken for deltas, whose newest has the key.
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
  if (!isObjectDelta(newest)) throw new KeyError(value, `a ${newest.type} concerns no single object`);
  return keyOfObject(keyFunction, newest.object);
}

function isDeltas<Item>(value: MaybeTombstone<Item> | Deltas<Item>): value is Deltas<Item> {
  return Array.isArray(value);
}
