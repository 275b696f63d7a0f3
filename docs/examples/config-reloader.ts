/**
 * Config reloader: pods read their environment once, so a Deployment has to be restarted when the ConfigMap of its
 * environment changes. This controller writes a hash of the data into the pod template, as `kubectl rollout restart` writes
 * a time. It serves Deployments with the label `reload`. Ends with Ctrl-C.
 *
 * In Go: controller-runtime's Watches with handler.EnqueueRequestsFromMapFunc.
 */
import { createHash } from 'node:crypto';
import { loadKubeConfig, resources } from 'kubeloom';
import type { WireOf } from 'kubeloom';
import { Manager, generationChanged } from 'kubeloom/controller';

type Deployment = WireOf<'apps', 'v1', 'Deployment'>;

const ANNOTATION = 'reloader.example.com/hash';
const { deployments } = resources.apps.v1;
const { configMaps } = resources.core.v1;

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

const manager = new Manager(loadKubeConfig(), {
  // The server selects: other Deployments are neither received nor kept.
  cache: { byKind: [{ of: deployments, labelSelector: 'reload' }] },
  onReady: () => console.log('Waiting for changes of ConfigMaps'),
});

manager
  .controllerFor(deployments, { predicate: generationChanged })
  // A change of a ConfigMap queues the Deployments that use it.
  .watches(configMaps, ({ namespace, name }, cache) => {
    const { items } = cache.list(deployments, { namespace });
    return items.filter(({ spec }) => configMapsOf(spec).includes(name)).map(({ key }) => key);
  })
  .reconcile(async (key, { cache, client, signal }) => {
    const deployment = cache.get(deployments, key);
    if (!deployment) return;
    const { namespace, spec } = deployment;
    const used = configMapsOf(spec).map((name) => cache.get(configMaps, { namespace, name }));
    // A missing ConfigMap may be about to be replaced: its creation queues the Deployment again.
    if (used.length === 0 || used.includes(undefined)) return;
    const data = used.map((configMap) => configMap?.member('data'));
    const hash = createHash('sha256').update(JSON.stringify(data)).digest('hex').slice(0, 8);

    // The hash is the whole memory of this controller: after a restart it does nothing twice.
    if (spec?.template.metadata?.annotations?.[ANNOTATION] === hash) return;
    const template = { metadata: { annotations: { [ANNOTATION]: hash } } };
    await client.patch(deployments, key, { spec: { template } }, { signal });
    console.log(`${key}: restarted with ${JSON.stringify(data)}`);
  });

/** Returns the names of the ConfigMaps that containers have as their environment. */
function configMapsOf(spec: Deployment['spec']): string[] {
  const sources = spec?.template.spec?.containers.flatMap(({ envFrom = [] }) => envFrom) ?? [];
  return sources.flatMap(({ configMapRef }) => configMapRef?.name ?? []);
}

await manager.run({ signal: stop.signal });
