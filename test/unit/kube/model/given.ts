/** Objects in the server's form whose models have other field names, or dates in unusual places. */

export interface Given {
  /** Resource as `group/version/resource`. */
  readonly resource: string;
  readonly object: {
    readonly metadata: { readonly name: string; readonly namespace?: string };
    readonly [field: string]: unknown;
  };
}

export const TIME = '2024-05-06T07:08:09Z';
const MICRO_TIME = '2024-05-06T07:08:09.123456Z';

function metadata(name: string, namespace?: string) {
  const manager = { manager: 'kubectl', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
  return {
    name,
    ...(namespace ? { namespace } : {}),
    labels: { from: 'the-wire' },
    managedFields: [{ ...manager, time: TIME, fieldsV1: { 'f:spec': { '.': {}, 'f:default': {} } } }],
  };
}

const SCHEMA = {
  $schema: 'http://json-schema.org/schema#',
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-validations': [{ rule: 'self.replicas > 0', message: 'none', fieldPath: '.replicas' }],
      'x-kubernetes-map-type': 'atomic',
      properties: {
        replicas: { type: 'integer', default: 1, enum: [1, 2, 3], minimum: 1, exclusiveMinimum: false },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        rest: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          default: { ref: { _from: [null] } },
        },
        pod: { type: 'object', 'x-kubernetes-embedded-resource': true, nullable: true },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: { type: 'string', default: '' } } },
        },
        like: { $ref: '#/definitions/port', not: { enum: [{ a: 1 }] } },
        ref: { type: 'string', format: 'date-time', default: TIME },
      },
    },
  },
};

export const GIVEN: readonly Given[] = [
  {
    resource: 'networking.k8s.io/v1/networkpolicies',
    object: {
      metadata: metadata('web', 'default'),
      spec: {
        podSelector: { matchLabels: { app: 'web' } },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          { from: [{ ipBlock: { cidr: '10.0.0.0/8' } }, { podSelector: {} }], ports: [{ port: 'http' }] },
        ],
        egress: [{ to: [{ namespaceSelector: {} }], ports: [{ port: 80, endPort: 90, protocol: 'TCP' }] }],
      },
    },
  },
  {
    resource: '/v1/limitranges',
    object: {
      metadata: metadata('limits', 'default'),
      spec: {
        limits: [
          {
            type: 'Container',
            default: { cpu: '1', memory: '1Gi' },
            defaultRequest: { cpu: '100m' },
            max: { cpu: '2' },
          },
        ],
      },
    },
  },
  {
    resource: 'apiextensions.k8s.io/v1/customresourcedefinitions',
    object: {
      metadata: metadata('widgets.example.com'),
      spec: {
        group: 'example.com',
        names: { kind: 'Widget', plural: 'widgets' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }],
      },
      status: {
        conditions: [{ type: 'Established', status: 'True', lastTransitionTime: TIME }],
        storedVersions: ['v1'],
      },
    },
  },
  {
    resource: 'coordination.k8s.io/v1/leases',
    object: {
      metadata: metadata('leader', 'default'),
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, acquireTime: MICRO_TIME, renewTime: MICRO_TIME },
    },
  },
  {
    resource: 'policy/v1/poddisruptionbudgets',
    object: {
      metadata: metadata('web', 'default'),
      spec: { minAvailable: '50%', selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } },
      status: { disruptedPods: { 'web-0': TIME, 'web-1': TIME }, currentHealthy: 2, desiredHealthy: 1 },
    },
  },
  {
    resource: '/v1/events',
    object: {
      metadata: metadata('web.17', 'default'),
      involvedObject: { kind: 'Pod', name: 'web-0', namespace: 'default' },
      firstTimestamp: TIME,
      lastTimestamp: TIME,
      eventTime: MICRO_TIME,
      series: { count: 3, lastObservedTime: MICRO_TIME },
      reason: 'Started',
    },
  },
  {
    resource: 'events.k8s.io/v1/events',
    object: {
      metadata: metadata('web.18', 'default'),
      regarding: { kind: 'Pod', name: 'web-0', namespace: 'default' },
      deprecatedFirstTimestamp: TIME,
      eventTime: MICRO_TIME,
      series: { count: 3, lastObservedTime: MICRO_TIME },
      reason: 'Started',
    },
  },
  {
    resource: '/v1/pods',
    object: {
      metadata: metadata('web-0', 'default'),
      spec: {
        containers: [
          {
            name: 'web',
            env: [{ name: 'FROM', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
            envFrom: [{ configMapRef: { name: 'env' } }],
            readinessProbe: { httpGet: { port: 'http', path: '/' } },
          },
        ],
      },
      status: {
        phase: 'Running',
        startTime: TIME,
        conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null }],
      },
    },
  },
];
