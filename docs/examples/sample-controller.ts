/**
 * Sample controller: a Foo owns a Deployment. The controller creates it, keeps it at the requested number of replicas,
 * and reports its state in the Foo's status. First: kubectl apply -f docs/examples/foo-crd.yaml; then create a Foo.
 * Ends with Ctrl-C.
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

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

const kubeConfig = loadKubeConfig();
const apps = kubeConfig.makeApiClient(AppsV1Api);
const customObjects = kubeConfig.makeApiClient(CustomObjectsApi);

const builtIn = new SharedInformerFactory(kubeConfig);
const custom = new DynamicSharedInformerFactory(kubeConfig);
const deployments = builtIn.apps.v1.deployments;
const foos = custom.forResource<Foo>({ group: GROUP, version: 'v1alpha1', resource: 'foos', kind: 'Foo' });

/** Keys of Foos: each is in the queue once, one worker processes it, and it comes back later after a failure. */
const queue = new RateLimitingQueue<string>({ name: 'Foos' });

/** Brings the Deployment and the status of one Foo to what they should be. */
async function reconcile(key: string): Promise<void> {
  const { namespace, name } = splitMetaNamespaceKey(key);
  const foo = foos.lister.namespace(namespace).get(name);
  // The Foo is deleted; the garbage collector deletes its Deployment.
  if (!foo) return;
  const { deploymentName = '', replicas = 1 } = foo.object.spec;
  if (deploymentName === '') {
    // A retry would not help: only a change of the Foo does.
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
  // A copy of the cached object in client-node's form, which may be changed.
  const body = toModel<V1Deployment>(deployment);
  const before = body.spec?.replicas;
  if (body.spec) body.spec.replicas = replicas;
  // The body has the version that was read: when another writer was faster, this is a conflict and is retried.
  await seen(deployments.informer, await apps.replaceNamespacedDeployment({ namespace, name, body }));
  console.log(`${foo.key}: scaled Deployment ${name} from ${before} to ${replicas} replicas`);
}

async function report(foo: CachedObject<Foo>, availableReplicas: number): Promise<void> {
  const { key, namespace, name } = foo;
  if (foo.object.status?.availableReplicas === availableReplicas) return;
  const resource = { group: GROUP, version: 'v1alpha1', plural: 'foos', namespace, name };
  // Cached objects are shared: change a copy.
  const body = { ...foo.copy(), status: { availableReplicas } };
  await seen(foos.informer, await customObjects.replaceNamespacedCustomObjectStatus({ ...resource, body }));
  console.log(`${key}: ${availableReplicas} replicas available`);
}

/** Waits until the cache has the write, so that no decision uses an older state. */
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

/** Every change of a Deployment queues its Foo. */
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

builtIn.start();
custom.start();
try {
  await Promise.all([builtIn.waitForCacheSync(stop.signal), custom.waitForCacheSync(stop.signal)]);
  console.log('Started workers');
  await runWorkers(queue, WORKERS, reconcile, {
    signal: stop.signal,
    // The item is retried after growing delays; the error is reported once.
    onError(error, key, retries) {
      if (retries === 0) console.log(`${key}: ${error instanceof Error ? error.message : String(error)}`);
    },
  });
  console.log('Shutting down workers');
} catch (error) {
  // Before the caches are synced the signal ends the wait with an error.
  if (!stop.signal.aborted) throw error;
} finally {
  queue.shutDown();
  await Promise.all([builtIn.shutdown(), custom.shutdown()]);
}
