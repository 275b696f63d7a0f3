/**
 * What stands for an object whose deletion the watch did not show: only its key is sure. client-go's
 * DeletedFinalStateUnknown for stores and queues that hold plain objects; the class of that name that
 * informers give to their handlers is one as well.
 */
import { isRecord } from '../kube/meta-shape.ts';

export interface Tombstone<T = unknown> {
  readonly finalStateUnknown: true;
  readonly key: string;
  /** The last state that was seen, if any; the object may have changed since. */
  readonly object: T | undefined;
}

export function tombstone<T>(key: string, object: T | undefined): Tombstone<T> {
  return { finalStateUnknown: true, key, object };
}

/** Also true for the DeletedFinalStateUnknown of an informer. Never reads the object: it may be expired. */
export function isTombstone(value: unknown): value is Tombstone {
  return isRecord(value) && value['finalStateUnknown'] === true && typeof value['key'] === 'string';
}
