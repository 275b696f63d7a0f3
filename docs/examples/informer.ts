/**
 * Informer, the plain one: store and controller in one piece, one handler, no threads. Objects are what the ListWatch
 * gives. For small collections, and where something else than an apiserver is listed and watched.
 *
 * In client-go: cache.NewInformer.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { deletedObject, loadKubeConfig, newInformer, newListWatchFromClient, resources } from 'kubeloom';
import type { WireOf } from 'kubeloom';

type ConfigMap = WireOf<'core', 'v1', 'ConfigMap'>;

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';
const metadata = { name: 'demo' };
const stop = new AbortController();

// Only this one: what the server does not send costs nothing.
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
    // The store comes first: whoever hears of a change finds it there.
    console.log(`In the store: ${store.getByKey('default/demo')?.data?.['color']}`);
  },
  onDelete(last) {
    // A tombstone when the deletion itself was missed.
    console.log(`Deleted: ${deletedObject(last).name}`);
    stop.abort();
  },
});

const stopped = controller.run(stop.signal);
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
