/** Which resource is meant: by group, version and name, and as much more as the user knows. */
import { KubeloomError } from '../errors.ts';
import type { ResourceRef } from '../kube/resource.ts';

export type GroupVersionResource = Pick<ResourceRef, 'group' | 'version' | 'resource'>;

/** Kind and scope need only be said where the table of built-in resources cannot tell them. */
export type ResourceWish = GroupVersionResource & Partial<Pick<ResourceRef, 'kind' | 'isNamespaced'>>;

/** `deployments.v1.apps`, `pods.v1.`: as kubectl writes them. */
export function keyOfResource({ group, version, resource }: GroupVersionResource): string {
  return `${resource}.${version}.${group}`;
}

/** `deployments.apps`, `pods`: as RBAC and CustomResourceDefinitions write them. */
export function groupResource({ group, resource }: Pick<ResourceRef, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** @throws ERR_KUBELOOM_OPTION when something is missing */
export function checkWish(wish: ResourceWish): void {
  const { group, version, resource } = wish;
  if (typeof group === 'string' && isName(version) && isName(resource)) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `a resource is { group, version, resource }, with group '' for the core one, got ${JSON.stringify(wish)}`,
  );
}

/**
 * @param known what the same names stand for already
 * @throws ERR_KUBELOOM_OPTION when the wish says something else
 */
export function checkAgrees(wish: ResourceWish, known: ResourceRef): void {
  const { kind = '', isNamespaced = known.isNamespaced } = wish;
  const hasOtherKind = kind !== '' && known.kind !== '' && kind !== known.kind;
  if (!hasOtherKind && isNamespaced === known.isNamespaced) return;
  const said = (what: Pick<ResourceRef, 'kind' | 'isNamespaced'>): string =>
    `${what.kind || 'of an unknown kind'}, ${what.isNamespaced ? 'namespaced' : 'cluster-scoped'}`;
  throw new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `${groupResource(known)} (${known.version}) is ${said(known)}, not ${said({ kind, isNamespaced })}`,
  );
}

function isName(text: unknown): boolean {
  return typeof text === 'string' && text !== '' && !text.includes('/');
}
