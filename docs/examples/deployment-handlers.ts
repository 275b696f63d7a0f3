/**
 * Handlers of deployments: told of what people changed, not of what the cluster reported, and only for those that a
 * filter lets through. One that passes the filter no longer is deleted, as far as the handler knows.
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

const kubeConfig = loadKubeConfig();
const apps = kubeConfig.makeApiClient(AppsV1Api);
const namespace = 'default';

const factory = new SharedInformerFactory(kubeConfig, { namespace });
const { informer } = factory.apps.v1.deployments;

const handler = new ResourceEventHandlerFuncs<Deployment>({
  addFunc: ({ name, object }) => console.log(`Added: ${name} with ${object.spec?.replicas} replicas`),
  updateFunc(before, after) {
    // The generation counts changes of the spec. What has happened to the status is somebody else's business.
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

// The last write that anybody hears of: what came before it has been received by then.
const { metadata } = await apps.readNamespacedDeployment({ namespace, name: 'other' });
await informer.waitForResourceVersion(metadata?.resourceVersion ?? '');
await factory.shutdown({ drain: true });
for (const name of ['api', 'other']) await apps.deleteNamespacedDeployment({ namespace, name });
