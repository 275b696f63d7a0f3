/** The rules by which the kinds of a cluster differ in an update, from the strategies of their registries. */

import type { Json, JsonObject, KubeObject } from '../store/json.ts';
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

/** Built-in kinds with a spec that the generation does not count. */
const UNCOUNTED: ReadonlySet<string> = new Set([
  'apiservices.apiregistration.k8s.io',
  'certificatesigningrequests.certificates.k8s.io',
  'csinodes.storage.k8s.io',
  'horizontalpodautoscalers.autoscaling',
  'ipaddresses.networking.k8s.io',
  'leases.coordination.k8s.io',
  'limitranges',
  'namespaces',
  'nodes',
  'persistentvolumeclaims',
  'persistentvolumes',
  'resourceclaims.resource.k8s.io',
  'resourceclaimtemplates.resource.k8s.io',
  'resourcequotas',
  'servicecidrs.networking.k8s.io',
  'services',
  'volumeattachments.storage.k8s.io',
]);
/** The members that the generation counts, if other than the spec. */
const COUNTED: Readonly<Record<string, readonly string[]>> = {
  'deployments.apps': ['spec', 'annotations'],
  'endpointslices.discovery.k8s.io': ['endpoints', 'ports', 'labels'],
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': ['webhooks'],
  podtemplates: ['template'],
  'priorityclasses.scheduling.k8s.io': [],
  'validatingwebhookconfigurations.admissionregistration.k8s.io': ['webhooks'],
};
/** Has no generation until the first change of the spec. */
const COUNTED_LATER = 'csidrivers.storage.k8s.io';

/** Returns what the generation of a built-in object counts; undefined for a kind without a generation. */
export function countedParts(definition: ServedResource, object: KubeObject): Json[] | undefined {
  const name = qualifiedName(definition);
  const hasSpec = object['spec'] !== undefined || definition.schema?.fieldType.names('spec') === true;
  const { labels = {}, annotations = {} } = object.metadata;
  const parts: JsonObject = { ...object, labels, annotations };
  return (COUNTED[name] ?? (hasSpec && !UNCOUNTED.has(name) ? ['spec'] : undefined))?.map(
    (member) => parts[member] ?? null,
  );
}

/** True if the generation of a new object is 1. */
export function countsFromCreation(definition: ServedResource, object: KubeObject): boolean {
  return qualifiedName(definition) !== COUNTED_LATER && countedParts(definition, object) !== undefined;
}
