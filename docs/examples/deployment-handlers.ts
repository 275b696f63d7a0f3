/**
 * Handlers of deployments. They receive changes of the spec, not of the status, and only of objects that pass a filter.
 * When an object ceases to pass, the handler receives a deletion.
 *
 * In client-go: cache.FilteringResourceEventHandler, cache.ResourceEventHandlerFuncs.
 */
import { AppsV1Api } from '@kubernetes/client-node';
import {
  FilteringResourceEventHandler,
  ResourceEventHandlerFuncs,
  SharedInformerFactory,
  deletedObject,
  loadKubeConfig,
} from 'kubeloom';
import type { WireOf } from 'kubeloom';

type Deployment = WireOf<'apps', 'v1', 'Deployment'>;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

const kubeConfig = loadKubeConfig();
const apps = kubeConfig.makeApiClient(AppsV1Api);
const namespace = 'default';

const factory = new SharedInformerFactory(kubeConfig, { namespace });
const { informer } = factory.apps.v1.deployments;

const handler = new ResourceEventHandlerFuncs<Deployment>({
  addFunc: ({ name, object }) => console.log(`Added: ${name} with ${object.spec?.replicas} replicas`),
  updateFunc(before, after) {
    // The generation counts changes of the spec. This handler ignores changes of the status.
    if (before.generation === after.generation) return;
    console.log(
      `Scaled: ${after.name} from ${before.object.spec?.replicas} to ${after.object.spec?.replicas}`,
    );
  },
  deleteFunc: (deleted) => console.log(`Deleted: ${deletedObject(deleted).name}`),
});
informer.addEventHandler(
  new FilteringResourceEventHandler({ filterFunc: ({ labels }) => 'team' in labels, handler }),
);

factory.start();
await factory.waitForCacheSync();

const patch = (name: string, op: string, path: string, value?: number): Promise<unknown> =>
  apps.patchNamespacedDeployment({ namespace, name, body: [{ op, path, value }] });

const labelsOf: Record<string, Record<string, string>> = {
  web: { team: 'a' },
  api: { team: 'b' },
  other: {},
};
for (const [name, labels] of Object.entries(labelsOf)) {
  const selector = { matchLabels: { app: name } };
  const containers = [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }];
  const template = { metadata: { labels: { app: name } }, spec: { containers } };
  await apps.createNamespacedDeployment({
    namespace,
    body: { metadata: { name, labels }, spec: { replicas: 1, selector, template } },
  });
}
await patch('web', 'replace', '/spec/replicas', 3);
await patch('api', 'remove', '/metadata/labels/team');
await apps.deleteNamespacedDeployment({ namespace, name: 'web' });
await patch('other', 'replace', '/spec/replicas', 2);

// The last write that the program waits for: the informer has received all earlier changes by then.
const { metadata } = await apps.readNamespacedDeployment({ namespace, name: 'other' });
await informer.waitForResourceVersion(metadata?.resourceVersion ?? '');
await factory.shutdown({ drain: true });
for (const name of ['api', 'other']) await apps.deleteNamespacedDeployment({ namespace, name });
