/** The rules across the members of a struct, a table of structs with the values or the errors that the rules give. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STRUCT_RULES } from '../../../../../src/tools/apiserver/shapes/struct-rules.ts';
import type { JsonObject } from '../../../../../src/tools/apiserver/store/json.ts';

const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end";

/** Structs, with the members that the server adds or changes; the struct is in a template if a row ends with true. */
const ASSIGNED: readonly (readonly [
  name: string,
  struct: JsonObject,
  changes: JsonObject,
  isInTemplate?: true,
])[] = [
  ['core.v1.Container', { image: 'a' }, { imagePullPolicy: 'Always' }],
  ['core.v1.Container', { image: 'a:latest' }, { imagePullPolicy: 'Always' }],
  ['core.v1.Container', { image: 'host:5000/a' }, { imagePullPolicy: 'Always' }],
  ['core.v1.Container', { image: 'host:5000/a:1' }, { imagePullPolicy: 'IfNotPresent' }],
  ['core.v1.Container', { image: 'a@sha256:1' }, { imagePullPolicy: 'IfNotPresent' }],
  ['core.v1.Container', { image: 'a', imagePullPolicy: 'Never' }, {}],
  ['core.v1.PodSpec', {}, { priority: 0 }],
  ['core.v1.PodSpec', {}, {}, true],
  ['core.v1.PodSpec', { priority: 5, serviceAccount: 'a' }, { serviceAccountName: 'a' }],
  ['core.v1.PodSpec', { serviceAccountName: 'a' }, { serviceAccount: 'a' }, true],
  [
    'core.v1.PodSpec',
    {
      priority: 0,
      initContainers: [{ resources: { limits: { cpu: '1' } } }],
      containers: [{ resources: { limits: { cpu: '2', memory: '1' }, requests: { cpu: '1' } } }, {}],
    },
    {
      initContainers: [{ resources: { limits: { cpu: '1' }, requests: { cpu: '1' } } }],
      containers: [
        { resources: { limits: { cpu: '2', memory: '1' }, requests: { cpu: '1', memory: '1' } } },
        {},
      ],
    },
  ],
  ['core.v1.PodSpec', { containers: [{ resources: { limits: { cpu: '1' } } }] }, {}, true],
  ['core.v1.Volume', { name: 'v' }, { emptyDir: {} }],
  ['core.v1.Volume', { name: 'v', secret: {} }, {}],
  [
    'core.v1.ReplicationControllerSpec',
    { template: { metadata: { labels: { a: 'b' } } } },
    { selector: { a: 'b' } },
  ],
  [
    'core.v1.ReplicationControllerSpec',
    { selector: { a: 'c' }, template: { metadata: { labels: { a: 'b' } } } },
    {},
  ],
  ['batch.v1.JobSpec', {}, { backoffLimit: 6, podReplacementPolicy: 'TerminatingOrFailed' }],
  ['batch.v1.JobSpec', {}, {}, true],
  [
    'batch.v1.JobSpec',
    { backoffLimitPerIndex: 1, podFailurePolicy: {} },
    { backoffLimit: 2147483647, podReplacementPolicy: 'Failed' },
  ],
  [
    'core.v1.ServiceSpec',
    { ports: [{ port: 80 }, { port: 81, targetPort: 0 }, { port: 82, targetPort: 'http' }] },
    {
      ports: [
        { port: 80, targetPort: 80 },
        { port: 81, targetPort: 81 },
        { port: 82, targetPort: 'http' },
      ],
      ipFamilyPolicy: 'SingleStack',
      ipFamilies: ['IPv4'],
    },
  ],
  ['core.v1.ServiceSpec', { type: 'ExternalName' }, {}],
  [
    'core.v1.ServiceSpec',
    { clusterIP: 'None', ipFamilyPolicy: 'PreferDualStack' },
    { ipFamilies: ['IPv4'], clusterIPs: ['None'] },
  ],
  ...[{ type: 'NodePort' }, { type: 'LoadBalancer' }, { externalIPs: ['1.2.3.4'] }].map(
    (spec): [string, JsonObject, JsonObject] => [
      'core.v1.ServiceSpec',
      { ...spec, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] },
      { externalTrafficPolicy: 'Cluster' },
    ],
  ),
  [
    'autoscaling.v2.HorizontalPodAutoscalerBehavior',
    { scaleUp: {}, scaleDown: {} },
    { scaleUp: { stabilizationWindowSeconds: 0 } },
  ],
  ['autoscaling.v2.HorizontalPodAutoscalerBehavior', {}, {}],
  ['networking.v1.NetworkPolicySpec', {}, { policyTypes: ['Ingress'] }],
  ['networking.v1.NetworkPolicySpec', { egress: [{}] }, { policyTypes: ['Ingress', 'Egress'] }],
  ['networking.v1.NetworkPolicySpec', { policyTypes: ['Egress'] }, {}],
];

const HANDLER = 'f: Required value: must specify a handler type';
const ENV_SOURCE =
  'f: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
const NOT_SELECTED =
  'f.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`';
const POLICIES = '"OnFailure", "Never"';

/** Spec of a kind that keeps pods running. */
function keeper(selector: JsonObject | undefined, pod: JsonObject = {}, rest: JsonObject = {}): JsonObject {
  const template = { metadata: { labels: { a: 'b' } }, spec: pod };
  return { ...(selector === undefined ? {} : { selector }), template, ...rest };
}

function job(restartPolicy: string): JsonObject {
  return { template: { spec: { restartPolicy } } };
}

function expression(operator: string, ...values: string[]): JsonObject {
  return { matchExpressions: [{ key: 'a', operator, values }] };
}

const MOUNT = { containers: [{ volumeMounts: [{ name: 'v' }] }] };
const [DEPLOYMENT, SERVICE] = ['apps.v1.DeploymentSpec', 'core.v1.ServiceSpec'];

/** Structs at the field f, with the errors of the rules. */
const REFUSED: readonly (readonly [name: string, struct: JsonObject, ...errors: string[]])[] = [
  ['core.v1.Pod', { spec: MOUNT }, 'spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  [
    'core.v1.Pod',
    {
      spec: { volumes: [{ name: 'w' }], initContainers: [{ volumeMounts: [{ name: 'w' }, { name: 'v' }] }] },
    },
    'spec.initContainers[0].volumeMounts[1].name: Not found: "v"',
  ],
  ['core.v1.LifecycleHandler', { sleep: {} }],
  ['core.v1.LifecycleHandler', {}, HANDLER],
  ['core.v1.Probe', { grpc: {} }],
  ['core.v1.Probe', { periodSeconds: 1 }, HANDLER],
  ['core.v1.EnvVarSource', { fileKeyRef: {} }],
  ['core.v1.EnvVarSource', {}, ENV_SOURCE],
  [
    'core.v1.PodTemplateSpec',
    { metadata: { labels: { 'a b': 'c' } } },
    `f.labels: Invalid value: "a b": ${NAME_PART}`,
  ],
  [
    'meta.v1.LabelSelector',
    { matchLabels: { 'a b': 'c' } },
    `f.matchLabels: Invalid value: "a b": ${NAME_PART}`,
  ],
  [DEPLOYMENT, keeper({ matchLabels: { a: 'b' } })],
  [DEPLOYMENT, keeper(undefined), NOT_SELECTED],
  [DEPLOYMENT, keeper({ matchLabels: { a: 'c' } }), NOT_SELECTED],
  [DEPLOYMENT, keeper(expression('In', 'b'))],
  [DEPLOYMENT, keeper(expression('In', 'c')), NOT_SELECTED],
  [DEPLOYMENT, keeper(expression('NotIn', 'c'))],
  [DEPLOYMENT, keeper(expression('NotIn', 'b')), NOT_SELECTED],
  [DEPLOYMENT, keeper(expression('Exists'))],
  [DEPLOYMENT, keeper(expression('DoesNotExist')), NOT_SELECTED],
  [DEPLOYMENT, keeper({}), 'f.selector: Invalid value: {}: empty selector is invalid for deployment'],
  [
    'apps.v1.ReplicaSetSpec',
    keeper({}),
    'f.selector: Invalid value: {}: empty selector is invalid for deployment',
  ],
  [
    'apps.v1.DaemonSetSpec',
    keeper({}),
    'f.selector: Invalid value: {}: empty selector is invalid for daemonset',
  ],
  [
    'apps.v1.StatefulSetSpec',
    keeper({}),
    'f.selector: Invalid value: {}: empty selector is invalid for statefulset',
  ],
  [
    DEPLOYMENT,
    keeper(expression('Exists'), { restartPolicy: 'Never' }),
    'f.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  [
    DEPLOYMENT,
    keeper(expression('Exists'), MOUNT),
    'f.template.spec.containers[0].volumeMounts[0].name: Not found: "v"',
  ],
  [
    'apps.v1.StatefulSetSpec',
    keeper(expression('Exists'), MOUNT, { volumeClaimTemplates: [{ metadata: { name: 'v' } }] }),
  ],
  ['batch.v1.JobSpec', job('Never')],
  ['batch.v1.JobSpec', job(''), `f.template.spec.restartPolicy: Required value: valid values: ${POLICIES}`],
  [
    'batch.v1.JobSpec',
    job('Always'),
    `f.template.spec.restartPolicy: Required value: valid values: ${POLICIES}`,
  ],
  [
    'batch.v1.JobSpec',
    job('Odd'),
    `f.template.spec.restartPolicy: Unsupported value: "Odd": supported values: ${POLICIES}`,
  ],
  [
    'batch.v1.JobSpec',
    { template: { spec: { restartPolicy: 'Never', ...MOUNT } } },
    'f.template.spec.containers[0].volumeMounts[0].name: Not found: "v"',
  ],
  [SERVICE, {}, 'f.ports: Required value'],
  [SERVICE, { clusterIP: 'None' }],
  [SERVICE, { type: 'ExternalName', externalName: 'a.b' }],
  [SERVICE, { type: 'ExternalName' }, 'f.externalName: Required value'],
  [SERVICE, { ports: [{ port: 1 }] }],
  [SERVICE, { ports: [{ name: 'a' }, {}] }, 'f.ports[1].name: Required value'],
  [
    SERVICE,
    { clusterIP: 'None', selector: { 'a b': 'c' } },
    `f.selector: Invalid value: "a b": ${NAME_PART}`,
  ],
  ['core.v1.PersistentVolumeClaimSpec', {}, 'f.resources[storage]: Required value'],
  ['core.v1.PersistentVolumeClaimSpec', { resources: { requests: { storage: '1' } } }],
  ['networking.v1.IngressBackend', { resource: {} }],
  ['networking.v1.IngressBackend', { service: { port: { name: 'a' } } }],
  ['networking.v1.IngressBackend', { service: { port: { number: 1 } } }],
  ['networking.v1.IngressBackend', { service: {} }, 'f: Required value: port name or number is required'],
  ['networking.v1.HTTPIngressPath', { pathType: 'ImplementationSpecific' }],
  ['networking.v1.HTTPIngressPath', { path: '/', pathType: 'Exact' }],
  [
    'networking.v1.HTTPIngressPath',
    { pathType: 'Exact' },
    'f.path: Invalid value: "": must be an absolute path',
  ],
  ['networking.v1.NetworkPolicyPeer', { ipBlock: {} }],
  ['networking.v1.NetworkPolicyPeer', {}, 'f: Required value: must specify a peer'],
];

describe('the rules across the members of a struct', () => {
  for (const [name, struct, changes, isInTemplate] of ASSIGNED) {
    const place = isInTemplate === true ? ' in a template' : '';
    it(`assign ${JSON.stringify(changes)} to ${name}${place}: ${JSON.stringify(struct)}`, () => {
      const given = structuredClone(struct);
      STRUCT_RULES.get(name)?.assign?.(given, isInTemplate !== true);
      assert.deepEqual(given, { ...struct, ...changes });
    });
  }

  for (const [name, struct, ...errors] of REFUSED) {
    it(`find ${errors.length} errors in ${name}: ${JSON.stringify(struct)}`, () => {
      const refuse = STRUCT_RULES.get(name)?.refuse ?? assert.fail('the struct has no rule');
      const found = refuse(struct, 'f').map(({ field, body }) => `${field}: ${body}`);
      // The end of long words is the subject of other tests.
      assert.deepEqual(
        found.map((each) => (each.includes(NAME_PART) ? each.replace(/(must start and end).*/, '$1') : each)),
        errors,
      );
    });
  }
});
