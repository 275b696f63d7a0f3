/**
 * Indexer: a store that also finds objects by their contents, without a scan. A separate indexer holds the objects that
 * you put in; an informer's indexer follows the server.
 *
 * In client-go: cache.NewIndexer, SharedIndexInformer.GetIndexer.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { SharedIndexInformer, field, label, loadKubeConfig, resources } from 'kubeloom';
import { metaNamespaceKeyFunc } from 'kubeloom/client-go';
import { metaNamespaceIndexFunc, newIndexer } from 'kubeloom/client-go';
import type { WireOf } from 'kubeloom';

type Pod = WireOf<'core', 'v1', 'Pod'>;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';
const spec = { nodeName: 'node-7', containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }] };

// A separate indexer: an object may have any number of index values, or none.
const byUser = (pod: Pod): string[] => pod.metadata?.annotations?.['users']?.split(',') ?? [];
const indexer = newIndexer<Pod>(metaNamespaceKeyFunc, { byUser, namespace: metaNamespaceIndexFunc });
indexer.add({ metadata: { namespace, name: 'one', annotations: { users: 'ernie,bert' } } });
indexer.add({ metadata: { namespace, name: 'two', annotations: { users: 'bert,oscar' } } });
indexer.add({ metadata: { namespace: 'other', name: 'tre', annotations: { users: 'ernie,elmo' } } });
console.log(`Users: ${indexer.listIndexFuncValues('byUser').sort().join()}`);
console.log(`Of ernie: ${indexer.indexKeys('byUser', 'ernie').join()}`);
console.log(`In default: ${indexer.indexKeys('namespace', namespace).join()}`);

// An informer's indexer: declared indexes work without parsing an object, functions receive the whole object.
await using informer = new SharedIndexInformer<Pod>(kubeConfig, resources.core.v1.pods, {
  namespace,
  labelSelector: 'app',
  indexers: {
    app: label('app'),
    node: field('spec.nodeName'),
    image: ({ object }) => object.spec?.containers.map(({ image = '' }) => image) ?? [],
  },
});
for (const [name, app] of Object.entries({ 'api-0': 'api', 'web-0': 'web', 'web-1': 'web' })) {
  await core.createNamespacedPod({ namespace, body: { metadata: { name, labels: { app } }, spec } });
}
void informer.run();
await informer.waitForSync();
const cached = informer.getIndexer();
console.log(`With app=web: ${cached.indexKeys('app', 'web').join()}`);
console.log(`On node-7: ${cached.byIndex('node', 'node-7').length}`);
console.log(`With pause: ${cached.byIndex('image', 'registry.k8s.io/pause:3.10').length}`);

for (const { name } of cached.list())
  await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
