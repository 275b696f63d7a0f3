/**
 * Shared informer: one watch and one cache for any number of handlers. Threads do the work; handlers run here. A
 * late handler first receives the whole cache, and misses nothing.
 *
 * In client-go: cache.NewSharedInformer, SharedInformer.AddEventHandler.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { loadKubeConfig, resources } from 'kubeloom';
import { newSharedIndexInformerWithOptions } from 'kubeloom/client-go';
import type { WireOf } from 'kubeloom';

type ConfigMap = WireOf<'core', 'v1', 'ConfigMap'>;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';
const labels = { example: 'shared-informer' };

const informer = newSharedIndexInformerWithOptions<ConfigMap>(kubeConfig, resources.core.v1.configMaps, {
  namespace,
  labelSelector: 'example=shared-informer',
});
const first = informer.addEventHandler({
  onAdd: ({ name }, isInInitialList) => console.log(`Added: ${name}${isInInitialList ? ', initially' : ''}`),
  // Objects are parsed when they are read: `object` parses all of it, `metadata` only the metadata.
  onUpdate: (_before, after) => console.log(`Updated: ${after.name} to ${after.member('data')?.['color']}`),
  onDelete: ({ key }) => console.log(`Deleted: ${key}`),
});

const put = { namespace, body: { metadata: { name: 'demo', labels }, data: { color: 'red' } } };
await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'demo1', labels } } });

const stopped = informer.run();
await first.hasSyncedChecker.done;
console.log(`Synced with ${informer.getStore().listKeys().join()}`);

await core.createNamespacedConfigMap(put);
await core.deleteNamespacedConfigMap({ namespace, name: 'demo1' });
const written = await core.replaceNamespacedConfigMap({
  ...put,
  name: 'demo',
  body: { ...put.body, data: { color: 'blue' } },
});
// Read your writes: the cache will have the version of this answer.
await informer.waitForResourceVersion(written.metadata?.resourceVersion ?? '');

const late: string[] = [];
const registration = informer.addEventHandler({ onAdd: ({ name }) => late.push(name) });
await informer.waitForSync({ registration });

// Delivers what has been received, then ends everything. The cache can still be read.
await informer.shutdown({ drain: true });
await stopped;
console.log(`In the store: ${informer.getStore().listKeys().join()}`);
console.log(`A late handler was told of ${late.join()}`);

await core.deleteNamespacedConfigMap({ namespace, name: 'demo' });
