/**
 * A change on the way from a reflector to the cache, and the changes of a key. `Deleted` may carry a tombstone; the
 * last three kinds concern the whole collection and come only from an atomic RealFIFO.
 */
import { anArray, anObject } from '../../base/option-checks.ts';
import { KeyError, keyOf } from '../../kube/keys.ts';
import type { KeyFunction } from '../../kube/store.ts';
import { isTombstone, type Tombstone } from '../../kube/tombstone.ts';

/** The object of a deletion: the final state, or a tombstone with the last known state. */
export type MaybeTombstone<Item> = Item | Tombstone<Item>;

/** A change of a single object. */
export type ObjectDelta<Item> =
  | { readonly type: 'Added' | 'Updated' | 'Replaced' | 'Sync'; readonly object: Item }
  | { readonly type: 'Deleted'; readonly object: MaybeTombstone<Item> };

/** A change of the whole collection. */
export type CollectionDelta<Item> =
  | { readonly type: 'ReplacedAll'; readonly resourceVersion: string; readonly objects: readonly Item[] }
  | { readonly type: 'SyncAll' }
  | { readonly type: 'Bookmark'; readonly resourceVersion: string };

/** A change that a queue holds. */
export type Delta<Item> = ObjectDelta<Item> | CollectionDelta<Item>;
/** Kind of a delta. */
export type DeltaType = Delta<unknown>['type'];

/** The result of a pop: changes from the oldest to the newest, never empty. */
export type Deltas<Item> = readonly Delta<Item>[];

/** Changes an object before any other code reads it; called once for each received object. */
export type Transformer<Item> = (item: Item) => Item;

/** Returns whether a delta is about an object. */
export function isObjectDelta<Item>(delta: Delta<Item>): delta is ObjectDelta<Item> {
  anObject('delta', delta);
  return delta.type !== 'ReplacedAll' && delta.type !== 'SyncAll' && delta.type !== 'Bookmark';
}

/** Returns the oldest delta of a list. */
export function oldestDelta<D extends Delta<unknown>>(deltas: readonly D[]): D | undefined {
  anArray('deltas', deltas);
  return deltas[0];
}

/** Returns the newest delta of a list. */
export function newestDelta<D extends Delta<unknown>>(deltas: readonly D[]): D | undefined {
  anArray('deltas', deltas);
  return deltas.at(-1);
}

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
