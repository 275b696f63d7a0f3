/** The columns of each kind, in kubectl's order: data, one line for each column. */
import { apiVersionOf } from '../kube/resource.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { ageOf } from './age.ts';
import { podSummary } from './pod-columns.ts';
import { conditionOf, listAt, numberAt, sizeAt, textAt, valueAt } from '../kube/wire-path.ts';

export interface Column {
  readonly header: string;
  /** Shown only with `-o wide`. */
  readonly isWide?: boolean;
  cell(object: unknown, now: number): string;
}

const NONE = '<none>';

const AGE: Column = {
  header: 'AGE',
  cell: (object, now) => ageOf(valueAt(object, 'metadata.creationTimestamp'), now),
};

function text(header: string, path: string, absent: string = ''): Column {
  return { header, cell: (object) => textAt(object, path, absent) };
}

function count(header: string, path: string): Column {
  return { header, cell: (object) => String(numberAt(object, path)) };
}

function wide(column: Column): Column {
  return { ...column, isWide: true };
}

function fraction(header: string, part: string, whole: string): Column {
  return { header, cell: (object) => `${numberAt(object, part)}/${numberAt(object, whole)}` };
}

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  'v1/pods': [
    { header: 'READY', cell: (pod, now) => podSummary(pod, now).ready },
    { header: 'STATUS', cell: (pod, now) => podSummary(pod, now).status },
    { header: 'RESTARTS', cell: (pod, now) => podSummary(pod, now).restarts },
    AGE,
    wide(text('IP', 'status.podIP', NONE)),
    wide(text('NODE', 'spec.nodeName', NONE)),
  ],
  'v1/nodes': [
    { header: 'STATUS', cell: nodeStatus },
    { header: 'ROLES', cell: nodeRoles },
    AGE,
    text('VERSION', 'status.nodeInfo.kubeletVersion'),
  ],
  'v1/namespaces': [text('STATUS', 'status.phase'), AGE],
  'v1/services': [
    text('TYPE', 'spec.type'),
    text('CLUSTER-IP', 'spec.clusterIP', NONE),
    { header: 'PORT(S)', cell: servicePorts },
    AGE,
  ],
  'v1/configmaps': [
    { header: 'DATA', cell: (map) => String(sizeAt(map, 'data') + sizeAt(map, 'binaryData')) },
    AGE,
  ],
  'v1/secrets': [text('TYPE', 'type'), { header: 'DATA', cell: (it) => String(sizeAt(it, 'data')) }, AGE],
  'v1/persistentvolumeclaims': [
    text('STATUS', 'status.phase'),
    text('VOLUME', 'spec.volumeName'),
    text('CAPACITY', 'status.capacity.storage'),
    text('STORAGECLASS', 'spec.storageClassName'),
    AGE,
  ],
  'v1/persistentvolumes': [
    text('CAPACITY', 'spec.capacity.storage'),
    text('RECLAIM POLICY', 'spec.persistentVolumeReclaimPolicy'),
    text('STATUS', 'status.phase'),
    AGE,
  ],
  'v1/events': [
    { header: 'LAST SEEN', cell: (event, now) => ageOf(valueAt(event, 'lastTimestamp'), now) },
    text('TYPE', 'type'),
    text('REASON', 'reason'),
    { header: 'OBJECT', cell: eventObject },
    text('MESSAGE', 'message'),
  ],
  'apps/v1/deployments': [
    fraction('READY', 'status.readyReplicas', 'spec.replicas'),
    count('UP-TO-DATE', 'status.updatedReplicas'),
    count('AVAILABLE', 'status.availableReplicas'),
    AGE,
  ],
  'apps/v1/replicasets': [
    count('DESIRED', 'spec.replicas'),
    count('CURRENT', 'status.replicas'),
    count('READY', 'status.readyReplicas'),
    AGE,
  ],
  'apps/v1/statefulsets': [fraction('READY', 'status.readyReplicas', 'spec.replicas'), AGE],
  'apps/v1/daemonsets': [
    count('DESIRED', 'status.desiredNumberScheduled'),
    count('CURRENT', 'status.currentNumberScheduled'),
    count('READY', 'status.numberReady'),
    count('UP-TO-DATE', 'status.updatedNumberScheduled'),
    count('AVAILABLE', 'status.numberAvailable'),
    AGE,
  ],
  'batch/v1/jobs': [
    { header: 'STATUS', cell: jobStatus },
    fraction('COMPLETIONS', 'status.succeeded', 'spec.completions'),
    AGE,
  ],
  'coordination.k8s.io/v1/leases': [text('HOLDER', 'spec.holderIdentity'), AGE],
};

/** Kinds that are not in the table have a name and an age. */
export function columnsOf(
  ref: Pick<ResourceRef, 'group' | 'version' | 'resource'>,
  isWide: boolean,
): Column[] {
  const columns = COLUMNS[`${apiVersionOf(ref)}/${ref.resource}`] ?? [AGE];
  return columns.filter((column) => isWide || column.isWide !== true);
}

function nodeStatus(node: unknown): string {
  const status = { True: 'Ready', False: 'NotReady' }[conditionOf(node, 'Ready')] ?? 'Unknown';
  return valueAt(node, 'spec.unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function nodeRoles(node: unknown): string {
  const labels = Object.keys(valueAt(node, 'metadata.labels') ?? {});
  const roles = labels
    .filter((name) => name.startsWith(ROLE_PREFIX))
    .map((name) => name.slice(ROLE_PREFIX.length));
  return roles.sort().join(',') || NONE;
}

function servicePorts(service: unknown): string {
  const ports = listAt(service, 'spec.ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    const number = numberAt(port, 'port');
    return `${number}${nodePort === 0 ? '' : `:${nodePort}`}/${textAt(port, 'protocol', 'TCP')}`;
  });
  return ports.join(',') || NONE;
}

function eventObject(event: unknown): string {
  return `${textAt(event, 'involvedObject.kind').toLowerCase()}/${textAt(event, 'involvedObject.name')}`;
}

function jobStatus(job: unknown): string {
  if (conditionOf(job, 'Complete') === 'True') return 'Complete';
  if (conditionOf(job, 'Failed') === 'True') return 'Failed';
  if (textAt(job, 'metadata.deletionTimestamp') !== '') return 'Terminating';
  return conditionOf(job, 'Suspended') === 'True' ? 'Suspended' : 'Running';
}
