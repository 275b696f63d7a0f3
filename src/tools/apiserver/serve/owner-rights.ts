/**
 * The rights that owner references need where a cluster enforces them (the admission plugin OwnerReferencesPermissionEnforcement,
 * always on in OpenShift): `update` of the owner's finalizers, if the owner waits for the object, and `delete` of an object that
 * gets other owners than it had.
 */
import type { KubeObject, OwnerReference } from '../store/json.ts';
import type { ResourceTable } from '../store/resources.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ResourcePath } from '../wire/request-info.ts';
import type { Rights } from '../wire/rights.ts';

interface OwnerRightsParts {
  readonly rights: Rights;
  readonly table: ResourceTable;
}

/** Adds the rights for the references that a write adds. @param current the object before; undefined: it was created */
export function addOwnerRights(
  { rights, table }: OwnerRightsParts,
  path: ResourcePath,
  { metadata: { ownerReferences: owners = [] } }: KubeObject,
  current: StoredObject | undefined,
): void {
  if (owners.length === 0) return;
  const before = new Set(current?.parse().metadata.ownerReferences?.map(textOf));
  const added = owners.filter((owner) => !before.has(textOf(owner)));
  if (current && added.length > 0) rights.add({ ...path, subresource: '' }, 'delete');
  for (const { apiVersion, kind, blockOwnerDeletion } of added) {
    const owner = blockOwnerDeletion === true ? table.ofKind(apiVersion, kind) : undefined;
    if (!owner) continue;
    const { group, resource, namespaced } = owner;
    const namespace = namespaced ? path.namespace : '';
    rights.add({ group, resource, subresource: 'finalizers', namespace }, 'update');
  }
}

function textOf({ uid, blockOwnerDeletion = false }: OwnerReference): string {
  return `${uid} ${blockOwnerDeletion}`;
}
