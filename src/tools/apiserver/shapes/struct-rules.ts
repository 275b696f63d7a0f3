/**
 * Rules across the members of a struct, wherever a kind contains the struct, which the answers to single changes do not tell: a row
 * a struct. The rules for single members are in the table of shapes.
 */

import {
  invalidValue,
  members,
  notFound,
  objects,
  required,
  text,
  texts,
  unsupported,
} from '../store/causes.ts';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { labelErrors } from '../store/name-rules.ts';

export interface StructRules {
  /** Assigns values that depend on other members. @param isTop true for the struct in `spec` of an object, not in a template */
  readonly assign?: (struct: JsonObject, isTop: boolean) => void;
  readonly refuse?: (struct: JsonObject, field: string) => FieldError[];
}

const assignIfAbsent = (struct: JsonObject, name: string, value: Json | undefined): void => {
  if (value !== undefined && value !== '' && (struct[name] ?? '') === '') struct[name] = value;
};

/** The tag of an image decides; a digest is a tag. */
function pullPolicy(image: string): string {
  const [, tag = 'latest'] = /^.*?[:@]([^/]+)$/.exec(image) ?? [];
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

const CONTAINER: StructRules = {
  assign: (container) => assignIfAbsent(container, 'imagePullPolicy', pullPolicy(text(container['image']))),
};

const CONTAINERS = ['initContainers', 'containers'];

/** A request that is absent is the limit. */
function assignRequests(spec: JsonObject): void {
  for (const container of CONTAINERS.flatMap((name) => objects(spec[name]))) {
    const resources = members(container['resources']);
    if (!isJsonObject(resources['limits'])) continue;
    resources['requests'] = { ...resources['limits'], ...members(resources['requests']) };
  }
}

const POD_SPEC: StructRules = {
  assign(spec, isTop) {
    assignIfAbsent(spec, 'serviceAccountName', spec['serviceAccount']);
    // The older name of the field.
    if (text(spec['serviceAccountName']) !== '') spec['serviceAccount'] = spec['serviceAccountName'];
    if (!isTop) return;
    assignIfAbsent(spec, 'priority', 0);
    assignRequests(spec);
  },
};

/** Returns errors for mounts of volumes that the pod lacks. @param more names of further volumes */
function mountErrors(spec: JsonObject, field: string, more: readonly string[] = []): FieldError[] {
  const volumes = new Set([...objects(spec['volumes']).map(({ name }) => text(name)), ...more, '']);
  return CONTAINERS.flatMap((list) =>
    objects(spec[list]).flatMap((container, index) =>
      objects(container['volumeMounts']).flatMap(({ name }, at) =>
        volumes.has(text(name))
          ? []
          : [notFound(`${field}.${list}[${index}].volumeMounts[${at}].name`, text(name))],
      ),
    ),
  );
}

const POD: StructRules = { refuse: ({ spec }) => mountErrors(members(spec), 'spec') };

/** A struct that has one of several members. */
function oneOf(names: readonly string[], error: (field: string) => FieldError): StructRules {
  return {
    refuse: (struct, field) => (names.some((name) => struct[name] !== undefined) ? [] : [error(field)]),
  };
}

const HANDLER = oneOf(['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'], (field) =>
  required(field, 'must specify a handler type'),
);
const ENV_SOURCE = oneOf(
  ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'],
  (field) =>
    invalidValue(
      field,
      '',
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ),
);

const VOLUME: StructRules = {
  assign(volume) {
    if (Object.keys(volume).every((name) => name === 'name')) volume['emptyDir'] = {};
  },
};

const SELECTOR: StructRules = {
  refuse: ({ matchLabels }, field) => labelErrors(members(matchLabels), `${field}.matchLabels`),
};

const TEMPLATE: StructRules = {
  refuse: ({ metadata }, field) => labelErrors(members(members(metadata)['labels']), `${field}.labels`),
};

/** True for labels that a selector selects. */
function selects({ matchLabels, matchExpressions }: JsonObject, labels: JsonObject): boolean {
  const isEqual = Object.entries(members(matchLabels)).every(([key, value]) => labels[key] === value);
  return (
    isEqual &&
    objects(matchExpressions).every(({ key, operator, values }) => {
      const value = labels[text(key)];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const isListed = value !== undefined && texts(values).includes(text(value));
      return operator === 'In' ? isListed : !isListed;
    })
  );
}

const RESTARTED = 'Always';

/** Returns errors of the template of a spec that keeps pods running. @param selector a label selector, without which nothing is selected */
function templateErrors(spec: JsonObject, field: string, selector: Json | undefined): FieldError[] {
  const template = members(spec['template']);
  const { labels } = members(template['metadata']);
  const pod = members(template['spec']);
  const { restartPolicy = RESTARTED } = pod;
  const place = `${field}.template`;
  const claims = objects(spec['volumeClaimTemplates']).map(({ metadata }) => text(members(metadata)['name']));
  return [
    ...(isJsonObject(selector) && selects(selector, members(labels))
      ? []
      : [invalidValue(`${place}.metadata.labels`, labels, '`selector` does not match template `labels`')]),
    ...(restartPolicy === RESTARTED
      ? []
      : [unsupported(`${place}.spec.restartPolicy`, restartPolicy, [RESTARTED])]),
    ...mountErrors(pod, `${place}.spec`, claims),
  ];
}

/** The spec of a kind that keeps pods running. @param name name of the kind in the refusal of an empty selector */
function keeper(name: string): StructRules {
  return {
    refuse(spec, field) {
      const isEmpty = isJsonObject(spec['selector']) && Object.keys(spec['selector']).length === 0;
      return [
        ...(isEmpty ? [invalidValue(`${field}.selector`, {}, `empty selector is invalid for ${name}`)] : []),
        ...templateErrors(spec, field, spec['selector']),
      ];
    },
  };
}

/** A strategy of one of two types, which a refusal shows as Go prints the struct. */
function strategy(error: (field: string, struct: JsonObject) => FieldError, ...types: string[]): StructRules {
  return {
    refuse({ type, rollingUpdate = null }, field) {
      const shown = { Type: text(type), RollingUpdate: rollingUpdate };
      return text(type) === '' || types.includes(text(type)) ? [] : [error(field, shown)];
    },
  };
}

function listedStrategy(...types: string[]): StructRules {
  return strategy((field, shown) => unsupported(field, shown, types), ...types);
}

const SET_STRATEGY = strategy(
  (field, shown) => invalidValue(field, shown, "must be 'RollingUpdate' or 'OnDelete'"),
  'RollingUpdate',
  'OnDelete',
);

const isZero = (value: Json | undefined): boolean => value === 0 || value === '0%';

const ROLLING_UPDATE: StructRules = {
  refuse: ({ maxSurge, maxUnavailable }, field) =>
    isZero(maxSurge) && isZero(maxUnavailable)
      ? [invalidValue(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : [],
};

const CRON_FIELDS = 5;

const CRON_JOB_SPEC: StructRules = {
  refuse({ schedule }, field) {
    const fields = text(schedule)
      .split(' ')
      .filter((each) => each !== '');
    if (fields.length === CRON_FIELDS || /^(?:@|TZ=|CRON_TZ=|$)/.test(text(schedule))) return [];
    const why = `expected exactly ${CRON_FIELDS} fields, found ${fields.length}: [${fields.join(' ')}]`;
    return [invalidValue(`${field}.schedule`, schedule, why)];
  },
};

const JOB_POLICIES = ['OnFailure', 'Never'];
const BACKOFF_LIMIT = 6;
/** Jobs that limit the failures of an index have no limit of all failures. */
const NO_BACKOFF_LIMIT = 2 ** 31 - 1;

const JOB_SPEC: StructRules = {
  assign(spec, isTop) {
    if (!isTop) return;
    const isByIndex = spec['backoffLimitPerIndex'] !== undefined;
    assignIfAbsent(spec, 'backoffLimit', isByIndex ? NO_BACKOFF_LIMIT : BACKOFF_LIMIT);
    const isFailed = spec['podFailurePolicy'] !== undefined;
    assignIfAbsent(spec, 'podReplacementPolicy', isFailed ? 'Failed' : 'TerminatingOrFailed');
  },
  refuse({ template }, field) {
    const place = `${field}.template.spec`;
    const spec = members(members(template)['spec']);
    const policy = text(spec['restartPolicy']);
    const names = JOB_POLICIES.map((name) => JSON.stringify(name)).join(', ');
    const error =
      policy === '' || policy === RESTARTED
        ? required(`${place}.restartPolicy`, `valid values: ${names}`)
        : unsupported(`${place}.restartPolicy`, policy, JOB_POLICIES);
    return [...(JOB_POLICIES.includes(policy) ? [] : [error]), ...mountErrors(spec, place)];
  },
};

const SERVICE_SPEC: StructRules = {
  assign(spec) {
    const ports = objects(spec['ports']);
    for (const port of ports) if ((port['targetPort'] ?? 0) === 0) port['targetPort'] = port['port'];
    const isPublished = spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer';
    if (isPublished || texts(spec['externalIPs']).length > 0)
      assignIfAbsent(spec, 'externalTrafficPolicy', 'Cluster');
    if (spec['type'] === 'ExternalName') return;
    assignIfAbsent(spec, 'ipFamilyPolicy', 'SingleStack');
    assignIfAbsent(spec, 'ipFamilies', ['IPv4']);
    if (spec['clusterIP'] === 'None') assignIfAbsent(spec, 'clusterIPs', ['None']);
  },
  refuse(spec, field) {
    const ports = objects(spec['ports']);
    const needsPorts = spec['clusterIP'] !== 'None' && spec['type'] !== 'ExternalName';
    const nameless = ports.flatMap(({ name }, index) =>
      ports.length > 1 && text(name) === '' ? [required(`${field}.ports[${index}].name`)] : [],
    );
    const isUnnamed = spec['type'] === 'ExternalName' && text(spec['externalName']) === '';
    return [
      ...(needsPorts && ports.length === 0 ? [required(`${field}.ports`)] : []),
      ...nameless,
      ...labelErrors(members(spec['selector']), `${field}.selector`),
      ...(isUnnamed ? [required(`${field}.externalName`)] : []),
    ];
  },
};

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

function modeErrors({ accessModes }: JsonObject, field: string): FieldError[] {
  const unknown = texts(accessModes).filter((mode) => !ACCESS_MODES.includes(mode));
  return unknown.map((mode) => unsupported(`${field}.accessModes`, mode, ACCESS_MODES));
}

const CLAIM_SPEC: StructRules = {
  refuse(spec, field) {
    const { storage } = members(members(spec['resources'])['requests']);
    const missing = storage === undefined ? [required(`${field}.resources[storage]`)] : [];
    return [...modeErrors(spec, field), ...missing];
  },
};

/** Members of a volume that are no source. */
const VOLUME_MEMBERS: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

const VOLUME_SPEC: StructRules = {
  refuse(spec, field) {
    const isEmpty = Object.keys(spec).every((name) => VOLUME_MEMBERS.has(name));
    const missing = isEmpty ? [required(field, 'must specify a volume type')] : [];
    return [...modeErrors(spec, field), ...missing];
  },
};

const BACKEND: StructRules = {
  refuse({ service }, field) {
    const { name, number } = members(members(service)['port']);
    const isOpen = service !== undefined && text(name) === '' && (number ?? 0) === 0;
    return isOpen ? [required(field, 'port name or number is required')] : [];
  },
};

const PATH: StructRules = {
  refuse: ({ path, pathType }, field) =>
    text(path) === '' && pathType !== 'ImplementationSpecific'
      ? [invalidValue(`${field}.path`, '', 'must be an absolute path')]
      : [],
};

const PEER = oneOf(['podSelector', 'namespaceSelector', 'ipBlock'], (field) =>
  required(field, 'must specify a peer'),
);

const SCALING: StructRules = {
  assign({ scaleUp }) {
    if (isJsonObject(scaleUp)) assignIfAbsent(scaleUp, 'stabilizationWindowSeconds', 0);
  },
};

const POLICY_SPEC: StructRules = {
  assign(spec) {
    const types = ['Ingress', ...(objects(spec['egress']).length > 0 ? ['Egress'] : [])];
    assignIfAbsent(spec, 'policyTypes', types);
  },
};

const CONTROLLER_SPEC: StructRules = {
  assign(spec) {
    const { labels } = members(members(spec['template'])['metadata']);
    if (Object.keys(members(spec['selector'])).length === 0) assignIfAbsent(spec, 'selector', labels);
  },
  refuse: (spec, field) => templateErrors(spec, field, { matchLabels: spec['selector'] ?? null }),
};

/** Rules by the name of the struct's shape. */
export const STRUCT_RULES: ReadonlyMap<string, StructRules> = new Map([
  ['apps.v1.DaemonSetSpec', keeper('daemonset')],
  ['apps.v1.DaemonSetUpdateStrategy', listedStrategy('RollingUpdate', 'OnDelete')],
  ['apps.v1.DeploymentSpec', keeper('deployment')],
  ['apps.v1.DeploymentStrategy', listedStrategy('Recreate', 'RollingUpdate')],
  ['apps.v1.ReplicaSetSpec', keeper('deployment')],
  ['apps.v1.RollingUpdateDeployment', ROLLING_UPDATE],
  ['apps.v1.StatefulSetSpec', keeper('statefulset')],
  ['apps.v1.StatefulSetUpdateStrategy', SET_STRATEGY],
  ['autoscaling.v2.HorizontalPodAutoscalerBehavior', SCALING],
  ['batch.v1.CronJobSpec', CRON_JOB_SPEC],
  ['batch.v1.JobSpec', JOB_SPEC],
  ['core.v1.Container', CONTAINER],
  ['core.v1.EnvVarSource', ENV_SOURCE],
  ['core.v1.LifecycleHandler', HANDLER],
  ['core.v1.PersistentVolumeClaimSpec', CLAIM_SPEC],
  ['core.v1.PersistentVolumeSpec', VOLUME_SPEC],
  ['core.v1.Pod', POD],
  ['core.v1.PodSpec', POD_SPEC],
  ['core.v1.PodTemplateSpec', TEMPLATE],
  ['core.v1.Probe', HANDLER],
  ['core.v1.ReplicationControllerSpec', CONTROLLER_SPEC],
  ['core.v1.ServiceSpec', SERVICE_SPEC],
  ['core.v1.Volume', VOLUME],
  ['meta.v1.LabelSelector', SELECTOR],
  ['networking.v1.HTTPIngressPath', PATH],
  ['networking.v1.IngressBackend', BACKEND],
  ['networking.v1.NetworkPolicyPeer', PEER],
  ['networking.v1.NetworkPolicySpec', POLICY_SPEC],
]);
