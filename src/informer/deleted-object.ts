/** What `onDelete` was given, whatever it was: client-go's typed DeletedObject. */
import { deletionHandlingObjectToName } from '../cache/keys.ts';
import { isTombstone } from '../cache/tombstone.ts';
import type { Tombstone } from '../cache/tombstone.ts';
import { DeletedFinalStateUnknown } from '../store/entry.ts';
import type { Borrowed, Identity } from '../store/entry.ts';

export interface DeletedObject<Item> extends Identity {
  /** The last state that is known; undefined when there is none. */
  readonly optionalObject: Item | undefined;
  /** What the handler got instead of an object, when only a relist found it missing. */
  readonly finalStateUnknown: Tombstone | undefined;
}

/**
 * For entries of an informer, and for plain objects and tombstones of the lower layers. Key, namespace and
 * name are there in any case: '' where nobody knows them.
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
