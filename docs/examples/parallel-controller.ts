/**
 * Parallel controller: reconciles Deployments on all cores. The main thread has the informers and the work queue;
 * each thread of the pool reads the same cache, and computes and writes without delaying the main thread
 * (parallel-controller/reconcile.ts). With `--measure` it compares the threads with the main thread.
 *
 * In client-go: goroutines that call processNextWorkItem.
 */
import { RateLimitingQueue, runWorkers } from 'kubeloom/workqueue';
import { ReconcilerPool, SharedCache } from 'kubeloom/thread';
import { SharedIndexInformer, loadKubeConfig, ownerUid, resources } from 'kubeloom';
import type { Borrowed, CachedObject, WireOf } from 'kubeloom';
import { ObjectClient } from 'kubeloom/controller';
import { measured } from './parallel-controller/measure.js';
import { plan } from './parallel-controller/reconcile.js';

type Deployment = WireOf<'apps', 'v1', 'Deployment'>;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const isMeasuring = process.argv.includes('--measure');
const NAMES = Array.from({ length: isMeasuring ? 100 : 3 }, (_, index) => `web-${index}`);
const namespace = 'default';
const labels = { example: 'parallel' };
const kubeConfig = loadKubeConfig();
const client = new ObjectClient(kubeConfig);

const watched = { namespace, labelSelector: 'example=parallel' };
await using deployments = new SharedIndexInformer(kubeConfig, resources.apps.v1.deployments, watched);
await using pods = new SharedIndexInformer(kubeConfig, resources.core.v1.pods, {
  ...watched,
  indexers: { owner: ownerUid() },
});

const queue = new RateLimitingQueue<string>({ name: 'deployments' });
deployments.addEventHandler({
  onAdd: ({ key }) => queue.add(key),
  onUpdate: (_, { key }) => queue.add(key),
  onDelete: ({ key }) => queue.add(key),
});
// A Pod concerns the Deployment that controls it.
const controllerKey = ({ namespace, metadata }: Borrowed<WireOf<'core', 'v1', 'Pod'>>): string =>
  `${namespace}/${metadata.ownerReferences?.find(({ controller }) => controller)?.name ?? ''}`;
pods.addEventHandler({
  onAdd: (pod) => queue.add(controllerKey(pod)),
  onDelete: (pod) => !pod.finalStateUnknown && queue.add(controllerKey(pod)),
});

for (const informer of [deployments, pods]) void informer.run();
await Promise.all([deployments.waitForSync(), pods.waitForSync()]);

const cache = new SharedCache({ deployments, pods });
const pool = new ReconcilerPool(new URL('parallel-controller/reconcile.js', import.meta.url), {
  cache,
  threads: 2,
});
const working = runWorkers(queue, pool);

for (const name of NAMES) await client.create(resources.apps.v1.deployments, deploymentOf(name, 2));
await complete();
print();
if (isMeasuring) await measure();

for (const [name, replicas] of Object.entries({ 'web-0': 3, 'web-1': 1 })) {
  const key = { namespace, name };
  const scaled = await client.patch(resources.apps.v1.deployments, key, { spec: { replicas } });
  await deployments.waitForResourceVersion(scaled.metadata?.resourceVersion ?? '');
}
await complete();
print();

await queue.shutDownWithDrain();
await working;
await pool.close();
await cache.close();
// The garbage collector of the server deletes the Pods.
for (const name of NAMES) await client.delete(resources.apps.v1.deployments, { namespace, name });

/** Resolves when every Deployment has its Pods. */
async function complete(): Promise<void> {
  const isComplete = (): boolean =>
    deployments.getIndexer().size === NAMES.length &&
    deployments
      .getIndexer()
      .list()
      .every((deployment) => deployment.spec?.replicas === podsOf(deployment).length);
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (!isComplete()) return;
      pods.removeEventHandler(registration);
      resolve();
    };
    const registration = pods.addEventHandler({ onAdd: look, onUpdate: look, onDelete: look });
  });
}

function podsOf({ uid }: CachedObject<Deployment>): readonly string[] {
  return pods.getIndexer().indexKeys('owner', uid);
}

function print(): void {
  if (isMeasuring) return;
  for (const deployment of deployments.getIndexer().list()) {
    console.log(`${deployment.key}: ${podsOf(deployment).join(' ')}`);
  }
}

/** Reconciles every Deployment once, when there is nothing to write: on the main thread, then in the threads. */
async function measure(): Promise<void> {
  const planned = (key: string): void => {
    const deployment = deployments.getIndexer().getByKey(key);
    if (deployment) plan(deployment, pods.getIndexer().byIndex('owner', deployment.uid));
  };
  const once = (): RateLimitingQueue<string> => {
    const keys = new RateLimitingQueue<string>();
    for (const { key } of deployments.getIndexer().list()) keys.add(key);
    keys.shutDown();
    return keys;
  };
  // The Pods have queued their Deployments again.
  while (queue.length + queue.inWork > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  for (let round = 0; round < 3; round++) {
    await measured('main thread', NAMES.length, () => runWorkers(once(), 1, planned));
    await measured('two threads', NAMES.length, () => runWorkers(once(), pool));
  }
}

function deploymentOf(name: string, replicas: number): Deployment {
  const containers = [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }];
  return {
    metadata: { namespace, name, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}
