/**
 * Dynamic informer: works with any resource, by its group, version and name alone. Here it is a custom resource without
 * a model. First: kubectl apply -f docs/examples/foo-crd.yaml
 *
 * In client-go: dynamicinformer.NewFilteredDynamicSharedInformerFactory.
 */
import { CustomObjectsApi } from '@kubernetes/client-node';
import { DynamicSharedInformerFactory } from 'kubeloom/client-go';
import { loadKubeConfig } from 'kubeloom';

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const kubeConfig = loadKubeConfig();
const api = kubeConfig.makeApiClient(CustomObjectsApi);
const group = 'samplecontroller.example.com';
const foos = { group, version: 'v1alpha1', plural: 'foos', namespace: 'default' };

const factory = new DynamicSharedInformerFactory(kubeConfig, { namespace: 'default' });
const { informer, lister } = factory.forResource({ group, version: 'v1alpha1', resource: 'foos' });

informer.addEventHandler({
  // Members of an object have the type `unknown`: check them before use, or name the type with `forResource<Foo>`.
  onAdd: ({ name, object }) => console.log(`Added: ${name}, spec ${JSON.stringify(object['spec'])}`),
  onUpdate: ({ generation: before }, { name, generation: after }) => {
    console.log(`Updated: ${name}, generation ${before} to ${after}`);
  },
  onDelete: ({ name }) => console.log(`Deleted: ${name}`),
});

factory.start();
await factory.waitForCacheSync();
console.log(`Synced with ${lister.list().length}`);

const foo = {
  apiVersion: `${group}/v1alpha1`,
  kind: 'Foo',
  metadata: { name: 'demo' },
  spec: { deploymentName: 'demo', replicas: 1 },
};
await api.createNamespacedCustomObject({ ...foos, body: foo });
await api.patchNamespacedCustomObject({
  ...foos,
  name: 'demo',
  body: [{ op: 'replace', path: '/spec/replicas', value: 2 }],
});
await api.deleteNamespacedCustomObject({ ...foos, name: 'demo' });
const last = await api.createNamespacedCustomObject({
  ...foos,
  body: { ...foo, metadata: { name: 'other' } },
});

// The answer has the version that the cache has to reach; shutdown delivers everything received by then.
await informer.waitForResourceVersion(last.metadata.resourceVersion);
await factory.shutdown({ drain: true });
console.log(`In the cache: ${informer.getStore().listKeys().join()}`);
await api.deleteNamespacedCustomObject({ ...foos, name: 'other' });
