/**
 * Reflector: lists and watches until it is stopped, whatever fails, and puts the changes into a queue. Here the queue
 * is a DeltaFIFO, from which the program takes one key's changes at a time.
 *
 * In client-go: cache.NewReflector, cache.NewDeltaFIFOWithOptions.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { deletedObject, metaNamespaceKeyFunc } from 'kubeloom/client-go';
import { loadKubeConfig, resources } from 'kubeloom';
import { DeltaFIFO, Reflector, newFilteredListWatchFromClient, newStore } from 'kubeloom/client-go';
import type { WireOf } from 'kubeloom';
import type { ObjectDelta } from 'kubeloom/client-go';

type ConfigMap = WireOf<'core', 'v1', 'ConfigMap'>;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

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

// The processed objects. With them the queue finds the objects that a later list no longer has.
const known = newStore<ConfigMap>(metaNamespaceKeyFunc);
const queue = new DeltaFIFO<ConfigMap>({ knownObjects: known, emitDeltaTypeReplaced: true });
const reflector = new Reflector(listWatch, { kind: 'ConfigMap' }, queue);

function take(deltas: readonly ObjectDelta<ConfigMap>[]): void {
  for (const { type, object } of deltas) {
    // When an object vanished while there was no watch, only its last known state is left.
    const { name, optionalObject: configMap } = deletedObject(object);
    if (type !== 'Deleted') known.update(object);
    else if (configMap) known.delete(configMap);
    console.log(`${type}: ${name}`);
  }
}

const stop = new AbortController();
const stopped = reflector.run({ signal: stop.signal });
await queue.pop(take);
await queue.pop(take);

await core.deleteNamespacedConfigMap({ namespace: 'examples', name: 'demo' });
await queue.pop(take);

await core.createNamespacedConfigMap({ namespace: 'examples', body: { metadata: { name: 'demo', labels } } });
await queue.pop(take);

stop.abort();
await stopped;
await core.deleteNamespacedConfigMap({ namespace: 'default', name: 'demo1' });
await core.deleteNamespacedConfigMap({ namespace: 'examples', name: 'demo' });
