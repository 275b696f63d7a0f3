/**
 * Reflector: lists and watches for as long as it is told to, whatever fails, and puts what it hears into a queue. Here
 * that is a DeltaFIFO, from which the program takes one key's changes at a time.
 *
 * In client-go: cache.NewReflector, cache.NewDeltaFIFOWithOptions.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import {
  DeltaFIFO,
  Reflector,
  deletedObject,
  loadKubeConfig,
  metaNamespaceKeyFunc,
  newFilteredListWatchFromClient,
  newStore,
  resources,
} from 'kubeloom';
import type { ObjectDelta, WireOf } from 'kubeloom';

type ConfigMap = WireOf<'core', 'v1', 'ConfigMap'>;

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const labels = { example: 'reflector' };

// Lists are in the order of keys: `default/demo1` comes before `examples/demo`.
await core
  .createNamespace({ body: { metadata: { name: 'examples' } } })
  .catch(() => 'there from the last time');
await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'demo1', labels } } });
await core.createNamespacedConfigMap({ namespace: 'examples', body: { metadata: { name: 'demo', labels } } });

const listWatch = newFilteredListWatchFromClient<ConfigMap>(
  kubeConfig,
  resources.core.v1.configMaps,
  '',
  (options) => {
    return { ...options, labelSelector: 'example=reflector' };
  },
);

// What has been processed. From it the queue knows which objects a later list does not have any more.
const known = newStore<ConfigMap>(metaNamespaceKeyFunc);
const queue = new DeltaFIFO<ConfigMap>({ knownObjects: known, emitDeltaTypeReplaced: true });
const reflector = new Reflector(listWatch, { kind: 'ConfigMap' }, queue);

function process(deltas: readonly ObjectDelta<ConfigMap>[]): void {
  for (const { type, object } of deltas) {
    // Of something that vanished while nobody was watching, only the last known state is left.
    const { name, optionalObject: configMap } = deletedObject(object);
    if (type !== 'Deleted') known.update(object);
    else if (configMap) known.delete(configMap);
    console.log(`${type}: ${name}`);
  }
}

const stop = new AbortController();
const stopped = reflector.run(stop.signal);
await queue.pop(process);
await queue.pop(process);

await core.deleteNamespacedConfigMap({ namespace: 'examples', name: 'demo' });
await queue.pop(process);

await core.createNamespacedConfigMap({ namespace: 'examples', body: { metadata: { name: 'demo', labels } } });
await queue.pop(process);

stop.abort();
await stopped;
await core.deleteNamespacedConfigMap({ namespace: 'default', name: 'demo1' });
await core.deleteNamespacedConfigMap({ namespace: 'examples', name: 'demo' });
