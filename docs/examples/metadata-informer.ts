/**
 * Metadata informer: receives and holds nothing but the metadata of objects. For programs that read labels, owners and
 * finalizers of very many objects.
 *
 * In client-go: metadatainformer.NewFilteredSharedInformerFactory.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { MetadataInformerFactory } from 'kubeloom/client-go';
import { loadKubeConfig } from 'kubeloom';

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';

const factory = new MetadataInformerFactory(kubeConfig, {
  namespace,
  tweakListOptions: (options) => ({ ...options, labelSelector: 'example=metadata' }),
});
const { informer, lister } = factory.forResource({ group: '', version: 'v1', resource: 'configmaps' });
informer.addEventHandler({
  onAdd: ({ name, metadata }) => console.log(`Added: ${name}, of ${metadata.annotations?.['owner']}`),
  onUpdate: (_before, { name, labels }) => console.log(`Updated: ${name}, tier ${labels['tier']}`),
});
factory.start();
await factory.waitForCacheSync();

const annotations = { owner: 'ernie' };
const data = { large: 'x'.repeat(100_000) };
const body = (tier: string) => ({
  metadata: { name: 'demo', labels: { example: 'metadata', tier }, annotations },
  data,
});
await core.createNamespacedConfigMap({ namespace, body: body('front') });
const written = await core.replaceNamespacedConfigMap({ namespace, name: 'demo', body: body('back') });
await informer.waitForResourceVersion(written.metadata?.resourceVersion ?? '');
await factory.shutdown({ drain: true });

const demo = lister.namespace(namespace).require('demo');
console.log(`It is a ${demo.object.kind} with ${Object.keys(demo.object).sort().join()}`);
console.log(`Kept: ${demo.bytes().length < 2000 ? 'less than 2 kB' : 'more than that'} of 100`);
console.log(
  `By label: ${lister
    .list('tier=back')
    .map(({ key }) => key)
    .join()}`,
);

await core.deleteNamespacedConfigMap({ namespace, name: 'demo' });
