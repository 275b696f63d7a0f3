/**
 * Controller, the low level one: a reflector that fills a queue, and a loop that processes its items. The
 * program decides what to do with a change; most keep a store and call a handler, as `processDeltas` does.
 *
 * In client-go: cache.New, cache.Config.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { deletedObject, deletionHandlingMetaNamespaceKeyFunc, loadKubeConfig, resources } from 'kubeloom';
import {
  DeltaFIFO,
  newController,
  newFilteredListWatchFromClient,
  newStore,
  processDeltas,
} from 'kubeloom/client-go';
import type { WireOf } from 'kubeloom';
import type { ObjectEventHandler } from 'kubeloom/client-go';

type ConfigMap = WireOf<'core', 'v1', 'ConfigMap'>;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';
const metadata = { name: 'demo', labels: { example: 'controller' } };
const stop = new AbortController();

const store = newStore<ConfigMap>(deletionHandlingMetaNamespaceKeyFunc);

const handler: ObjectEventHandler<ConfigMap> = {
  onAdd(configMap, isInInitialList) {
    console.log(`Added: ${configMap.metadata?.name}${isInInitialList ? ', in the initial list' : ''}`);
  },
  onUpdate(before, after) {
    console.log(
      `Updated: ${after.metadata?.name}, from ${before.data?.['color']} to ${after.data?.['color']}`,
    );
  },
  onDelete(last) {
    console.log(`Deleted: ${deletedObject(last).name}, which leaves ${store.size}`);
    stop.abort();
  },
};

const controller = newController({
  listerWatcher: newFilteredListWatchFromClient<ConfigMap>(
    kubeConfig,
    resources.core.v1.configMaps,
    namespace,
    (options) => {
      return { ...options, labelSelector: 'example=controller' };
    },
  ),
  queue: new DeltaFIFO<ConfigMap>({ knownObjects: store, emitDeltaTypeReplaced: true }),
  process: (deltas, isInInitialList) => processDeltas(handler, store, deltas, isInInitialList),
});

await core.createNamespacedConfigMap({ namespace, body: { metadata, data: { color: 'red' } } });
const stopped = controller.run(stop.signal);
await controller.hasSyncedChecker.done;
console.log(`Synced with ${store.size}`);
await core.replaceNamespacedConfigMap({
  namespace,
  name: 'demo',
  body: { metadata, data: { color: 'blue' } },
});
await core.deleteNamespacedConfigMap({ namespace, name: 'demo' });
await stopped;
