/** One shape for everything that `onDelete` receives: client-go's typed DeletedObject. */
import { deletionHandlingObjectToName } from '../kube/keys.ts';
import { isTombstone } from '../kube/tombstone.ts';
import type { Tombstone } from '../kube/tombstone.ts';
import { DeletedFinalStateUnknown } from '../replica/store/entry.ts';
import type { Borrowed, Identity } from '../replica/store/entry.ts';

export interface DeletedObject<Item> extends Identity {
  /** Last known state; undefined when there is none. */
  readonly optionalObject: Item | undefined;
  /** Tombstone that the handler received instead of an object, when a relist found the object missing. */
  readonly finalStateUnknown: Tombstone | undefined;
}

/**
 * Returns the identity and last state of a deleted object. Accepts entries of an informer, and plain objects and
 * tombstones of the client-go layers. An unknown key or namespace is ''.
 */
export function deletedObject<T>(
  deleted: Borrowed<T> | DeletedFinalStateUnknown<T>,
): DeletedObject<Borrowed<T>>;
export function deletedObject<Item>(deleted: Item | Tombstone<Item>): DeletedObject<Item>;
export function deletedObject(deleted: unknown): DeletedObject<unknown> {
  if (!isTombstone(deleted)) {
    return { ...identityOf(deleted, ''), optionalObject: deleted, finalStateUnknown: undefined };
  }
  const last = deleted instanceof DeletedFinalStateUnknown ? deleted.last : deleted.object;
  return { ...identityOf(deleted, deleted.key), optionalObject: last, finalStateUnknown: deleted };
}

function identityOf(deleted: unknown, key: string): Identity {
  try {
    const { namespace, name } = deletionHandlingObjectToName(deleted);
    return { key: namespace === '' ? name : `${namespace}/${name}`, namespace, name };
  } catch {
    return { key, namespace: '', name: key };
  }
}
