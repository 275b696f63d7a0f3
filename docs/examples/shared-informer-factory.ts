/**
 * Shared informer factory: one informer for each resource, made when it is first asked for, and started and stopped
 * together. With a resync period handlers are told once in a while of what did not change, so that whatever they could
 * not do the last time is tried again.
 *
 * In client-go: informers.NewSharedInformerFactoryWithOptions, factory.Core().V1().Pods().
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { SharedInformerFactory, loadKubeConfig } from 'kubeloom';

const RESYNCS = 4;

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

// Typed by group, version and resource. From here on the factory has an informer of pods.
const { informer, lister } = factory.core.v1.pods;

const stop = new AbortController();
let resyncs = 0;
const registration = informer.addEventHandler({
  onAdd: (pod) => console.log(`Added: ${pod.key}`),
  onUpdate(before, after) {
    // Nothing has happened to this one.
    if (before.resourceVersion !== after.resourceVersion) return;
    console.log(`Resync: ${after.key}`);
    if (++resyncs === RESYNCS) stop.abort();
  },
});

factory.start(stop.signal);
await factory.waitForCacheSync();
// The cache has all that was listed; with this the handler has been told as well.
await registration.hasSyncedChecker.done;
console.log(`Listed: ${lister.namespace(namespace).list('example in (factory)').length}`);

await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
await factory.shutdown();

for (const { name } of lister.list())
  await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
