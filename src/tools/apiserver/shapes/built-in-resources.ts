/** The built-in resources that the server serves: what a real server's discovery lists, and the few facts that it does not list. */

import { text } from '../store/causes.ts';
import { memberOf } from '../store/json.ts';
import type { KubeObject } from '../store/json.ts';
import type { ScalePaths, ServedResource } from '../store/resources.ts';
import { apiVersionOf } from '../store/resources.ts';
import { qualifiedName } from '../store/status.ts';
import { withShape } from './built-in-schema.ts';
import type { KindRules } from './built-in-schema.ts';
import { KIND_RULES } from './kind-rules.ts';
import { builtInKinds } from './shapes.ts';
import type { DiscoveredResource } from './shapes.ts';

/** Facts that discovery does not list. */
type Extra = Pick<
  ServedResource,
  'fields' | 'derived' | 'graceful' | 'returnsDeleted' | 'orphansDependents' | 'deprecation'
>;

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
/** The fields of an event by the names of the group events.k8s.io. */
const REGARDING_FIELDS = Object.fromEntries(
  Object.keys(EVENT_FIELDS).map((path) => [
    path.replace('involvedObject', 'regarding').replace('reportingComponent', 'reportingController'),
    '',
  ]),
);
const POD_FIELDS = {
  'spec.nodeName': '',
  'spec.restartPolicy': '',
  'spec.schedulerName': '',
  'spec.serviceAccountName': '',
  'spec.hostNetwork': 'false',
  'status.phase': '',
  'status.podIP': '',
  'status.nominatedNodeName': '',
  // A real server knows the label and no value.
  'status.podIPs': '',
};

/** Returns the component that an event comes from. */
function sourceOf({ source, reportingComponent }: KubeObject): string {
  return text(memberOf(source, 'component')) || text(reportingComponent);
}

/** Returns the node of a Pod, by the oldest name of the field. */
function nodeOf({ spec }: KubeObject): string {
  return text(memberOf(spec, 'nodeName'));
}

const RETURNED: Extra = { returnsDeleted: true };

const EXTRAS: Readonly<Record<string, Extra>> = {
  endpoints: { deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
  events: { fields: EVENT_FIELDS, derived: { source: sourceOf } },
  'events.events.k8s.io': { fields: REGARDING_FIELDS },
  namespaces: { fields: { 'status.phase': '' }, ...RETURNED },
  nodes: { fields: { 'spec.unschedulable': 'false' } },
  persistentvolumeclaims: RETURNED,
  persistentvolumes: RETURNED,
  pods: { fields: POD_FIELDS, derived: { 'spec.host': nodeOf }, graceful: true, ...RETURNED },
  podtemplates: RETURNED,
  replicationcontrollers: { fields: { 'status.replicas': '0' }, orphansDependents: true },
  resourcequotas: RETURNED,
  secrets: { fields: { type: '' } },
  serviceaccounts: RETURNED,
  services: { fields: { 'spec.clusterIP': '', 'spec.type': '' }, ...RETURNED },
  'certificatesigningrequests.certificates.k8s.io': { fields: { 'spec.signerName': '' } },
  'csidrivers.storage.k8s.io': RETURNED,
  'csinodes.storage.k8s.io': RETURNED,
  'jobs.batch': { fields: { 'status.successful': '0' }, orphansDependents: true },
  'resourceslices.resource.k8s.io': { fields: { 'spec.driver': '', 'spec.nodeName': '' } },
  'storageclasses.storage.k8s.io': RETURNED,
  'volumeattachments.storage.k8s.io': RETURNED,
};

const SCALE: ScalePaths = {
  replicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};

/** The older version of a resource, which comes after the version of the same name that stores the objects. */
const OLDER = 'autoscaling/v1';
/** Resources that other modules define, with rules of their own. */
const ELSEWHERE = 'customresourcedefinitions';

function isServed({ resource, verbs }: DiscoveredResource): boolean {
  return verbs.includes('watch') && resource !== ELSEWHERE;
}

function isOlder(resource: DiscoveredResource): boolean {
  return apiVersionOf(resource) === OLDER;
}

function rulesOf(resource: DiscoveredResource): KindRules | undefined {
  const name = qualifiedName(resource);
  return KIND_RULES.get(`${name}/${resource.version}`) ?? KIND_RULES.get(name);
}

/** Returns the resource with the facts of the table. */
export function discovered({ subresources = {}, ...resource }: DiscoveredResource): ServedResource {
  return {
    ...resource,
    ...(subresources['status'] === undefined ? {} : { status: true }),
    ...(subresources['scale'] === undefined ? {} : { scale: SCALE }),
    ...EXTRAS[qualifiedName(resource)],
  };
}

/** Returns the resources that can be listed and watched, with the schemas of their kinds. */
export function builtInResources(): ServedResource[] {
  return builtInKinds()
    .resources.filter(isServed)
    .toSorted((one, other) => Number(isOlder(one)) - Number(isOlder(other)))
    .map(({ frozen, ...resource }) => withShape(discovered(resource), rulesOf(resource), frozen));
}
