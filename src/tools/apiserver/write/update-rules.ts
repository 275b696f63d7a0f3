/** The rules by which the kinds of a cluster differ in an update, from the strategies of their registries. */

import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../store/json.ts';
import type { KubeObject } from '../store/json.ts';
import type { ServedResource } from '../store/resources.ts';
import { qualifiedName } from '../store/status.ts';

const CREATED: ReadonlySet<string> = new Set([
  'clusterrolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'endpoints',
  'events',
  'events.events.k8s.io',
  'leasecandidates.coordination.k8s.io',
  'leases.coordination.k8s.io',
  'limitranges',
  'rolebindings.rbac.authorization.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'runtimeclasses.node.k8s.io',
  'services',
]);
/** Groups all of whose kinds must name a version. */
const CONDITIONAL_GROUPS: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'coordination.k8s.io',
  'internal.apiserver.k8s.io',
  'node.k8s.io',
  'storagemigration.k8s.io',
]);
const CONDITIONAL: ReadonlySet<string> = new Set([
  'clustertrustbundles.certificates.k8s.io',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'csistoragecapacities.storage.k8s.io',
  'poddisruptionbudgets.policy',
  'podcertificaterequests.certificates.k8s.io',
  'volumeattachments.storage.k8s.io',
]);

/** True if a PUT creates an object that does not exist. */
export function createsByUpdate(definition: ServedResource): boolean {
  return definition.custom !== true && CREATED.has(qualifiedName(definition));
}

/** True if an update must name the version of the object that it replaces. */
export function needsVersion(definition: ServedResource): boolean {
  const { custom, group } = definition;
  return custom === true || CONDITIONAL_GROUPS.has(group) || CONDITIONAL.has(qualifiedName(definition));
}

/** True if the generation of a built-in object counts a change: of the spec, and for a Deployment of the annotations. */
export function countsChange(definition: ServedResource, current: KubeObject, updated: KubeObject): boolean {
  if (current.metadata.generation === undefined) return false;
  if (isJsonObject(updated['spec']) && !isDeepStrictEqual(updated['spec'], current['spec'])) return true;
  const [before = {}, after = {}] = [current, updated].map(({ metadata }) => metadata.annotations);
  return qualifiedName(definition) === 'deployments.apps' && !isDeepStrictEqual(after, before);
}
