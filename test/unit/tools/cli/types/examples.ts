/** An object of each kind in `definitions`, and programs about the kinds that no compiler may accept. */
export interface Example {
  /** Name of its type, and of its resource. */
  readonly type: string;
  readonly resource: string;
  readonly object: object;
}

const metadata = { name: 'example', namespace: 'default' };

const ROUTE = {
  hostnames: ['*.example.com'],
  parentRefs: [{ group: 'gateways.example.com', name: 'web', port: 443 }],
  rules: [
    {
      matches: [{ path: { type: 'PathPrefix', value: '/api' }, method: 'GET' }],
      filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 301, 'x-scheme': 'https' } }],
      backendRefs: [{ name: 'api', weight: 1 }],
    },
  ],
};

export const EXAMPLES: readonly Example[] = [
  {
    type: 'Certificate',
    resource: 'certificates',
    object: {
      apiVersion: 'certs.example.com/v1',
      kind: 'Certificate',
      metadata: { ...metadata, labels: { app: 'web' }, finalizers: ['certs.example.com/secret'] },
      spec: {
        dnsNames: ['example.com', 'www.example.com'],
        issuerRef: { name: 'ca', kind: 'ClusterIssuer' },
        privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: null },
        secretName: 'web-tls',
        secretTemplate: { annotations: { 'example.com/a': 'b' } },
        usages: ['signing', 'server auth'],
      },
    },
  },
  {
    type: 'Application',
    resource: 'applications',
    object: {
      apiVersion: 'delivery.example.com/v1alpha1',
      kind: 'Application',
      metadata,
      operation: { initiatedBy: { automated: true }, sync: { prune: false } },
      spec: {
        destination: { namespace: 'web', server: 'https://example.com' },
        project: 'default',
        source: {
          repoURL: 'https://example.com/charts',
          helm: { parameters: [{ name: 'a', value: 'b' }], valuesObject: { replicas: 2, list: [1, 'two'] } },
          targetRevision: 'HEAD',
        },
        syncPolicy: { automated: null, syncOptions: ['CreateNamespace=true'] },
        matrix: [[1, 2], [3]],
      },
      status: { health: { status: 'Healthy' }, summary: ['of any shape'] },
    },
  },
  {
    type: 'Composition',
    resource: 'compositions',
    object: {
      apiVersion: 'compose.example.com/v1',
      kind: 'Composition',
      metadata: { name: 'example' },
      spec: {
        compositeTypeRef: { apiVersion: 'example.com/v1', kind: 'XBucket' },
        mode: 'Resources',
        pipeline: [
          {
            step: 'patch',
            functionRef: { name: 'patch-and-transform' },
            input: { apiVersion: 'fn.example.com/v1', kind: 'Resources', patchSets: [] },
          },
        ],
        resources: [
          {
            name: 'bucket',
            base: {
              apiVersion: 's3.example.com/v1',
              kind: 'Bucket',
              spec: { forProvider: { region: 'eu' } },
            },
            patches: [
              {
                type: 'FromCompositeFieldPath',
                fromFieldPath: 'spec.size',
                transforms: [
                  { type: 'map', map: { small: 1, large: 'two' } },
                  { type: 'math', math: { multiply: 2 } },
                ],
              },
            ],
          },
        ],
      },
    },
  },
  {
    type: 'HTTPRouteV1',
    resource: 'httpRoutesV1',
    object: { apiVersion: 'gateways.example.com/v1', kind: 'HTTPRoute', metadata, spec: ROUTE },
  },
  {
    type: 'HTTPRouteV1beta1',
    resource: 'httpRoutesV1beta1',
    object: {
      apiVersion: 'gateways.example.com/v1beta1',
      kind: 'HTTPRoute',
      metadata: { ...metadata, name: 'older' },
      spec: ROUTE,
    },
  },
  {
    type: 'ServiceMonitor',
    resource: 'serviceMonitors',
    object: {
      apiVersion: 'monitoring.example.com/v1',
      kind: 'ServiceMonitor',
      metadata,
      spec: {
        endpoints: [
          {
            port: 'web',
            targetPort: 'metrics',
            params: { match: ['a', 'b'] },
            relabelings: [{ action: 'drop', sourceLabels: ['pod'] }],
          },
          { targetPort: 8080 },
        ],
        limits: { memory: '1Gi', cpu: 2 },
        sampleLimit: 1000,
        selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      },
    },
  },
];

/** Expressions of a type, each with one fault. */
export const FAULTS: readonly (readonly [type: string, expression: string])[] = [
  ['Certificate', "{ spec: { issuerRef: { name: 'ca' } } }"],
  ['Certificate', "{ spec: { issuerRef: { name: 'ca', kind: 'Isuer' }, secretName: 'a' } }"],
  ['Certificate', "{ spec: { issuerRef: { name: 'ca' }, secretName: 'a', dnsName: 'b' } }"],
  [
    'Certificate',
    "{ apiVersion: 'certs.example.com/v2', spec: { issuerRef: { name: 'ca' }, secretName: 'a' } }",
  ],
  ['Certificate', "{ spec: { issuerRef: { name: 'ca' }, secretName: 'a', usages: ['sign'] } }"],
  [
    'Certificate',
    "{ metadata: { labels: { app: 1 } }, spec: { issuerRef: { name: 'ca' }, secretName: 'a' } }",
  ],
  ['Application', '{ spec: { destination: {}, project: null } }'],
  ['Application', "{ spec: { destination: {}, project: 'a', matrix: [1] } }"],
  [
    'HTTPRouteV1',
    '{ spec: { rules: [{ filters: [{ type: "RequestRedirect", requestRedirect: { statusCode: 303 } }] }] } }',
  ],
  ['ServiceMonitor', '{ spec: { endpoints: [{ targetPort: true }], selector: {} } }'],
  ['ServiceMonitor', "{ spec: { endpoints: [{ params: { match: 'a' } }], selector: {} } }"],
  ['ServiceMonitor', '{ spec: { endpoints: [], selector: { matchLabels: { app: 1 } } } }'],
];

/** Returns a program that uses a module of these types: its examples compile, and its faults do not. */
export function programText(generated: string): string {
  const names = EXAMPLES.map(({ type }) => `type ${type}`);
  const resources = EXAMPLES.map(({ resource }) => resource);
  return [
    "import type { ResourceOf } from 'kubeloom';",
    `import { ${[...names, ...resources].join(', ')} } from '${generated}';`,
    ...EXAMPLES.map(({ type, object }, index) => `const e${index}: ${type} = ${JSON.stringify(object)};`),
    'function pair<T>(resource: ResourceOf<T>, object: T): { resource: ResourceOf<T>; object: T } {',
    '  return { resource, object };',
    '}',
    `export const examples = [${resources.map((resource, index) => `pair(${resource}, e${index})`).join(', ')}];`,
    ...FAULTS.flatMap(([type, fault], index) => [
      '// @ts-expect-error',
      `export const f${index}: ${type} = ${fault};`,
    ]),
    '// @ts-expect-error',
    'pair(certificates, e1);',
    '',
  ].join('\n');
}
