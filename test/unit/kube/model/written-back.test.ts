/**
 * Reads objects through an informer and writes them through client-node's API methods, on the embedded server:
 * the objects are the same afterwards.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as k8s from '@kubernetes/client-node';
import { SharedIndexInformer, findBuiltIn, resourcePath, toModel } from '../../../../src/index.ts';
import type { Identity, ResourceRef } from '../../../../src/index.ts';
import { startEmbeddedApiServer } from '../../../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/apiserver/testing/index.ts';
import { GIVEN, TIME } from './given.ts';
import type { Given } from './given.ts';

type Stored = Readonly<Record<string, unknown>> & {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec?: object;
};
type Read = Identity & { readonly object: Stored };

/** Returns the parameters of all replacing methods. */
function replacing<T>({ name, namespace, object }: Read, convert: (source: { object: never }) => T) {
  return { body: convert({ object: object as never }), name, namespace };
}

/** One full replacement for each resource, as a controller would do it. */
const WRITES: Readonly<Record<string, (kubeConfig: k8s.KubeConfig, entry: Read) => Promise<unknown>>> = {
  'networking.k8s.io/v1/networkpolicies': (kubeConfig, entry) =>
    kubeConfig
      .makeApiClient(k8s.NetworkingV1Api)
      .replaceNamespacedNetworkPolicy(replacing(entry, toModel<k8s.V1NetworkPolicy>)),
  '/v1/limitranges': (kubeConfig, entry) =>
    kubeConfig
      .makeApiClient(k8s.CoreV1Api)
      .replaceNamespacedLimitRange(replacing(entry, toModel<k8s.V1LimitRange>)),
  'apiextensions.k8s.io/v1/customresourcedefinitions': (kubeConfig, entry) =>
    kubeConfig
      .makeApiClient(k8s.ApiextensionsV1Api)
      .replaceCustomResourceDefinition(replacing(entry, toModel<k8s.V1CustomResourceDefinition>)),
  'coordination.k8s.io/v1/leases': (kubeConfig, entry) =>
    kubeConfig
      .makeApiClient(k8s.CoordinationV1Api)
      .replaceNamespacedLease(replacing(entry, toModel<k8s.V1Lease>)),
  'policy/v1/poddisruptionbudgets': (kubeConfig, entry) =>
    kubeConfig
      .makeApiClient(k8s.PolicyV1Api)
      .replaceNamespacedPodDisruptionBudgetStatus(replacing(entry, toModel<k8s.V1PodDisruptionBudget>)),
  '/v1/events': (kubeConfig, entry) =>
    kubeConfig
      .makeApiClient(k8s.CoreV1Api)
      .replaceNamespacedEvent(replacing(entry, toModel<k8s.CoreV1Event>)),
  'events.k8s.io/v1/events': (kubeConfig, entry) =>
    kubeConfig
      .makeApiClient(k8s.EventsV1Api)
      .replaceNamespacedEvent(replacing(entry, toModel<k8s.EventsV1Event>)),
  '/v1/pods': (kubeConfig, entry) =>
    kubeConfig.makeApiClient(k8s.CoreV1Api).replaceNamespacedPod(replacing(entry, toModel<k8s.V1Pod>)),
};

describe('an object from an informer', () => {
  let server: EmbeddedApiServer;
  let kubeConfig: k8s.KubeConfig;

  before(async () => {
    server = await startEmbeddedApiServer({ tls: false, token: '' });
    kubeConfig = new k8s.KubeConfig();
    kubeConfig.loadFromString(server.kubeConfigYaml);
    await server.registerResource({
      group: 'apiextensions.k8s.io',
      version: 'v1',
      resource: 'customresourcedefinitions',
      kind: 'CustomResourceDefinition',
      namespaced: false,
    });
    for (const { resource, object } of GIVEN) {
      const [group, , name = ''] = resource.split('/');
      await server.apply([{ type: 'create', resource: group ? `${name}.${group}` : name, object }]);
    }
  });

  after(() => server.close());

  /** Passes the only object of a resource to `use`, as an informer has it. */
  async function only(resource: string, use: (entry: Read) => Promise<void>): Promise<void> {
    const options = { threads: { shards: 0 } };
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

  for (const { resource, object } of GIVEN) {
    test(`is the same on the server after client-node wrote it: ${resource}`, async () => {
      await only(resource, async (entry) => {
        const before = await stored(resource, entry);
        assertHas(before, object);
        await WRITES[resource]?.(kubeConfig, entry);
        const puts = (await server.requests()).filter(({ method }) => method === 'PUT');
        assert.equal(puts.length, 1);
        await server.clearRequests();
        assert.deepEqual(unversioned(await stored(resource, entry)), unversioned(before));
      });
    });
  }

  test('that a model would truncate can be written: by a JSON patch of the changes', async () => {
    await only('/v1/pods', async (entry) => {
      const { metadata, spec: before } = entry.object;
      const spec = { ...before, fieldOfNextYear: { from: ['a'] } };
      await kubeConfig.makeApiClient(k8s.CoreV1Api).patchNamespacedPod({
        name: entry.name,
        namespace: entry.namespace,
        body: [
          { op: 'test', path: '/metadata/resourceVersion', value: metadata['resourceVersion'] },
          { op: 'replace', path: '/spec', value: spec },
        ],
      });
      assert.deepEqual((await stored('/v1/pods', entry))['spec'], spec);
    });
  });

  test('of any group except core can be written unconverted by CustomObjectsApi', async () => {
    const resource = 'networking.k8s.io/v1/networkpolicies';
    await only(resource, async (entry) => {
      const spec = { ...entry.object.spec, fieldOfNextYear: { from: ['a'] } };
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
    await using informer = new SharedIndexInformer<Stored>(kubeConfig, resource, { threads: { shards: 0 } });
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
