/**
 * The resources of the server: a table from group/version/resource to kind, scope and the few facts that the verbs
 * need. CustomResourceDefinitions and `registerResource` add more at run time.
 */

import { KubeloomError } from '../../../base/errors.ts';
import { resources } from '../../../kube/built-in.ts';
import type { FieldType } from '../fields/schema-types.ts';
import type { FieldError } from './field-error.ts';
import type { KubeObject } from './json.ts';
import type { ResourceRef } from '../../../kube/resource.ts';

/** A resource that the server for tests serves. */
export interface ResourceDefinition {
  /** API group; '' for the core group. */
  readonly group: string;
  /** Version of the group: `v1beta1`. */
  readonly version: string;
  /** Plural and lower case, as in URLs. */
  readonly resource: string;
  /** Kind of the objects: `Widget`. */
  readonly kind: string;
  /** False for a cluster-scoped resource. */
  readonly namespaced: boolean;
  /** Short names for kubectl, as discovery lists them. Default: none. */
  readonly shortNames?: readonly string[];
  /** True if there is a `/status` subresource; writes to the object itself then leave `status` unchanged. */
  readonly status?: boolean;
  /** Selectable fields beyond metadata.name and metadata.namespace: path to the value when absent. */
  readonly fields?: Readonly<Record<string, string>>;
  /** True when an update with a deletionTimestamp precedes the deletion (pods). */
  readonly graceful?: boolean;
  /** True when DELETE answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** True for custom resources: they are written with sorted keys, and their list items contain kind and apiVersion. */
  readonly custom?: boolean;
}

/** Paths in an object, from which `/scale` is made. */
export interface ScalePaths {
  readonly replicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** Path of a selector: text, or a label selector. */
  readonly selector: readonly string[];
}

/** The rules for the contents of objects. */
export interface ResourceSchema {
  /** The type by which managers own fields. */
  readonly fieldType: FieldType;
  /** Returns the object as it is kept: without unknown fields, with defaults. */
  coerce(object: KubeObject): KubeObject;
  /** Paths of the fields that `coerce` removes because the schema does not name them. */
  unknownFields(object: KubeObject): readonly string[];
  /** Returns the broken rules of an object that `coerce` returned. */
  validate(object: KubeObject, previous: KubeObject | undefined): readonly FieldError[];
}

/** @internal A definition with the facts that only the server itself can give. */
export interface ServedResource extends ResourceDefinition {
  readonly listKind?: string;
  readonly singular?: string;
  readonly categories?: readonly string[];
  /** The verbs in discovery, if some are missing. */
  readonly verbs?: readonly string[];
  readonly scale?: ScalePaths;
  readonly schema?: ResourceSchema;
  /** Answers a creation instead of storing the object. */
  readonly review?: (object: KubeObject) => KubeObject;
  /** True when a deletion without a policy leaves the dependents. */
  readonly orphansDependents?: boolean;
  /** True while the CustomResourceDefinition is being deleted: creations are refused. */
  readonly terminating?: boolean;
}

type Extra = Omit<ServedResource, keyof ResourceRef | 'namespaced'>;

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

const SERVICE_FIELDS = { 'spec.clusterIP': '', 'spec.type': '' };
const REPLICAS = { 'status.replicas': '0' };
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

const SCALE: ScalePaths = {
  replicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};
const { core, apps, autoscaling, batch, coordination, discovery, events } = resources;
const { networking, policy, rbac, scheduling, storage } = resources;

const BUILT_IN: ReadonlyArray<readonly [ResourceRef, Extra?]> = [
  [core.v1.configMaps, { shortNames: ['cm'] }],
  [core.v1.endpoints, { shortNames: ['ep'] }],
  [core.v1.events, { shortNames: ['ev'], fields: EVENT_FIELDS }],
  [core.v1.limitRanges, { shortNames: ['limits'] }],
  [
    core.v1.namespaces,
    { shortNames: ['ns'], status: true, fields: { 'status.phase': '' }, returnsDeleted: true },
  ],
  [core.v1.nodes, { shortNames: ['no'], status: true, fields: { 'spec.unschedulable': 'false' } }],
  [core.v1.persistentVolumeClaims, { shortNames: ['pvc'], status: true, returnsDeleted: true }],
  [core.v1.persistentVolumes, { shortNames: ['pv'], status: true, returnsDeleted: true }],
  [
    core.v1.pods,
    { shortNames: ['po'], status: true, fields: POD_FIELDS, graceful: true, returnsDeleted: true },
  ],
  [core.v1.podTemplates, { returnsDeleted: true }],
  [
    core.v1.replicationControllers,
    { shortNames: ['rc'], status: true, fields: REPLICAS, scale: SCALE, orphansDependents: true },
  ],
  [core.v1.resourceQuotas, { shortNames: ['quota'], status: true, returnsDeleted: true }],
  [core.v1.secrets, { fields: { type: '' } }],
  [core.v1.serviceAccounts, { shortNames: ['sa'], returnsDeleted: true }],
  [core.v1.services, { shortNames: ['svc'], status: true, fields: SERVICE_FIELDS, returnsDeleted: true }],
  [apps.v1.controllerRevisions],
  [apps.v1.daemonSets, { shortNames: ['ds'], status: true }],
  [apps.v1.deployments, { shortNames: ['deploy'], status: true, scale: SCALE }],
  [apps.v1.replicaSets, { shortNames: ['rs'], status: true, fields: REPLICAS, scale: SCALE }],
  [apps.v1.statefulSets, { shortNames: ['sts'], status: true, scale: SCALE }],
  [autoscaling.v2.horizontalPodAutoscalers, { shortNames: ['hpa'], status: true }],
  [batch.v1.cronJobs, { shortNames: ['cj'], status: true }],
  [batch.v1.jobs, { status: true, fields: { 'status.successful': '0' }, orphansDependents: true }],
  [coordination.v1.leases],
  [discovery.v1.endpointSlices],
  [events.v1.events, { shortNames: ['ev'] }],
  [networking.v1.ingressClasses],
  [networking.v1.ingresses, { shortNames: ['ing'], status: true }],
  [networking.v1.networkPolicies, { shortNames: ['netpol'] }],
  [policy.v1.podDisruptionBudgets, { shortNames: ['pdb'], status: true }],
  [rbac.v1.clusterRoleBindings],
  [rbac.v1.clusterRoles],
  [rbac.v1.roleBindings],
  [rbac.v1.roles],
  [scheduling.v1.priorityClasses, { shortNames: ['pc'] }],
  [storage.v1.storageClasses, { shortNames: ['sc'], returnsDeleted: true }],
  [storage.v1.volumeAttachments, { status: true, returnsDeleted: true }],
];

/** @internal */
export function definitionOf({ isNamespaced, ...ref }: ResourceRef, extra: Extra = {}): ServedResource {
  return { ...ref, namespaced: isNamespaced, ...extra };
}

export function apiVersionOf(definition: Pick<ResourceDefinition, 'group' | 'version'>): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}

/** @internal The registered resources, found by the parts of a URL, by kind or by kubectl's name. */
export class ResourceTable {
  readonly #definitions: ServedResource[] = BUILT_IN.map(([ref, extra]) => definitionOf(ref, extra));

  register(definition: ServedResource): void {
    const { group, version, resource } = definition;
    if (this.find(group, version, resource)) {
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `${resource}.${version}.${group} is already registered`);
    }
    this.#definitions.push(definition);
  }

  unregister(definition: ServedResource): void {
    this.#definitions.splice(this.#definitions.indexOf(definition), 1);
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.#definitions.find(
      (entry) => entry.resource === resource && entry.group === group && entry.version === version,
    );
  }

  /** Returns the resource of the `apiVersion` and `kind` of a reference. */
  ofKind(apiVersion: string, kind: string): ServedResource | undefined {
    return this.#definitions.find((entry) => entry.kind === kind && apiVersionOf(entry) === apiVersion);
  }

  /** True when a resource of this group and version is registered. */
  serves(group: string, version: string): boolean {
    return this.#definitions.some((entry) => entry.group === group && entry.version === version);
  }

  /** Returns the resource of a name such as `pods` or `deployments.apps`: the resource, followed by the group. */
  named(name: string): ServedResource {
    const [resource = '', ...group] = name.split('.');
    const groupName = group.join('.');
    const found = this.#definitions.find((entry) => entry.resource === resource && entry.group === groupName);
    if (found === undefined) {
      const message = `no resource ${name}: use the plural and the group (pods, deployments.apps), or register it`;
      throw new KubeloomError('ERR_KUBELOOM_UNKNOWN_RESOURCE', message);
    }
    return found;
  }

  all(): readonly ServedResource[] {
    return this.#definitions;
  }
}
