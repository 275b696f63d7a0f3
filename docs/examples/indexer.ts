/**
 * Indexer: a store that also finds objects by what they say, without looking at all of them. By itself it holds what you
 * put in; an informer has one that follows the server.
 *
 * In client-go: cache.NewIndexer, SharedIndexInformer.GetIndexer.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import {
  SharedIndexInformer,
  field,
  label,
  loadKubeConfig,
  metaNamespaceIndexFunc,
  metaNamespaceKeyFunc,
  newIndexer,
  resources,
} from 'kubeloom';
import type { WireOf } from 'kubeloom';

type Pod = WireOf<'core', 'v1', 'Pod'>;

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';
const spec = { nodeName: 'node-7', containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }] };

// By itself: an object may be found under any number of values, or under none.
const byUser = (pod: Pod): string[] => pod.metadata?.annotations?.['users']?.split(',') ?? [];
const indexer = newIndexer<Pod>(metaNamespaceKeyFunc, { byUser, namespace: metaNamespaceIndexFunc });
indexer.add({ metadata: { namespace, name: 'one', annotations: { users: 'ernie,bert' } } });
indexer.add({ metadata: { namespace, name: 'two', annotations: { users: 'bert,oscar' } } });
indexer.add({ metadata: { namespace: 'other', name: 'tre', annotations: { users: 'ernie,elmo' } } });
console.log(`Users: ${indexer.listIndexFuncValues('byUser').sort().join()}`);
console.log(`Of ernie: ${indexer.indexKeys('byUser', 'ernie').join()}`);
console.log(`In default: ${indexer.indexKeys('namespace', namespace).join()}`);

// Of an informer: indexes that are declared are kept without parsing an object, functions see the whole of it.
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
