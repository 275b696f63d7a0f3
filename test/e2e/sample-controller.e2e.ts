/**
 * The sample controller of docs/examples as a process of its own on a real kube-apiserver. There is no deployment
 * controller: the scenario reports replicas in its place.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ApiextensionsV1Api } from '@kubernetes/client-node';
import type { KubeConfig } from '@kubernetes/client-node';
import { Program } from '../examples/program.ts';
import { definition, expectedOutput } from '../examples/repository.ts';
import { SampleControllerScenario, obstruct } from '../examples/sample-controller-scenario.ts';
import { complaint } from '../examples/verdict.ts';
import { clusterOfTests } from './control-plane.ts';
import { until } from '../kit/until.ts';

describe('the sample controller on a real kube-apiserver', () => {
  const cluster = clusterOfTests();
  let program: Program;
  let scenario: SampleControllerScenario;

  before(async () => {
    const { controlPlane, kubeConfig, users } = cluster();
    await establishFoos(kubeConfig);
    await obstruct(kubeConfig);
    program = new Program('sample-controller', controlPlane.kubeconfigPath);
    users.push(program);
    scenario = new SampleControllerScenario(kubeConfig, program);
  });

  test('makes the Deployment of a Foo, owned by it', async () => {
    await scenario.makes();
    const { metadata, spec } = await scenario.deployment('demo');
    const { uid } = (await scenario.foo('demo')).metadata;
    const owner = { apiVersion: 'samplecontroller.example.com/v1alpha1', kind: 'Foo', name: 'demo', uid };
    const owners = metadata?.ownerReferences?.map((reference) => ({ ...reference }));
    assert.deepEqual(owners, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    assert.equal(spec?.replicas, 1);
    assert.equal((await scenario.foo('demo')).status?.availableReplicas, 0);
  });

  test('writes the available replicas of the Deployment into the status of the Foo, and nothing else', async () => {
    const before = await scenario.foo('demo');
    await scenario.reportsStatus();
    const foo = await scenario.foo('demo');
    assert.deepEqual(foo.status, { availableReplicas: 1 });
    assert.deepEqual(foo.spec, before.spec);
  });

  test('keeps the Deployment at the replicas of the Foo, and changes nothing else of it', async () => {
    const before = await scenario.deployment('demo');
    await scenario.scales();
    const after = await scenario.deployment('demo');
    assert.equal(after.spec?.replicas, 2);
    assert.deepEqual({ ...after.spec, replicas: 1 }, { ...before.spec });
  });

  test('ignores a Deployment of another owner, and makes its own when that one is deleted', async () => {
    assert.equal((await scenario.deployment('taken')).metadata?.ownerReferences, undefined);
    await scenario.retriesWhatIsNotItsOwn();
    assert.equal((await scenario.deployment('taken')).metadata?.ownerReferences?.[0]?.name, 'wants-it');
  });

  test('reports an invalid Foo, ends on a signal, and prints the expected lines', async () => {
    await scenario.refusesWhatIsIncomplete();
    program.stop('SIGINT');
    assert.equal(complaint(await expectedOutput('sample-controller'), await program.outcome), undefined);
  });
});

/** Resolves when the server serves the resource. */
async function establishFoos(kubeConfig: KubeConfig): Promise<void> {
  const api = kubeConfig.makeApiClient(ApiextensionsV1Api);
  const { metadata = {} } = await api.createCustomResourceDefinition({ body: await definition('foo') });
  await until(async () => {
    const { status } = await api.readCustomResourceDefinition({ name: metadata.name ?? '' });
    return (
      status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false
    );
  }, 'a definition that is established');
}
