/** Tests of the types of the wire, mostly by compiling, and of the table of resources behind them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  V1CustomResourceDefinition,
  V1NetworkPolicy,
  V1PodDisruptionBudget,
} from '@kubernetes/client-node';
import { resources } from '../../../src/kube/built-in.ts';
import type { ResourceOf } from '../../../src/kube/resource.ts';
import { BUILT_IN_GROUPS, builtInResources, findBuiltIn } from '../../../src/kube/resources.ts';
import type { BuiltInWire, KubeObject, WireOf } from '../../../src/kube/wire.ts';
import type { Wire } from '../../../src/kube/wire-form.ts';

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Has<T, Key> = Key extends keyof T ? true : false;

/** Compiles only for true claims about the types. */
function proven(...claims: readonly true[]): void {
  assert.ok(claims.every(Boolean));
}

type Pod = BuiltInWire<'core', 'v1', 'pods'>;
type Lease = BuiltInWire<'coordination', 'v1', 'leases'>;
type Schema = NonNullable<
  NonNullable<
    NonNullable<Wire<V1CustomResourceDefinition>['spec']>['versions'][number]['schema']
  >['openAPIV3Schema']
>;

describe('the types of the wire', () => {
  test('have dates as text, also in maps', () => {
    const date: Equal<NonNullable<Pod['metadata']>['creationTimestamp'], string | undefined> = true;
    const microTime: Equal<NonNullable<Lease['spec']>['renewTime'], string | undefined> = true;
    type Disrupted = NonNullable<Wire<V1PodDisruptionBudget>['status']>['disruptedPods'];
    const dateInMap: Equal<NonNullable<Disrupted>[string], string> = true;
    proven(date, microTime, dateInMap);
  });

  test('have the field names of Kubernetes where the models have others', () => {
    type Ingress = NonNullable<NonNullable<Wire<V1NetworkPolicy>['spec']>['ingress']>[number];
    const renamedBack: Equal<Has<Ingress, 'from'>, true> = true;
    const modelName: Equal<Has<Ingress, '_from'>, false> = true;
    const schemaRef: Equal<Has<Schema, '$ref'>, true> = true;
    const schemaValidations: Equal<Has<Schema, 'x-kubernetes-validations'>, true> = true;
    const schemaModelName: Equal<Has<Schema, 'x_kubernetes_validations'>, false> = true;
    proven(renamedBack, modelName, schemaRef, schemaValidations, schemaModelName);
  });

  test('keep keys that only look like renamed ones', () => {
    type Version = NonNullable<Wire<V1CustomResourceDefinition>['spec']>['versions'][number];
    const kept: Equal<Has<Version, 'schema'>, true> = true;
    proven(kept);
  });

  test('are read-only at every depth', () => {
    const pod: Pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'c' }] } };
    const write = (): void => {
      // @ts-expect-error -- a shared object is read-only
      pod.spec = { containers: [] };
      // @ts-expect-error -- its arrays are read-only too
      pod.spec?.containers.push({ name: 'd' });
    };
    assert.equal(typeof write, 'function');
  });

  test('distinguish the events of two groups', () => {
    type CoreEvent = BuiltInWire<'core', 'v1', 'events'>;
    type NewEvent = BuiltInWire<'events', 'v1', 'events'>;
    const inCore: Equal<Has<CoreEvent, 'involvedObject'>, true> = true;
    const inEvents: Equal<Has<NewEvent, 'regarding'>, true> = true;
    proven(inCore, inEvents);
  });

  test('are an object of any kind where client-node has no model', () => {
    const any: Equal<WireOf<'core', 'v1', 'Nonesuch'>, KubeObject> = true;
    proven(any);
  });
});

describe('the built-in resources as values', () => {
  test('are found by client-go’s names and carry the type of their objects', () => {
    const pods: ResourceOf<Pod> = resources.core.v1.pods;
    // @ts-expect-error -- another type of object
    const leases: ResourceOf<Lease> = resources.core.v1.pods;
    assert.equal(leases, pods);
    assert.deepEqual(pods, { group: '', version: 'v1', resource: 'pods', kind: 'Pod', isNamespaced: true });
    assert.equal(resources.networking.v1.serviceCIDRs.resource, 'servicecidrs');
    assert.equal(resources.core.v1.nodes.isNamespaced, false);
  });
});

describe('the table of built-in resources', () => {
  test('finds a resource by the names of its URL, and not by others', () => {
    assert.deepEqual(findBuiltIn({ group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' }), {
      group: 'networking.k8s.io',
      version: 'v1',
      resource: 'servicecidrs',
      kind: 'ServiceCIDR',
      isNamespaced: false,
    });
    assert.equal(findBuiltIn({ group: '', version: 'v1', resource: 'deployments' }), undefined);
  });

  test('has every resource once', () => {
    const names = builtInResources().map(({ group, version, resource }) => `${group}/${version}/${resource}`);
    assert.equal(new Set(names).size, names.length);
  });

  test('names a group as its package does', () => {
    for (const [name, { group }] of Object.entries(BUILT_IN_GROUPS)) {
      const first = group.split('.')[0];
      assert.ok(['', name, 'internal', 'flowcontrol', 'rbac'].includes(first ?? ''), name);
    }
  });
});
