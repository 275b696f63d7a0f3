/**
 * The value that replaces an object whose deletion the watch did not show: only the key is certain. It is
 * client-go's DeletedFinalStateUnknown for stores and queues of plain objects. The class of that name, which
 * informers deliver to their handlers, is a tombstone as well.
 */
import { Mark, isFinalStateUnknown, isRecord, labelsOf, mark, uidOf } from './meta-shape.ts';
import type { KubeMetadata, MetadataOf } from './meta-shape.ts';

/** A deleted object whose final state may be unknown. */
export interface Tombstone<T = unknown> {
  /** Always true: distinguishes a tombstone from an object. */
  readonly finalStateUnknown: true;
  /** Key in the store: `namespace/name`, or `name`. */
  readonly key: string;
  /** The last known state, if any; the object may have changed since. */
  readonly object: T | undefined;
  /** The last known metadata; undefined without a last known state. */
  readonly metadata: MetadataOf<T> | undefined;
  /** The last known labels; empty without a last known state. */
  readonly labels: Readonly<Record<string, string>>;
  /** The last known uid; empty without a last known state. */
  readonly uid: string;
}

/** Returns the tombstone of a deleted object. */
export function tombstone<T>(key: string, object: T | undefined): Tombstone<T> {
  return new PlainTombstone(key, object);
}

class PlainTombstone<T> implements Tombstone<T> {
  readonly finalStateUnknown = true;
  readonly key: string;
  readonly object: T | undefined;

  constructor(key: string, object: T | undefined) {
    this.key = key;
    this.object = object;
  }

  // The getters read the object when they are called: an entry may have expired by then, and throws.
  get metadata(): MetadataOf<T> | undefined {
    const { metadata } = (this.object ?? {}) as { readonly metadata?: KubeMetadata };
    return metadata as MetadataOf<T> | undefined;
  }

  get labels(): Readonly<Record<string, string>> {
    return labelsOf(this.object);
  }

  get uid(): string {
    return uidOf(this.object);
  }

  static {
    mark(this.prototype, Mark.Tombstone);
  }
}

/**
 * Returns whether the value is a tombstone, also the DeletedFinalStateUnknown of an informer. Never reads the
 * object: it may have expired.
 */
export function isTombstone(value: unknown): value is Tombstone {
  return isRecord(value) && isFinalStateUnknown(value);
}
