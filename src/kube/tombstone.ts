/**
 * The value that replaces an object whose deletion the watch did not show: only its key is certain. It is
 * client-go's DeletedFinalStateUnknown for stores and queues of plain objects. The class of that name, which
 * informers deliver to their handlers, is a tombstone as well.
 */
import { isRecord } from './meta-shape.ts';

export interface Tombstone<T = unknown> {
  readonly finalStateUnknown: true;
  readonly key: string;
  /** The last known state, if any; the object may have changed since. */
  readonly object: T | undefined;
}

export function tombstone<T>(key: string, object: T | undefined): Tombstone<T> {
  return { finalStateUnknown: true, key, object };
}

/**
 * Returns whether the value is a tombstone, also the DeletedFinalStateUnknown of an informer. Never reads the
 * object: it may have expired.
 */
export function isTombstone(value: unknown): value is Tombstone {
  return isRecord(value) && value['finalStateUnknown'] === true && typeof value['key'] === 'string';
}
