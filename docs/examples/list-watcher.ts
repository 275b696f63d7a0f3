/**
 * ListWatch: the two requests on which everything else is built. A list, and then a watch of all changes after the
 * list's version.
 *
 * In client-go: cache.NewListWatchFromClient, cache.ListerWatcher.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { loadKubeConfig, resources } from 'kubeloom';
import { newListWatchFromClient } from 'kubeloom/client-go';

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';

await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'demo1' } } });

const listWatch = newListWatchFromClient(kubeConfig, resources.core.v1.configMaps, namespace);

const list = await listWatch.list({});
console.log('Initial list:');
for (const configMap of list.items) console.log(`  ${configMap.metadata?.name}`);

// From here on the server sends every change, until `stop` is called or the loop is left.
const watch = await listWatch.watch({ resourceVersion: list.metadata?.resourceVersion ?? '' });

await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'demo' } } });

for await (const event of watch) {
  // Not every event has an object: for example, a server may report that the version is too old.
  if (event.type === 'ERROR' || event.type === 'BOOKMARK') continue;
  console.log(`${event.type}: ${event.object.metadata?.name}`);
  if (event.object.metadata?.name === 'demo') break;
}

for (const name of ['demo', 'demo1']) await core.deleteNamespacedConfigMap({ namespace, name });
