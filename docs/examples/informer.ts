/**
 * Plain informer: store and controller in one piece, one handler, no threads. Its objects are those of the ListWatch.
 * For small collections, and for sources other than an apiserver.
 *
 * In client-go: cache.NewInformer.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { deletedObject } from 'kubeloom/client-go';
import { loadKubeConfig, resources } from 'kubeloom';
import { newInformer, newListWatchFromClient } from 'kubeloom/client-go';
import type { WireOf } from 'kubeloom';

type ConfigMap = WireOf<'core', 'v1', 'ConfigMap'>;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';
const metadata = { name: 'demo' };
const stop = new AbortController();

// Selects only this object: objects that the server does not send cost nothing.
const listWatch = newListWatchFromClient<ConfigMap>(
  kubeConfig,
  resources.core.v1.configMaps,
  namespace,
  'metadata.name=demo',
);

const { store, controller } = newInformer<ConfigMap>(listWatch, { kind: 'ConfigMap' }, 0, {
  onAdd(configMap) {
    console.log(`Added: ${configMap.metadata?.name}`);
  },
  onUpdate(before, after) {
    console.log(
      `Updated: ${after.metadata?.name}, from ${before.data?.['color']} to ${after.data?.['color']}`,
    );
    // The store changes first: a handler finds the change there.
    console.log(`In the store: ${store.getByKey('default/demo')?.data?.['color']}`);
  },
  onDelete(last) {
    // The object is a tombstone when the deletion itself was missed.
    console.log(`Deleted: ${deletedObject(last).name}`);
    stop.abort();
  },
});

const stopped = controller.run({ signal: stop.signal });
await controller.hasSyncedChecker.done;
console.log(`Synced with ${store.size}`);

await core.createNamespacedConfigMap({ namespace, body: { metadata, data: { color: 'red' } } });
await core.replaceNamespacedConfigMap({
  namespace,
  name: 'demo',
  body: { metadata, data: { color: 'blue' } },
});
await core.deleteNamespacedConfigMap({ namespace, name: 'demo' });
await stopped;
