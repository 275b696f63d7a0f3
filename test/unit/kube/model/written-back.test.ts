/**
 * Reads objects through an informer and writes them through client-node's API methods, on the embedded server:
 * the objects are the same afterwards.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as k8s from '@kubernetes/client-node';
import { SharedIndexInformer, resourcePath } from '../../../../src/index.ts';
import { findBuiltIn } from '../../../../src/client-go/index.ts';
import { toModel } from '../../../../src/client-node/index.ts';
import type { Identity, ResourceRef } from '../../../../src/index.ts';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

type Stored = Readonly<Record<string, unknown>> & {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec?: object;
};
type Read = Identity & { readonly object: Stored };

interface Given {
  /** Resource as `group/version/resource`. */
  readonly resource: string;
  readonly api: Parameters<k8s.KubeConfig['makeApiClient']>[0];
  /** The method of the API that replaces an object, as a controller would do it. */
  readonly replace: string;
  /** In the server's form. Its model has other field names, or dates in unusual places. */
  readonly object: {
    readonly metadata: { readonly name: string; readonly namespace?: string };
    readonly [field: string]: unknown;
  };
}

type Replace = (parameters: { body: object; name: string; namespace: string }) => Promise<unknown>;

const TIME = '2024-05-06T07:08:09Z';
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
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-validations': [{ rule: 'self.replicas > 0', message: 'none', fieldPath: '.replicas' }],
      'x-kubernetes-map-type': 'atomic',
      properties: {
        replicas: { type: 'integer', default: 1, enum: [1, 2, 3], minimum: 1 },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        like: { type: 'object', not: { enum: [{ a: 1 }] } },
        ref: { type: 'string', format: 'date-time', default: TIME },
      },
    },
  },
};

const NAMES = { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' };

/** With defaults, which a write would add. */
const POD = {
  containers: [
    {
      name: 'web',
      image: 'web:1',
      env: [{ name: 'FROM', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } }],
      envFrom: [{ configMapRef: { name: 'env' } }],
      readinessProbe: {
        httpGet: { port: 'http', path: '/', scheme: 'HTTP' },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    },
  ],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
  priority: 0,
  tolerations: ['not-ready', 'unreachable'].map((condition) => ({
    key: `node.kubernetes.io/${condition}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })),
};

const GIVEN: readonly Given[] = [
  {
    resource: 'networking.k8s.io/v1/networkpolicies',
    api: k8s.NetworkingV1Api,
    replace: 'replaceNamespacedNetworkPolicy',
    object: {
      metadata: metadata('web', 'default'),
      spec: {
        podSelector: { matchLabels: { app: 'web' } },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          {
            from: [{ ipBlock: { cidr: '10.0.0.0/8' } }, { podSelector: {} }],
            ports: [{ port: 'http', protocol: 'TCP' }],
          },
        ],
        egress: [{ to: [{ namespaceSelector: {} }], ports: [{ port: 80, endPort: 90, protocol: 'TCP' }] }],
      },
    },
  },
  {
    resource: 'apiextensions.k8s.io/v1/customresourcedefinitions',
    api: k8s.ApiextensionsV1Api,
    replace: 'replaceCustomResourceDefinition',
    object: {
      metadata: metadata('widgets.models.example.com'),
      spec: {
        group: 'models.example.com',
        conversion: { strategy: 'None' },
        names: NAMES,
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }],
      },
      status: {
        acceptedNames: NAMES,
        conditions: [
          { type: 'NamesAccepted', reason: 'NoConflicts', message: 'no conflicts found' },
          {
            type: 'Established',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          },
        ].map((condition) => ({ ...condition, status: 'True', lastTransitionTime: TIME })),
        storedVersions: ['v1'],
      },
    },
  },
  {
    resource: 'coordination.k8s.io/v1/leases',
    api: k8s.CoordinationV1Api,
    replace: 'replaceNamespacedLease',
    object: {
      metadata: metadata('leader', 'default'),
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, acquireTime: MICRO_TIME, renewTime: MICRO_TIME },
    },
  },
  {
    resource: 'policy/v1/poddisruptionbudgets',
    api: k8s.PolicyV1Api,
    replace: 'replaceNamespacedPodDisruptionBudgetStatus',
    object: {
      metadata: metadata('web', 'default'),
      spec: { minAvailable: '50%', selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } },
      status: {
        disruptedPods: { 'web-0': TIME, 'web-1': TIME },
        currentHealthy: 2,
        desiredHealthy: 1,
        disruptionsAllowed: 1,
        expectedPods: 2,
      },
    },
  },
  {
    resource: '/v1/pods',
    api: k8s.CoreV1Api,
    replace: 'replaceNamespacedPod',
    object: {
      metadata: metadata('web-0', 'default'),
      spec: POD,
      status: {
        phase: 'Running',
        startTime: TIME,
        conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null }],
      },
    },
  },
];

describe('an object from an informer', () => {
  let server: EmbeddedApiServer;
  let kubeConfig: k8s.KubeConfig;

  before(async () => {
    server = await startEmbeddedApiServer({ tls: false, token: '' });
    kubeConfig = new k8s.KubeConfig();
    kubeConfig.loadFromString(server.kubeConfigYaml);
    for (const { resource, object } of GIVEN) {
      const [group, , name = ''] = resource.split('/');
      await server.apply([{ type: 'create', resource: group ? `${name}.${group}` : name, object }]);
    }
  });

  after(() => server.close());

  /** Passes the only object of a resource to `use`, as an informer has it. */
  async function only(resource: string, use: (entry: Read) => Promise<void>): Promise<void> {
    const options = { threads: { indexerThreads: 0 } };
    await using informer = new SharedIndexInformer<Stored>(kubeConfig, refOf(resource), options);
    const ended = informer.run();
    await informer.waitForSync();
    const [entry] = informer.getStore().list();
    assert.ok(entry);
    await use(entry);
    await informer.shutdown();
    await ended;
  }

  async function stored(resource: string, { namespace, name }: Identity): Promise<Stored> {
    const answer = await fetch(`${server.url}${resourcePath(refOf(resource), namespace)}/${name}`);
    assert.equal(answer.status, 200);
    return (await answer.json()) as Stored;
  }

  for (const { resource, api, replace, object } of GIVEN) {
    test(`is the same on the server after client-node wrote it: ${resource}`, async () => {
      await only(resource, async (entry) => {
        const before = await stored(resource, entry);
        assertHas(before, object);
        const client = kubeConfig.makeApiClient(api);
        const { name, namespace } = entry;
        const body = toModel<object>({ object: entry.object });
        await (Reflect.get(client, replace) as Replace).call(client, { body, name, namespace });
        const puts = (await server.requests()).filter(({ method }) => method === 'PUT');
        assert.equal(puts.length, 1);
        await server.clearRequests();
        assert.deepEqual(unversioned(await stored(resource, entry)), unversioned(before));
      });
    });
  }

  test('that a model would truncate can be written: by a JSON patch of the changes', async () => {
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { ...POD, schedulingGroup: { podGroupName: 'a' } },
    };
    const selector = { matchLabels: { app: 'web' } };
    const object = { metadata: metadata('web', 'default'), spec: { selector, template } };
    await server.apply([{ type: 'create', resource: 'deployments.apps', object }]);
    await only('apps/v1/deployments', async (entry) => {
      await kubeConfig.makeApiClient(k8s.AppsV1Api).patchNamespacedDeployment({
        name: entry.name,
        namespace: entry.namespace,
        body: [
          { op: 'test', path: '/metadata/resourceVersion', value: entry.object.metadata['resourceVersion'] },
          { op: 'replace', path: '/spec', value: { ...entry.object.spec, replicas: 2 } },
        ],
      });
      const { spec } = await stored('apps/v1/deployments', entry);
      assert.deepEqual({ ...spec, template }, { ...spec, replicas: 2, selector, template });
      assert.deepEqual(Object(spec).template.spec.schedulingGroup, { podGroupName: 'a' });
    });
  });

  test('of any group except core can be written unconverted by CustomObjectsApi', async () => {
    const resource = 'networking.k8s.io/v1/networkpolicies';
    await only(resource, async (entry) => {
      const spec = { ...entry.object.spec, policyTypes: ['Egress'] };
      await kubeConfig.makeApiClient(k8s.CustomObjectsApi).replaceNamespacedCustomObject({
        group: 'networking.k8s.io',
        version: 'v1',
        plural: 'networkpolicies',
        name: entry.name,
        namespace: entry.namespace,
        body: { ...entry.object, spec },
      });
      assert.deepEqual((await stored(resource, entry))['spec'], spec);
    });
  });

  test('of a custom resource is written unconverted by CustomObjectsApi and KubernetesObjectApi', async () => {
    const widgets = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' };
    await server.registerResource({ ...widgets, namespaced: true, custom: true });
    const object = { metadata: { name: 'w', namespace: 'default' }, spec: { default: { _from: [TIME] } } };
    await server.apply([{ type: 'create', resource: 'widgets.example.com', object }]);
    const resource = { ...widgets, isNamespaced: true };
    await using informer = new SharedIndexInformer<Stored>(kubeConfig, resource, {
      threads: { indexerThreads: 0 },
    });
    const ended = informer.run();
    await informer.waitForSync();
    const copy = informer.getStore().getByKey('default/w')?.copy();
    assert.ok(copy);
    const at = { ...widgets, plural: 'widgets', name: 'w', namespace: 'default' };
    const before = await (await fetch(`${server.url}${resourcePath(resource, 'default')}/w`)).json();
    const replaced: unknown[] = [
      await kubeConfig
        .makeApiClient(k8s.CustomObjectsApi)
        .replaceNamespacedCustomObject({ ...at, body: copy }),
      await k8s.KubernetesObjectApi.makeApiClient(kubeConfig).replace(copy),
    ];
    assert.equal(replaced.length, 2);
    const after = await (await fetch(`${server.url}${resourcePath(resource, 'default')}/w`)).json();
    assert.deepEqual(unversioned(after as Stored), unversioned(before as Stored));
    await informer.shutdown();
    await ended;
  });
});

function refOf(path: string): ResourceRef {
  const [group = '', version = '', resource = ''] = path.split('/');
  const found = findBuiltIn({ group, version, resource });
  assert.ok(found, path);
  return found;
}

/** Asserts that the server has stored the whole object. */
function assertHas(object: Stored, given: Given['object']): void {
  const { metadata, ...rest } = given;
  const { metadata: storedMetadata, kind: _kind, apiVersion: _apiVersion, ...storedRest } = object;
  assert.deepEqual(storedRest, rest);
  assert.deepEqual({ ...storedMetadata, ...metadata }, storedMetadata);
}

function unversioned({ metadata, ...object }: Stored): unknown {
  const { resourceVersion: _version, ...others } = metadata;
  return { ...object, metadata: others };
}
