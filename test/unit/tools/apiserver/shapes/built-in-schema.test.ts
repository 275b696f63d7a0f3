/** Objects of built-in kinds with defaults, and their refusals across the members of a struct. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInResources } from '../../../../../src/tools/apiserver/shapes/built-in-resources.ts';
import type { Json, JsonObject, KubeObject } from '../../../../../src/tools/apiserver/store/json.ts';
import type { ResourceSchema } from '../../../../../src/tools/apiserver/store/resources.ts';

/** Schemas by resource, of the version that the server stores if it serves two. */
const SCHEMAS = new Map(
  builtInResources()
    .toReversed()
    .map(({ resource, schema }) => [resource, schema]),
);

function schemaOf(resource: string): ResourceSchema {
  return SCHEMAS.get(resource) ?? assert.fail(`${resource} has a schema`);
}

function wholeOf(resource: string, content: JsonObject): KubeObject {
  return schemaOf(resource).coerce({ metadata: { name: 'x' }, ...content }, false);
}

function errorsOf(resource: string, content: JsonObject, previous?: KubeObject): string[] {
  const errors = schemaOf(resource).validate(wholeOf(resource, content), previous, false);
  return errors.map(({ field, body }) => `${field}: ${body}`);
}

const BOX = { name: 'a', image: 'b' };
const LABELS = { a: 'b' };
const SELECTOR = { matchLabels: LABELS };
const TEMPLATE = { metadata: { labels: LABELS }, spec: { containers: [BOX] } };
const MOUNT = { volumeMounts: [{ name: 'v', mountPath: '/v' }] };
const REQUESTS = { requests: { storage: '1Gi' } };
const PORTS = [{ port: 80 }];
const KEPT = { selector: SELECTOR, template: TEMPLATE };

const box = (container: JsonObject): JsonObject => ({ containers: [{ ...BOX, ...container }] });
const job = (pod: JsonObject): JsonObject => ({ template: { spec: { ...box({}), ...pod } } });
const kept = (pod: JsonObject): JsonObject => ({
  selector: SELECTOR,
  template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, ...pod } },
});
const ingress = (path: JsonObject): JsonObject => ({
  rules: [
    {
      http: {
        paths: [
          {
            path: '/',
            pathType: 'Prefix',
            backend: { service: { name: 's', port: { number: 1 } } },
            ...path,
          },
        ],
      },
    },
  ],
});

/** Rows: the resource, the spec of an object, and the errors of the spec. */
const REFUSED: readonly (readonly [resource: string, spec: JsonObject, ...errors: string[]])[] = [
  ['pods', box({})],
  ['pods', box(MOUNT), 'spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  ['pods', { ...box(MOUNT), volumes: [{ name: 'v' }] }],
  [
    'pods',
    { ...box({}), initContainers: [{ ...BOX, name: 'i', ...MOUNT }] },
    'spec.initContainers[0].volumeMounts[0].name: Not found: "v"',
  ],
  [
    'pods',
    box({ livenessProbe: {} }),
    'spec.containers[0].livenessProbe: Required value: must specify a handler type',
  ],
  [
    'pods',
    box({ lifecycle: { preStop: {} } }),
    'spec.containers[0].lifecycle.preStop: Required value: must specify a handler type',
  ],
  [
    'pods',
    box({ env: [{ name: 'e', valueFrom: {} }] }),
    'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
  ],
  ['deployments', KEPT],
  [
    'deployments',
    { ...KEPT, selector: {} },
    'spec.selector: Invalid value: {}: empty selector is invalid for deployment',
  ],
  [
    'replicasets',
    { ...KEPT, selector: {} },
    'spec.selector: Invalid value: {}: empty selector is invalid for deployment',
  ],
  [
    'daemonsets',
    { ...KEPT, selector: {} },
    'spec.selector: Invalid value: {}: empty selector is invalid for daemonset',
  ],
  [
    'statefulsets',
    { ...KEPT, selector: { matchLabels: { a: 'c' } } },
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
  ],
  ['deployments', { ...KEPT, selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] } }],
  ['deployments', { ...KEPT, selector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } }],
  [
    'deployments',
    { ...KEPT, selector: { matchExpressions: [{ key: 'c', operator: 'Exists' }] } },
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
  ],
  [
    'deployments',
    { ...KEPT, selector: { matchExpressions: [{ key: 'c', operator: 'NotIn', values: ['d'] }] } },
  ],
  [
    'deployments',
    { ...KEPT, selector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] } },
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
  ],
  [
    'deployments',
    kept({ restartPolicy: 'Never' }),
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  ['deployments', kept(box(MOUNT)), 'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  [
    'statefulsets',
    {
      ...kept(box(MOUNT)),
      volumeClaimTemplates: [
        { metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'], resources: REQUESTS } },
      ],
    },
  ],
  ['jobs', job({ restartPolicy: 'Never' })],
  ['jobs', job({}), 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  [
    'jobs',
    job({ restartPolicy: 'x' }),
    'spec.template.spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"',
    'spec.template.spec.restartPolicy: Unsupported value: "x": supported values: "OnFailure", "Never"',
  ],
  ['services', { ports: PORTS }],
  ['services', {}, 'spec.ports: Required value'],
  ['services', { clusterIP: 'None' }],
  ['services', { type: 'ExternalName' }, 'spec.externalName: Required value'],
  ['services', { type: 'ExternalName', externalName: 'a.b' }],
  ['services', { ports: [{ port: 80, name: 'a' }, { port: 81 }] }, 'spec.ports[1].name: Required value'],
  ['persistentvolumeclaims', { accessModes: ['ReadWriteOnce'], resources: REQUESTS }],
  ['persistentvolumeclaims', { accessModes: ['ReadWriteOnce'] }, 'spec.resources[storage]: Required value'],
  ['ingresses', ingress({})],
  [
    'ingresses',
    ingress({ backend: { service: { name: 's' } } }),
    'spec.rules[0].http.paths[0].backend: Required value: port name or number is required',
  ],
  [
    'ingresses',
    ingress({ path: '' }),
    'spec.rules[0].http.paths[0].path: Invalid value: "": must be an absolute path',
  ],
  ['ingresses', ingress({ path: '', pathType: 'ImplementationSpecific' })],
  [
    'networkpolicies',
    { podSelector: {}, ingress: [{ from: [{}] }] },
    'spec.ingress[0].from[0]: Required value: must specify a peer',
  ],
];

for (const [resource, spec, ...errors] of REFUSED)
  test(`a spec of ${resource} has ${errors.join(' and ') || 'no error'}: ${JSON.stringify(spec)}`, () =>
    assert.deepEqual(errorsOf(resource, { spec }), errors));

test('labels of selectors and templates are refused in the place of the labels', () => {
  const labels = { 'a b': 'c' };
  const spec = { selector: { matchLabels: labels }, template: { ...TEMPLATE, metadata: { labels } } };
  const fields = errorsOf('deployments', { spec }).map((error) => error.replace(/: .*/, ''));
  assert.deepEqual(fields, ['spec.selector.matchLabels', 'spec.template.labels']);
  const [error = ''] = errorsOf('services', { spec: { ports: PORTS, selector: labels } });
  assert.match(error, /^spec\.selector: Invalid value: "a b"/);
});

/** Rows: the resource, a spec, a path in the spec, and the value that the server assigns; undefined for none. */
const ASSIGNED: readonly (readonly [
  resource: string,
  spec: JsonObject,
  path: string,
  value: Json | undefined,
])[] = [
  ['pods', box({}), 'containers.0.imagePullPolicy', 'Always'],
  ['pods', box({ image: 'h:5/b' }), 'containers.0.imagePullPolicy', 'Always'],
  ['pods', box({ image: 'b:latest' }), 'containers.0.imagePullPolicy', 'Always'],
  ['pods', box({ image: 'b:1' }), 'containers.0.imagePullPolicy', 'IfNotPresent'],
  ['pods', box({ image: 'b@sha256:0' }), 'containers.0.imagePullPolicy', 'IfNotPresent'],
  ['pods', box({ imagePullPolicy: 'Never' }), 'containers.0.imagePullPolicy', 'Never'],
  ['pods', box({ resources: { limits: { cpu: '1' } } }), 'containers.0.resources.requests', { cpu: '1' }],
  [
    'pods',
    box({ resources: { limits: { cpu: '2', memory: '1' }, requests: { cpu: '1' } } }),
    'containers.0.resources.requests',
    { cpu: '1', memory: '1' },
  ],
  [
    'deployments',
    kept(box({ resources: { limits: { cpu: '1' } } })),
    'template.spec.containers.0.resources.requests',
    undefined,
  ],
  ['pods', { ...box({}), serviceAccount: 's' }, 'serviceAccountName', 's'],
  ['pods', { ...box({}), serviceAccountName: 's' }, 'serviceAccount', 's'],
  ['pods', box({}), 'priority', 0],
  ['deployments', KEPT, 'template.spec.priority', undefined],
  ['pods', { ...box({}), volumes: [{ name: 'v' }] }, 'volumes.0.emptyDir', {}],
  [
    'pods',
    { ...box({}), volumes: [{ name: 'v', hostPath: { path: '/' } }] },
    'volumes.0.emptyDir',
    undefined,
  ],
  ['jobs', job({}), 'backoffLimit', 6],
  ['jobs', { ...job({}), backoffLimitPerIndex: 1 }, 'backoffLimit', 2 ** 31 - 1],
  ['jobs', job({}), 'podReplacementPolicy', 'TerminatingOrFailed'],
  ['jobs', { ...job({}), podFailurePolicy: { rules: [] } }, 'podReplacementPolicy', 'Failed'],
  ['cronjobs', { jobTemplate: { spec: job({}) } }, 'jobTemplate.spec.backoffLimit', undefined],
  ['services', { ports: PORTS }, 'ports.0.targetPort', 80],
  ['services', { ports: [{ port: 80, targetPort: 0 }] }, 'ports.0.targetPort', 80],
  ['services', { ports: [{ port: 80, targetPort: 'a' }] }, 'ports.0.targetPort', 'a'],
  ['services', { ports: PORTS }, 'externalTrafficPolicy', undefined],
  ['services', { ports: PORTS, type: 'NodePort' }, 'externalTrafficPolicy', 'Cluster'],
  ['services', { ports: PORTS, type: 'LoadBalancer' }, 'externalTrafficPolicy', 'Cluster'],
  ['services', { ports: PORTS, externalIPs: ['10.0.0.1'] }, 'externalTrafficPolicy', 'Cluster'],
  ['services', { ports: PORTS }, 'ipFamilies', ['IPv4']],
  ['services', { type: 'ExternalName' }, 'ipFamilies', undefined],
  ['services', { clusterIP: 'None' }, 'clusterIPs', ['None']],
  [
    'horizontalpodautoscalers',
    { behavior: { scaleUp: {} } },
    'behavior.scaleUp.stabilizationWindowSeconds',
    0,
  ],
  ['networkpolicies', { podSelector: {} }, 'policyTypes', ['Ingress']],
  ['networkpolicies', { podSelector: {}, egress: [{}] }, 'policyTypes', ['Ingress', 'Egress']],
  ['replicationcontrollers', { template: TEMPLATE }, 'selector', LABELS],
  ['replicationcontrollers', { template: TEMPLATE, selector: { c: 'd' } }, 'selector', { c: 'd' }],
];

for (const [resource, spec, path, value] of ASSIGNED)
  test(`${path} of ${resource} becomes ${JSON.stringify(value) ?? 'nothing'}: ${JSON.stringify(spec)}`, () => {
    const whole: unknown = wholeOf(resource, { spec })['spec'];
    const found = path.split('.').reduce((at, name) => Object(at)[name] as unknown, whole);
    assert.deepEqual(found, value);
  });

test('an update of an object that the control API stored may keep its errors, but adds none', () => {
  const previous: KubeObject = { metadata: { name: 'x' }, spec: box({ livenessProbe: {} }) };
  assert.deepEqual(errorsOf('pods', { spec: box({ livenessProbe: {} }) }, previous), []);
  const both = box({ livenessProbe: {}, readinessProbe: {} });
  const fields = errorsOf('pods', { spec: both }, previous).map((error) => error.replace(/: .*/, ''));
  assert.deepEqual(fields, ['spec.containers[0].readinessProbe', 'spec']);
});

test('an object that the control API sends gets neither defaults nor refusals', () => {
  const schema = schemaOf('services');
  const object: KubeObject = { metadata: { name: 'x' }, spec: {} };
  assert.deepEqual(schema.coerce(object, true), object);
  assert.deepEqual(schema.validate(object, undefined, true), []);
});
