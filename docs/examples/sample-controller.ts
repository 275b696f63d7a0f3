/**
 * Sample controller: a Foo owns a Deployment, which the controller makes, keeps at the wanted number of replicas, and
 * reports on in the Foo's status. First: kubectl apply -f docs/examples/foo-crd.yaml; then make a Foo. Ends with Ctrl-C.
 *
 * In client-go: kubernetes/sample-controller.
 */
import { AppsV1Api, CustomObjectsApi } from '@kubernetes/client-node';
import type { V1Deployment } from '@kubernetes/client-node';
import {
  DynamicSharedInformerFactory,
  RateLimitingQueue,
  SharedInformerFactory,
  deletedObject,
  loadKubeConfig,
  runWorkers,
  splitMetaNamespaceKey,
  toModel,
} from 'kubeloom';
import type { Borrowed, CachedObject, KubeObject, WireOf } from 'kubeloom';

interface Foo extends KubeObject {
  readonly spec: { readonly deploymentName?: string; readonly replicas?: number };
  readonly status?: { readonly availableReplicas?: number };
}
type Deployment = WireOf<'apps', 'v1', 'Deployment'>;

const GROUP = 'samplecontroller.example.com';
const WORKERS = 2;

const kubeConfig = loadKubeConfig();
const apps = kubeConfig.makeApiClient(AppsV1Api);
const customObjects = kubeConfig.makeApiClient(CustomObjectsApi);

const builtIn = new SharedInformerFactory(kubeConfig);
const custom = new DynamicSharedInformerFactory(kubeConfig);
const deployments = builtIn.apps.v1.deployments;
const foos = custom.forResource<Foo>({ group: GROUP, version: 'v1alpha1', resource: 'foos', kind: 'Foo' });

/** Keys of Foos: each is in it once, worked on by one worker, and comes back later when that failed. */
const queue = new RateLimitingQueue<string>({ name: 'Foos' });

/** Brings the Deployment and the status of one Foo to what they should be. */
async function reconcile(key: string): Promise<void> {
  const { namespace, name } = splitMetaNamespaceKey(key);
  const foo = foos.lister.namespace(namespace).get(name);
  // It is gone, and what it owned is the garbage collector's.
  if (!foo) return;
  const { deploymentName = '', replicas = 1 } = foo.object.spec;
  if (deploymentName === '') {
    // Trying again would not help: only a change of the Foo does.
    console.log(`${key}: spec.deploymentName must be specified`);
    return;
  }
  const ofNamespace = deployments.lister.namespace(namespace);
  if (!ofNamespace.get(deploymentName)) await create(foo, deploymentName, replicas);
  const deployment = ofNamespace.require(deploymentName);
  if (deployment.controllerUid !== foo.uid) {
    throw new Error(`Deployment ${deploymentName} already exists and is not managed by Foo`);
  }
  if (deployment.object.spec?.replicas !== replicas) await scale(foo, deployment, replicas);
  await report(foo, ofNamespace.require(deploymentName).object.status?.availableReplicas ?? 0);
}

async function create(foo: CachedObject<Foo>, name: string, replicas: number): Promise<void> {
  const { key, namespace } = foo;
  const created = await apps.createNamespacedDeployment({
    namespace,
    body: deploymentOf(foo, name, replicas),
  });
  await seen(deployments.informer, created);
  console.log(`${key}: created Deployment ${name} with ${replicas} replicas`);
}

async function scale(
  foo: CachedObject<Foo>,
  deployment: CachedObject<Deployment>,
  replicas: number,
): Promise<void> {
  const { namespace, name } = deployment;
  // The cached object as client-node writes it, and ours to change.
  const body = toModel<V1Deployment>(deployment);
  const before = body.spec?.replicas;
  if (body.spec) body.spec.replicas = replicas;
  // With the version that was read: if somebody else was faster this is a conflict, and tried again.
  await seen(deployments.informer, await apps.replaceNamespacedDeployment({ namespace, name, body }));
  console.log(`${foo.key}: scaled Deployment ${name} from ${before} to ${replicas} replicas`);
}

async function report(foo: CachedObject<Foo>, availableReplicas: number): Promise<void> {
  const { key, namespace, name } = foo;
  if (foo.object.status?.availableReplicas === availableReplicas) return;
  const resource = { group: GROUP, version: 'v1alpha1', plural: 'foos', namespace, name };
  // What is in the cache is shared: a copy is changed.
  const body = { ...foo.copy(), status: { availableReplicas } };
  await seen(foos.informer, await customObjects.replaceNamespacedCustomObjectStatus({ ...resource, body }));
  console.log(`${key}: ${availableReplicas} replicas available`);
}

/** Waits for the cache to have what was written, so that no decision is made on something older. */
async function seen(
  informer: { waitForResourceVersion(version: string): Promise<void> },
  written: { readonly metadata?: { readonly resourceVersion?: string } },
): Promise<void> {
  await informer.waitForResourceVersion(written.metadata?.resourceVersion ?? '');
}

function deploymentOf(foo: CachedObject<Foo>, name: string, replicas: number): V1Deployment {
  const labels = { app: 'nginx', controller: foo.name };
  const { uid } = foo;
  const owner = { apiVersion: `${GROUP}/v1alpha1`, kind: 'Foo', name: foo.name, uid };
  return {
    metadata: { name, ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }] },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    },
  };
}

/** Whatever happens to a Deployment is its Foo's business. */
function enqueueOwner(deployment: Borrowed<Deployment> | undefined): void {
  const owner = deployment?.metadata.ownerReferences?.find(({ controller }) => controller);
  if (owner?.kind === 'Foo') queue.add(`${deployment?.namespace}/${owner.name}`);
}

foos.informer.addEventHandler({
  onAdd: ({ key }) => queue.add(key),
  onUpdate: (_before, { key }) => queue.add(key),
});
deployments.informer.addEventHandler({
  onAdd: (deployment) => enqueueOwner(deployment),
  onUpdate: (_before, after) => enqueueOwner(after),
  onDelete: (deleted) => enqueueOwner(deletedObject(deleted).optionalObject),
});

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

builtIn.start();
custom.start();
await Promise.all([builtIn.waitForCacheSync(stop.signal), custom.waitForCacheSync(stop.signal)]);
console.log('Started workers');

await runWorkers(queue, WORKERS, reconcile, {
  signal: stop.signal,
  // It is tried again, later each time; said only once.
  onError(error, key, retries) {
    if (retries === 0) console.log(`${key}: ${error instanceof Error ? error.message : String(error)}`);
  },
});
console.log('Shutting down workers');
queue.shutDown();
await Promise.all([builtIn.shutdown(), custom.shutdown()]);
