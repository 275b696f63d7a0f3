/** The reference from an object to an owner, for the garbage collector and for `owns`. */
import { KubeloomError } from '../../base/errors.ts';
import { anObject, text } from '../../base/option-checks.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { ResourceRef } from '../../kube/resource.ts';

/** The owner reference of a controller. */
export interface ControllerReference {
  /** Group and version of the owner: `apps/v1`, or `v1` for the core group. */
  readonly apiVersion: string;
  /** Kind of the owner. */
  readonly kind: string;
  /** Name of the owner. */
  readonly name: string;
  /** uid of the owner: a later object of this name is not the owner. */
  readonly uid: string;
  /** Marks the owner that is the controller; an object has at most one. */
  readonly controller: true;
  /** A foreground deletion of the owner waits for the deletion of the object. */
  readonly blockOwnerDeletion: true;
}

/**
 * Returns the member of `metadata.ownerReferences` that makes this owner the controller of the object. An object has at
 * most one controller: do not add the reference to an object whose `controllerUid` names another owner. Owner and
 * object must be in the same namespace, or the owner cluster-scoped: otherwise the garbage collector deletes the
 * object.
 *
 * @param owner an entry of a cache, or the metadata of an object
 * @throws ERR_KUBELOOM_OPTION for an owner that is not stored yet
 */
export function controllerReference(
  resource: Pick<ResourceRef, 'group' | 'version' | 'kind'>,
  owner: { readonly name?: string; readonly uid?: string },
): ControllerReference {
  anObject('resource', resource);
  for (const name of ['group', 'version', 'kind'] as const) text(`resource.${name}`, resource[name]);
  anObject('owner', owner);
  const { name = '', uid = '' } = owner;
  text('owner.name', name);
  text('owner.uid', uid);
  if (name === '' || uid === '') {
    const isObject = Object.hasOwn(owner, 'metadata');
    const advice = isObject ? 'pass object.metadata' : "create it first, and use the server's answer";
    const message = `a ${resource.kind} without name and uid owns nothing: ${advice}`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  const { kind } = resource;
  return { apiVersion: apiVersionOf(resource), kind, name, uid, controller: true, blockOwnerDeletion: true };
}
