/**
 * The resources of the server: one table from group/version/resource to kind, scope and the few facts that
 * the verbs need. Custom resources are added at run time (`registerResource`).
 */

import { KubeloomError } from '../base/errors.ts';

export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  /** Plural and lower case, as in URLs. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  /** True when there is a `/status` subresource. Writes to the object itself then leave `status` alone. */
  readonly status?: boolean;
  /** Selectable fields beyond metadata.name and metadata.namespace: path to the value when absent. */
  readonly fields?: Readonly<Record<string, string>>;
  /** True when an update with a deletionTimestamp precedes the deletion (pods). */
  readonly graceful?: boolean;
  /** True when DELETE answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** True for custom resources: they are written with sorted keys, and their list items have kind and apiVersion. */
  readonly custom?: boolean;
}

type Extra = Pick<ResourceDefinition, 'shortNames' | 'status' | 'fields' | 'graceful' | 'returnsDeleted'>;

function namespaced(
  group: string,
  version: string,
  resource: string,
  kind: string,
  extra: Extra = {},
): ResourceDefinition {
  return { group, version, resource, kind, namespaced: true, ...extra };
}

function cluster(
  group: string,
  version: string,
  resource: string,
  kind: string,
  extra: Extra = {},
): ResourceDefinition {
  return { group, version, resource, kind, namespaced: false, ...extra };
}

const POD_FIELDS = {
  'spec.nodeName': '',
  'spec.restartPolicy': '',
  'spec.schedulerName': '',
  'spec.serviceAccountName': '',
  'spec.hostNetwork': 'false',
  'status.phase': '',
  'status.podIP': '',
  'status.nominatedNodeName': '',
};

const EVENT_FIELDS = {
  'involvedObject.kind': '',
  'involvedObject.namespace': '',
  'involvedObject.name': '',
  'involvedObject.uid': '',
  'involvedObject.apiVersion': '',
  'involvedObject.resourceVersion': '',
  'involvedObject.fieldPath': '',
  reason: '',
  reportingComponent: '',
  type: '',
};

const RBAC = 'rbac.authorization.k8s.io';
const NETWORKING = 'networking.k8s.io';
const STORAGE = 'storage.k8s.io';

export const BUILT_IN_RESOURCES: readonly ResourceDefinition[] = [
  namespaced('', 'v1', 'configmaps', 'ConfigMap', { shortNames: ['cm'] }),
  namespaced('', 'v1', 'endpoints', 'Endpoints', { shortNames: ['ep'] }),
  namespaced('', 'v1', 'events', 'Event', { shortNames: ['ev'], fields: EVENT_FIELDS }),
  namespaced('', 'v1', 'limitranges', 'LimitRange', { shortNames: ['limits'] }),
  cluster('', 'v1', 'namespaces', 'Namespace', {
    shortNames: ['ns'],
    status: true,
    fields: { 'status.phase': '' },
    returnsDeleted: true,
  }),
  cluster('', 'v1', 'nodes', 'Node', {
    shortNames: ['no'],
    status: true,
    fields: { 'spec.unschedulable': 'false' },
  }),
  namespaced('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', {
    shortNames: ['pvc'],
    status: true,
    returnsDeleted: true,
  }),
  cluster('', 'v1', 'persistentvolumes', 'PersistentVolume', {
    shortNames: ['pv'],
    status: true,
    returnsDeleted: true,
  }),
  namespaced('', 'v1', 'pods', 'Pod', {
    shortNames: ['po'],
    status: true,
    fields: POD_FIELDS,
    graceful: true,
    returnsDeleted: true,
  }),
  namespaced('', 'v1', 'podtemplates', 'PodTemplate', { returnsDeleted: true }),
  namespaced('', 'v1', 'replicationcontrollers', 'ReplicationController', {
    shortNames: ['rc'],
    status: true,
    fields: { 'status.replicas': '0' },
  }),
  namespaced('', 'v1', 'resourcequotas', 'ResourceQuota', {
    shortNames: ['quota'],
    status: true,
    returnsDeleted: true,
  }),
  namespaced('', 'v1', 'secrets', 'Secret', { fields: { type: '' } }),
  namespaced('', 'v1', 'serviceaccounts', 'ServiceAccount', { shortNames: ['sa'], returnsDeleted: true }),
  namespaced('', 'v1', 'services', 'Service', {
    shortNames: ['svc'],
    status: true,
    fields: { 'spec.clusterIP': '', 'spec.type': '' },
    returnsDeleted: true,
  }),
  namespaced('apps', 'v1', 'controllerrevisions', 'ControllerRevision'),
  namespaced('apps', 'v1', 'daemonsets', 'DaemonSet', { shortNames: ['ds'], status: true }),
  namespaced('apps', 'v1', 'deployments', 'Deployment', { shortNames: ['deploy'], status: true }),
  namespaced('apps', 'v1', 'replicasets', 'ReplicaSet', {
    shortNames: ['rs'],
    status: true,
    fields: { 'status.replicas': '0' },
  }),
  namespaced('apps', 'v1', 'statefulsets', 'StatefulSet', { shortNames: ['sts'], status: true }),
  namespaced('autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    shortNames: ['hpa'],
    status: true,
  }),
  namespaced('batch', 'v1', 'cronjobs', 'CronJob', { shortNames: ['cj'], status: true }),
  namespaced('batch', 'v1', 'jobs', 'Job', { status: true, fields: { 'status.successful': '0' } }),
  namespaced('coordination.k8s.io', 'v1', 'leases', 'Lease'),
  namespaced('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice'),
  namespaced('events.k8s.io', 'v1', 'events', 'Event', { shortNames: ['ev'] }),
  cluster(NETWORKING, 'v1', 'ingressclasses', 'IngressClass'),
  namespaced(NETWORKING, 'v1', 'ingresses', 'Ingress', { shortNames: ['ing'], status: true }),
  namespaced(NETWORKING, 'v1', 'networkpolicies', 'NetworkPolicy', { shortNames: ['netpol'] }),
  namespaced('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget', {
    shortNames: ['pdb'],
    status: true,
  }),
  cluster(RBAC, 'v1', 'clusterrolebindings', 'ClusterRoleBinding'),
  cluster(RBAC, 'v1', 'clusterroles', 'ClusterRole'),
  namespaced(RBAC, 'v1', 'rolebindings', 'RoleBinding'),
  namespaced(RBAC, 'v1', 'roles', 'Role'),
  cluster('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass', { shortNames: ['pc'] }),
  cluster(STORAGE, 'v1', 'storageclasses', 'StorageClass', { shortNames: ['sc'], returnsDeleted: true }),
  cluster(STORAGE, 'v1', 'volumeattachments', 'VolumeAttachment', { status: true, returnsDeleted: true }),
];

export function apiVersionOf(definition: ResourceDefinition): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}

/** The registered resources, found by the parts of a URL or by kubectl's name. */
export class ResourceTable {
  readonly #definitions: ResourceDefinition[] = [...BUILT_IN_RESOURCES];

  register(definition: ResourceDefinition): void {
    const { group, version, resource } = definition;
    if (this.find(group, version, resource)) {
      throw new KubeloomError(
        'ERR_KUBELOOM_RESOURCE_EXISTS',
        `${resource}.${version}.${group} is already registered`,
      );
    }
    this.#definitions.push(definition);
  }

  find(group: string, version: string, resource: string): ResourceDefinition | undefined {
    return this.#definitions.find(
      (entry) => entry.resource === resource && entry.group === group && entry.version === version,
    );
  }

  /** True when a resource of this group and version is registered. */
  serves(group: string, version: string): boolean {
    return this.#definitions.some((entry) => entry.group === group && entry.version === version);
  }

  /** Returns the resource of a name such as `pods` or `deployments.apps`: the resource, then its group. */
  named(name: string): ResourceDefinition {
    const [resource = '', ...group] = name.split('.');
    const groupName = group.join('.');
    const found = this.#definitions.find((entry) => entry.resource === resource && entry.group === groupName);
    if (found === undefined) {
      const message = `no resource ${name}: use the plural and the group (pods, deployments.apps), or register it`;
      throw new KubeloomError('ERR_KUBELOOM_UNKNOWN_RESOURCE', message);
    }
    return found;
  }

  all(): readonly ResourceDefinition[] {
    return this.#definitions;
  }
}
