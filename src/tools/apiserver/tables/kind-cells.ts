/** The cells of the built-in kinds that do not run Pods. */

import { members, objects, text, texts } from '../store/causes.ts';
import { memberOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import {
  ageAt,
  at,
  conditionOf,
  countAt,
  firstOf,
  joinedAt,
  labelsAt,
  numberAt,
  selectorAt,
  shown,
  valueAt,
} from './cell.ts';
import type { Cell, Cells } from './cell.ts';
import { humanDuration } from './duration.ts';
import { POD } from './pod-cells.ts';
import { WORKLOADS } from './workload-cells.ts';

/** Addresses and ports that a cell lists. */
const PLACES_MAX = 3;

function portText({ port, nodePort, protocol }: JsonObject): string {
  const node = typeof nodePort === 'number' && nodePort > 0 ? `:${nodePort}` : '';
  return `${shown(port)}${node}/${text(protocol)}`;
}

function ingressOf(object: KubeObject): string {
  const points = objects(valueAt(object, 'status.loadBalancer.ingress'));
  return [...new Set(points.map(({ ip, hostname }) => text(ip) || text(hostname)))].toSorted().join(',');
}

function externalIp(service: KubeObject): string {
  const spec = members(service['spec']);
  const given = texts(spec['externalIPs']).join(',');
  switch (spec['type']) {
    case 'ClusterIP':
    case 'NodePort':
      return given || '<none>';
    case 'LoadBalancer':
      return [ingressOf(service), given].filter((part) => part !== '').join(',') || '<pending>';
    case 'ExternalName':
      return text(spec['externalName']);
    default:
      return '<unknown>';
  }
}

const SERVICE: Cells = {
  Type: at('spec.type'),
  'Cluster-IP': (service) => texts(valueAt(service, 'spec.clusterIPs'))[0] || '<none>',
  'External-IP': externalIp,
  'Port(s)': (service) => objects(valueAt(service, 'spec.ports')).map(portText).join(',') || '<none>',
  Selector: labelsAt('spec.selector'),
};

function hostsText(ingress: KubeObject): string {
  const rules = objects(valueAt(ingress, 'spec.rules'));
  const hosts: string[] = [];
  for (const { host } of rules) if (hosts.length < PLACES_MAX && text(host) !== '') hosts.push(text(host));
  if (hosts.length === 0) return '*';
  const isCut = hosts.length === PLACES_MAX && rules.length > PLACES_MAX;
  return `${hosts.join(',')}${isCut ? ` + ${rules.length - PLACES_MAX} more...` : ''}`;
}

const INGRESS: Cells = {
  Class: at('spec.ingressClassName', '<none>'),
  Hosts: hostsText,
  Address: ingressOf,
  Ports: (ingress) => (objects(valueAt(ingress, 'spec.tls')).length === 0 ? '80' : '80, 443'),
};

function endpointsText(endpoints: KubeObject): string {
  const places = objects(endpoints['subsets']).flatMap((subset) => {
    const addresses = objects(subset['addresses']).map(({ ip }) => text(ip));
    const ports = objects(subset['ports']);
    const host = (ip: string): string => (ip.includes(':') ? `[${ip}]` : ip);
    return ports.length === 0
      ? addresses
      : ports.flatMap(({ port }) => addresses.map((ip) => `${host(ip)}:${shown(port)}`));
  });
  return objects(endpoints['subsets']).length === 0 ? '<none>' : firstOf(places, PLACES_MAX);
}

const ENDPOINT_SLICE: Cells = {
  AddressType: at('addressType'),
  Ports: (slice) => {
    const ports = objects(slice['ports']).map(
      ({ port, name }) => shown(port) || (name === undefined ? '*' : text(name)),
    );
    return firstOf(ports, PLACES_MAX) || '<unset>';
  },
  Endpoints: (slice) =>
    firstOf(
      objects(slice['endpoints']).flatMap(({ addresses }) => texts(addresses)),
      PLACES_MAX,
    ) || '<unset>',
};

function nodeStatus(node: KubeObject): string {
  const ready = conditionOf(node, 'Ready');
  const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return valueAt(node, 'spec.unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function rolesText({ metadata }: KubeObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.entries(metadata.labels ?? {}).map(([key, value]) =>
    key.startsWith(prefix) ? key.slice(prefix.length) : key === 'kubernetes.io/role' ? value : '',
  );
  return [...new Set(roles.filter((role) => role !== ''))].toSorted().join(',') || '<none>';
}

function addressOf(type: string): Cell {
  return (node) => {
    const found = objects(valueAt(node, 'status.addresses')).find((address) => address['type'] === type);
    return text(found?.['address']) || '<none>';
  };
}

const NODE: Cells = {
  Status: nodeStatus,
  Roles: rolesText,
  Version: at('status.nodeInfo.kubeletVersion'),
  'Internal-IP': addressOf('InternalIP'),
  'External-IP': addressOf('ExternalIP'),
  'OS-Image': at('status.nodeInfo.osImage', '<unknown>'),
  'Kernel-Version': (node) => {
    const architecture = text(valueAt(node, 'status.nodeInfo.architecture'));
    const kernel = text(valueAt(node, 'status.nodeInfo.kernelVersion')) || '<unknown>';
    return architecture === '' ? kernel : `${kernel} (${architecture})`;
  },
  'Container-Runtime': at('status.nodeInfo.containerRuntimeVersion', '<unknown>'),
};

/** Returns the cells of an event. The names of fields differ between the groups. */
function eventCells(
  object: string,
  message: string,
  source: string,
  names: { readonly first: string; readonly last: string; readonly count: string; readonly reporter: string },
): Cells {
  const first: Cell = (event, now) =>
    ageAt(text(event[names.first]) === '' ? 'eventTime' : names.first)(event, now);
  const isSeries = (event: KubeObject): boolean => event['series'] !== undefined && event['series'] !== null;
  return {
    'Last Seen': (event, now) => {
      if (isSeries(event)) return ageAt('series.lastObservedTime')(event, now);
      return text(event[names.last]) === '' ? first(event, now) : ageAt(names.last)(event, now);
    },
    Type: at('type'),
    Reason: at('reason'),
    Object: (event) => {
      const about = event[object];
      return [text(memberOf(about, 'kind')).toLowerCase(), text(memberOf(about, 'name'))]
        .filter((part) => part !== '')
        .join('/');
    },
    Subobject: at(`${object}.fieldPath`),
    Source: (event) => {
      const component = text(valueAt(event, `${source}.component`)) || text(event[names.reporter]);
      const host = text(valueAt(event, `${source}.host`)) || text(event['reportingInstance']);
      return host === '' ? component : `${component}, ${host}`;
    },
    Message: (event) => text(event[message]).trim(),
    'First Seen': first,
    Count: (event) => (isSeries(event) ? valueAt(event, 'series.count') : event[names.count]) || 1,
  };
}

const MODES = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

function modesText(modes: Json | undefined): string {
  const given = texts(modes);
  return MODES.filter(([mode]) => given.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

function orTerminating(path: string): Cell {
  return (object) =>
    object.metadata.deletionTimestamp === undefined ? text(valueAt(object, path)) : 'Terminating';
}

const VOLUME: Cells = {
  Status: orTerminating('status.phase'),
  StorageClass: (object) =>
    object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ??
    text(valueAt(object, 'spec.storageClassName')),
  VolumeAttributesClass: at('spec.volumeAttributesClassName', '<unset>'),
  VolumeMode: at('spec.volumeMode', '<unset>'),
};

const PERSISTENT_VOLUME: Cells = {
  ...VOLUME,
  Capacity: at('spec.capacity.storage', '0'),
  'Access Modes': (volume) => modesText(valueAt(volume, 'spec.accessModes')),
  'Reclaim Policy': at('spec.persistentVolumeReclaimPolicy'),
  Claim: (volume) => {
    const claim = valueAt(volume, 'spec.claimRef');
    return claim === undefined
      ? ''
      : `${text(memberOf(claim, 'namespace'))}/${text(memberOf(claim, 'name'))}`;
  },
  Reason: at('status.reason'),
};

function ifBound(cell: Cell): Cell {
  return (claim, now) => (text(valueAt(claim, 'spec.volumeName')) === '' ? '' : cell(claim, now));
}

const CLAIM: Cells = {
  ...VOLUME,
  Volume: at('spec.volumeName'),
  Capacity: ifBound(at('status.capacity.storage', '0')),
  'Access Modes': ifBound((claim) => modesText(valueAt(claim, 'status.accessModes'))),
};

/** Returns the name, marked if an annotation makes the class the default. */
function classNameBy(...annotations: string[]): Cell {
  return ({ metadata }) => {
    const isDefault = annotations.some((name) => metadata.annotations?.[name] === 'true');
    return `${metadata.name ?? ''}${isDefault ? ' (default)' : ''}`;
  };
}

const STORAGE_CLASS: Cells = {
  Name: classNameBy(
    'storageclass.kubernetes.io/is-default-class',
    'storageclass.beta.kubernetes.io/is-default-class',
  ),
  Provisioner: at('provisioner'),
  ReclaimPolicy: at('reclaimPolicy', 'Delete'),
  VolumeBindingMode: at('volumeBindingMode', 'Immediate'),
  AllowVolumeExpansion: at('allowVolumeExpansion', false),
};

const INGRESS_CLASS: Cells = {
  Name: classNameBy('ingressclass.kubernetes.io/is-default-class'),
  Controller: at('spec.controller'),
  Parameters: (object) => {
    const parameters = valueAt(object, 'spec.parameters');
    if (parameters === undefined) return '<none>';
    const group = text(memberOf(parameters, 'apiGroup'));
    const kind = `${text(memberOf(parameters, 'kind'))}${group === '' ? '' : `.${group}`}`;
    return `${kind}/${text(memberOf(parameters, 'name'))}`;
  },
};

function subjects(kind: string): Cell {
  return (binding) =>
    objects(binding['subjects'])
      .filter((subject) => subject['kind'] === kind)
      .map(({ namespace, name }) =>
        kind === 'ServiceAccount' ? `${text(namespace)}/${text(name)}` : text(name),
      )
      .join(', ');
}

const BINDING: Cells = {
  Role: (binding) => `${text(valueAt(binding, 'roleRef.kind'))}/${text(valueAt(binding, 'roleRef.name'))}`,
  Users: subjects('User'),
  Groups: subjects('Group'),
  ServiceAccounts: subjects('ServiceAccount'),
};

/** Returns `pods: 1/10` for the resources of a quota that are limits, or that are none. */
function quotaText(isLimits: boolean): Cell {
  return (quota) => {
    const [hard, used] = ['hard', 'used'].map((name) => members(valueAt(quota, `status.${name}`)));
    const names = Object.keys(hard ?? {}).filter((name) => name.startsWith('limits.') === isLimits);
    return names
      .toSorted()
      .map((name) => `${name}: ${text(used?.[name]) || '0'}/${text(hard?.[name])}`)
      .join(', ');
  };
}

function requestCondition(request: KubeObject): string {
  const has = (type: string): boolean => conditionOf(request, type) !== undefined;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  const isIssued = text(valueAt(request, 'status.certificate')) !== '';
  return `${decision}${has('Failed') ? ',Failed' : ''}${isIssued ? ',Issued' : ''}`;
}

const SIGNING_REQUEST: Cells = {
  SignerName: at('spec.signerName', '<none>'),
  Requestor: at('spec.username'),
  RequestedDuration: (request) => {
    const seconds = valueAt(request, 'spec.expirationSeconds');
    return typeof seconds === 'number' ? humanDuration(seconds * 1000) : '<none>';
  },
  Condition: requestCondition,
};

const API_SERVICE: Cells = {
  Service: (object) => {
    const service = valueAt(object, 'spec.service');
    if (service === undefined) return 'Local';
    return `${text(memberOf(service, 'namespace'))}/${text(memberOf(service, 'name'))}`;
  },
  Available: (object) => {
    const { status, reason } = conditionOf(object, 'Available') ?? { status: 'Unknown' };
    return status === 'True' || text(reason) === '' ? text(status) : `${text(status)} (${text(reason)})`;
  },
};

const PRIORITY_CLASS: Cells = {
  Value: numberAt('value'),
  'Global-Default': at('globalDefault', false),
  PreemptionPolicy: at('preemptionPolicy'),
};

/** Returns the cells of an admission policy with the count of the rules at a path. */
function policyCells(name: string, path: string): Cells {
  return {
    [name]: countAt(path),
    ParamKind: (policy) => {
      const kind = valueAt(policy, 'spec.paramKind');
      return kind === undefined
        ? '<unset>'
        : `${text(memberOf(kind, 'apiVersion'))}/${text(memberOf(kind, 'kind'))}`;
    },
  };
}

const POLICY_BINDING: Cells = {
  PolicyName: at('spec.policyName'),
  ParamRef: (binding) => {
    const name = text(valueAt(binding, 'spec.paramRef.name'));
    return name === '' ? '<unset>' : `${text(valueAt(binding, 'spec.paramRef.namespace')) || '*'}/${name}`;
  },
};

const CSI_DRIVER: Cells = {
  AttachRequired: at('spec.attachRequired', true),
  PodInfoOnMount: at('spec.podInfoOnMount', false),
  StorageCapacity: at('spec.storageCapacity', false),
  TokenRequests: (driver) => {
    const audiences = objects(valueAt(driver, 'spec.tokenRequests')).map(({ audience }) => text(audience));
    return valueAt(driver, 'spec.tokenRequests') === undefined ? '<unset>' : audiences.join(',');
  },
  RequiresRepublish: at('spec.requiresRepublish', false),
  Modes: joinedAt('spec.volumeLifecycleModes', '<none>'),
};

const VOLUME_ATTACHMENT: Cells = {
  Attacher: at('spec.attacher'),
  PV: at('spec.source.persistentVolumeName'),
  Node: at('spec.nodeName'),
  Attached: at('status.attached', false),
};

const FLOW_SCHEMA: Cells = {
  PriorityLevel: at('spec.priorityLevelConfiguration.name'),
  MatchingPrecedence: numberAt('spec.matchingPrecedence'),
  DistinguisherMethod: at('spec.distinguisherMethod.type', '<none>'),
  MissingPL: (schema) => text(conditionOf(schema, 'Dangling')?.['status']) || '?',
};

const PRIORITY_LEVEL: Cells = {
  Type: at('spec.type'),
  NominalConcurrencyShares: at('spec.limited.nominalConcurrencyShares', '<none>'),
  Queues: at('spec.limited.limitResponse.queuing.queues', '<none>'),
  HandSize: at('spec.limited.limitResponse.queuing.handSize', '<none>'),
  QueueLengthLimit: at('spec.limited.limitResponse.queuing.queueLengthLimit', '<none>'),
};

function claimState(claim: KubeObject): string {
  const isDeleted = claim.metadata.deletionTimestamp !== undefined;
  const isAllocated = valueAt(claim, 'status.allocation') !== undefined;
  const isReserved = isAllocated && objects(valueAt(claim, 'status.reservedFor')).length > 0;
  const states = [
    ...(isDeleted ? ['deleted'] : []),
    ...(isAllocated ? ['allocated'] : isDeleted ? [] : ['pending']),
    ...(isReserved ? ['reserved'] : []),
  ];
  return states.join(',');
}

/** The cells of each kind, by the name of the resource. */
export const CELLS: Readonly<Record<string, Cells>> = {
  ...WORKLOADS,
  'apiservices.apiregistration.k8s.io': API_SERVICE,
  'certificatesigningrequests.certificates.k8s.io': SIGNING_REQUEST,
  'clusterrolebindings.rbac.authorization.k8s.io': BINDING,
  configmaps: { Data: countAt('data', 'binaryData') },
  'csinodes.storage.k8s.io': { Drivers: countAt('spec.drivers') },
  'csidrivers.storage.k8s.io': CSI_DRIVER,
  endpoints: { Endpoints: endpointsText },
  'endpointslices.discovery.k8s.io': ENDPOINT_SLICE,
  events: eventCells('involvedObject', 'message', 'source', {
    first: 'firstTimestamp',
    last: 'lastTimestamp',
    count: 'count',
    reporter: 'reportingComponent',
  }),
  'events.events.k8s.io': eventCells('regarding', 'note', 'deprecatedSource', {
    first: 'deprecatedFirstTimestamp',
    last: 'deprecatedLastTimestamp',
    count: 'deprecatedCount',
    reporter: 'reportingController',
  }),
  'flowschemas.flowcontrol.apiserver.k8s.io': FLOW_SCHEMA,
  'ingressclasses.networking.k8s.io': INGRESS_CLASS,
  'ingresses.networking.k8s.io': INGRESS,
  'ipaddresses.networking.k8s.io': {
    ParentRef: (address) => {
      const parent = valueAt(address, 'spec.parentRef');
      const group = text(memberOf(parent, 'group'));
      const names = [text(memberOf(parent, 'namespace')), text(memberOf(parent, 'name'))];
      const resource =
        `${text(memberOf(parent, 'resource'))}${group === '' ? '' : `.${group}`}`.toLowerCase();
      return parent === undefined ? '<none>' : [resource, ...names].filter((part) => part !== '').join('/');
    },
  },
  'leases.coordination.k8s.io': { Holder: at('spec.holderIdentity') },
  'mutatingadmissionpolicies.admissionregistration.k8s.io': policyCells('Mutations', 'spec.mutations'),
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': POLICY_BINDING,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': { Webhooks: countAt('webhooks') },
  namespaces: { Status: at('status.phase') },
  'networkpolicies.networking.k8s.io': { 'Pod-Selector': selectorAt('spec.podSelector') },
  nodes: NODE,
  persistentvolumeclaims: CLAIM,
  persistentvolumes: PERSISTENT_VOLUME,
  pods: POD,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASS,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': PRIORITY_LEVEL,
  'resourceclaims.resource.k8s.io': { State: claimState },
  resourcequotas: { Request: quotaText(false), Limit: quotaText(true) },
  'resourceslices.resource.k8s.io': {
    Node: at('spec.nodeName'),
    Driver: at('spec.driver'),
    Pool: at('spec.pool.name'),
  },
  'rolebindings.rbac.authorization.k8s.io': BINDING,
  'runtimeclasses.node.k8s.io': { Handler: at('handler') },
  secrets: { Type: at('type'), Data: countAt('data') },
  'servicecidrs.networking.k8s.io': { CIDRs: joinedAt('spec.cidrs') },
  services: SERVICE,
  'storageclasses.storage.k8s.io': STORAGE_CLASS,
  'validatingadmissionpolicies.admissionregistration.k8s.io': policyCells('Validations', 'spec.validations'),
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': POLICY_BINDING,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': { Webhooks: countAt('webhooks') },
  'volumeattachments.storage.k8s.io': VOLUME_ATTACHMENT,
  'volumeattributesclasses.storage.k8s.io': { DriverName: at('driverName') },
};
