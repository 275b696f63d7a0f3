/**
 * Shared informer factory: one informer for each resource, created on first use, and started and stopped together. With
 * a resync period handlers also receive unchanged objects at intervals, so that they can retry what failed before.
 *
 * In client-go: informers.NewSharedInformerFactoryWithOptions, factory.Core().V1().Pods().
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { SharedInformerFactory, loadKubeConfig } from 'kubeloom';

const RESYNCS = 4;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';
const labels = { example: 'factory' };
const spec = { containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }] };

for (const name of ['web-0', 'web-1']) {
  await core.createNamespacedPod({ namespace, body: { metadata: { name, labels }, spec } });
}

const factory = new SharedInformerFactory(kubeConfig, {
  namespace,
  defaultResyncMs: 1000,
  tweakListOptions: (options) => ({ ...options, labelSelector: 'example=factory' }),
});

// The types follow from group, version and resource. From here on the factory has an informer of pods.
const { informer, lister } = factory.core.v1.pods;

const stop = new AbortController();
let resyncs = 0;
const registration = informer.addEventHandler({
  onAdd: (pod) => console.log(`Added: ${pod.key}`),
  onUpdate(before, after) {
    // This object has not changed.
    if (before.resourceVersion !== after.resourceVersion) return;
    console.log(`Resync: ${after.key}`);
    if (++resyncs === RESYNCS) stop.abort();
  },
});

factory.start({ signal: stop.signal });
await factory.waitForCacheSync();
// The cache has the whole list; after this the handler has received it as well.
await registration.hasSyncedChecker.done;
console.log(`Listed: ${lister.namespace(namespace).list('example in (factory)').length}`);

await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
await factory.shutdown();

for (const { name } of lister.list())
  await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
