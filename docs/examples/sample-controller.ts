/**
 * Sample controller: a Foo owns a Deployment. The controller creates it, keeps it at the requested number of replicas,
 * and reports its state in the Foo's status. First: kubectl apply -f docs/examples/foo-crd.yaml; then create a Foo.
 * Ends with Ctrl-C.
 *
 * In client-go: kubernetes/sample-controller.
 */
import { TerminalError } from 'kubeloom/workqueue';
import { loadKubeConfig, resources } from 'kubeloom';
import type { CachedObject, KubeObject, ResourceOf, WireOf } from 'kubeloom';
import { Manager, controllerReference } from 'kubeloom/controller';

interface Foo extends KubeObject {
  readonly spec: { readonly deploymentName?: string; readonly replicas?: number };
  readonly status?: { readonly availableReplicas?: number };
}
type Deployment = WireOf<'apps', 'v1', 'Deployment'>;

const { deployments } = resources.apps.v1;
const foos: ResourceOf<Foo> = {
  group: 'samplecontroller.example.com',
  version: 'v1alpha1',
  resource: 'foos',
  kind: 'Foo',
  isNamespaced: true,
};

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

const manager = new Manager(loadKubeConfig(), { onReady: () => console.log('Started workers') });

manager
  .controllerFor(foos, {
    concurrency: 2,
    // The key is tried again after growing delays; the error is printed once.
    onError(error, key, retries) {
      if (retries === 0) console.log(`${key}: ${error instanceof Error ? error.message : String(error)}`);
    },
  })
  // Every change of a Deployment that a Foo owns queues the Foo.
  .owns(deployments)
  .reconcile(async (key, { cache, client, signal }) => {
    const foo = cache.get(foos, key);
    // The Foo is deleted; the garbage collector deletes its Deployment.
    if (!foo) return;
    const { namespace } = foo;
    const { deploymentName: name = '', replicas = 1 } = foo.spec;
    // Another attempt would not help: only a change of the Foo does.
    if (name === '') throw new TerminalError('spec.deploymentName must be specified');

    const cached = cache.get(deployments, { namespace, name });
    if (cached && cached.controllerUid !== foo.uid) {
      throw new Error(`Deployment ${name} already exists and is not managed by Foo`);
    }
    let deployment = cached?.object;
    if (!deployment) {
      deployment = await client.create(deployments, deploymentOf(foo, name, replicas), { signal });
      console.log(`${key}: created Deployment ${name} with ${replicas} replicas`);
    } else if (deployment.spec?.replicas !== replicas) {
      const before = deployment.spec?.replicas;
      deployment = await client.patch(deployments, { namespace, name }, { spec: { replicas } }, { signal });
      console.log(`${key}: scaled Deployment ${name} from ${before} to ${replicas} replicas`);
    }

    const availableReplicas = deployment.status?.availableReplicas ?? 0;
    if (foo.status?.availableReplicas === availableReplicas) return;
    await client.updateStatus(foos, { ...foo.object, status: { availableReplicas } }, { signal });
    console.log(`${key}: ${availableReplicas} replicas available`);
  });

function deploymentOf(foo: CachedObject<Foo>, name: string, replicas: number): Deployment {
  const labels = { app: 'nginx', controller: foo.name };
  return {
    metadata: { name, namespace: foo.namespace, ownerReferences: [controllerReference(foos, foo)] },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    },
  };
}

await manager.run({ signal: stop.signal });
console.log('Shutting down workers');
