/** Query for a resource: group, version and name, and optionally kind and scope. */
import { KubeloomError } from '../../base/errors.ts';
import type { ResourceOf, ResourceRef } from '../../kube/resource.ts';

/** Group, version and plural name of a resource. */
export type GroupVersionResource = Pick<ResourceRef, 'group' | 'version' | 'resource'>;

/** Names of a resource. Kind and scope are needed only for a resource that is not built in. */
export type ResourceQuery = GroupVersionResource & Partial<Pick<ResourceRef, 'kind' | 'isNamespaced'>>;

/** A query from which `T` is inferred, when it is a `ResourceOf<T>`. */
export type ResourceQueryOf<T> = ResourceQuery & Pick<ResourceOf<T>, 'wire'>;

/** Returns kubectl's notation: `deployments.v1.apps`, `pods.v1.`. */
export function keyOfResource({ group, version, resource }: GroupVersionResource): string {
  return `${resource}.${version}.${group}`;
}

/** Returns the notation of RBAC and CustomResourceDefinitions: `deployments.apps`, `pods`. */
export function groupResource({ group, resource }: Pick<ResourceRef, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** Checks a query. @throws ERR_KUBELOOM_OPTION if a name is missing */
export function checkQuery(query: ResourceQuery): void {
  const { group, version, resource } = query;
  if (typeof group === 'string' && isName(version) && isName(resource)) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `a resource is { group, version, resource }, with group '' for the core group, got ${JSON.stringify(query)}`,
  );
}

/**
 * Checks that a query agrees with the known resource of the same names.
 *
 * @throws ERR_KUBELOOM_OPTION if kind or scope differ
 */
export function checkAgrees(query: ResourceQuery, known: ResourceRef): void {
  const { kind = '', isNamespaced = known.isNamespaced } = query;
  const hasOtherKind = kind !== '' && known.kind !== '' && kind !== known.kind;
  if (!hasOtherKind && isNamespaced === known.isNamespaced) return;
  const described = (ref: Pick<ResourceRef, 'kind' | 'isNamespaced'>): string =>
    `${ref.kind || 'of an unknown kind'}, ${ref.isNamespaced ? 'namespaced' : 'cluster-scoped'}`;
  throw new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `${groupResource(known)} (${known.version}) is ${described(known)}, not ${described({ kind, isNamespaced })}`,
  );
}

function isName(text: unknown): boolean {
  return typeof text === 'string' && text !== '' && !text.includes('/');
}
