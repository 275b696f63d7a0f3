/**
 * Several clusters: one program watches them all and answers across them. The informers share the threads of the process.
 * The arguments are kubeconfig files, one for each cluster:
 * node dist/docs/examples/multi-cluster.js east.kubeconfig west.kubeconfig
 *
 * In Go: a clientset and an informer factory for each cluster.
 */
import { basename } from 'node:path';
import { SharedInformerFactory, loadKubeConfig, resources } from 'kubeloom';
import type { WireOf } from 'kubeloom';
import { ObjectClient } from 'kubeloom/controller';

type Deployment = WireOf<'apps', 'v1', 'Deployment'>;

const namespace = 'default';
const { deployments } = resources.apps.v1;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

/** One cluster: its name, a client to write to it and an informer of its Deployments. */
function connect(path: string) {
  const kubeConfig = loadKubeConfig({ path });
  const factory = new SharedInformerFactory(kubeConfig, { namespace });
  const { informer } = factory.apps.v1.deployments;
  const indexer = informer.addIndexers({
    image: ({ object }) => object.spec?.template.spec?.containers.map(({ image = '' }) => image) ?? [],
  });
  return {
    name: basename(path, '.kubeconfig'),
    client: new ObjectClient(kubeConfig),
    factory,
    informer,
    indexer,
  };
}

const clusters = process.argv.slice(2).map(connect);

/** Returns the Deployments with this image. A key is unique in its cluster only, so the cluster's name is part of it. */
function running(image: string): string[] {
  return clusters.flatMap(({ name, indexer }) =>
    indexer.indexKeys('image', image).map((key) => `${name}/${key}`),
  );
}

// A cluster that is unreachable delays no other one: only this wait is for all of them.
await Promise.all(
  clusters.map(({ factory }) => {
    factory.start();
    return factory.waitForCacheSync();
  }),
);
console.log(`Synced with ${clusters.map(({ name }) => name).join(' and ')}`);

for (const { name, client, informer } of clusters) {
  const { metadata } = await client.create(deployments, deploymentOf(`web-${name}`, 'nginx:1.28'));
  // Versions are counted by each cluster for itself.
  await informer.waitForResourceVersion(metadata?.resourceVersion ?? '');
}
console.log(`nginx:1.28 is run by ${running('nginx:1.28').join(' and ')}`);

for (const { name, client, informer } of clusters.slice(1)) {
  const { metadata } = await client.update(deployments, deploymentOf(`web-${name}`, 'nginx:1.29'));
  await informer.waitForResourceVersion(metadata?.resourceVersion ?? '');
}
for (const image of ['nginx:1.28', 'nginx:1.29'])
  console.log(`${image} is run by ${running(image).join(' and ')}`);

await Promise.all(clusters.map(({ factory }) => factory.shutdown()));
for (const { name, client } of clusters) await client.delete(deployments, { namespace, name: `web-${name}` });

function deploymentOf(name: string, image: string): Deployment {
  const labels = { app: name };
  return {
    metadata: { namespace, name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } },
    },
  };
}
