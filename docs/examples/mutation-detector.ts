/**
 * Mutation detector: cached objects are shared by everybody, so nobody may write to them. Whoever does is found: at
 * once, because what informers give is frozen (outside of production), or by comparing with copies.
 *
 * In client-go: cache.NewCacheMutationDetector, KUBE_CACHE_MUTATION_DETECTOR=true.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { CacheMutationDetector, SharedIndexInformer, loadKubeConfig, resources } from 'kubeloom';
import type { MutationError, WireOf } from 'kubeloom';

type ConfigMap = WireOf<'core', 'v1', 'ConfigMap'>;

const kubeConfig = loadKubeConfig();
const core = kubeConfig.makeApiClient(CoreV1Api);
const namespace = 'default';
await core.createNamespacedConfigMap({
  namespace,
  body: { metadata: { name: 'demo' }, data: { color: 'red' } },
});

const mutations: MutationError[] = [];
const informer = new SharedIndexInformer<ConfigMap>(kubeConfig, resources.core.v1.configMaps, {
  namespace,
  fieldSelector: 'metadata.name=demo',
  mutationDetector: 'freeze',
  // Their stacks lead to the line that wrote. Without this they go to `onError`, or are warnings.
  onMutation: (mutation) => mutations.push(mutation),
});
const registration = informer.addEventHandler({
  onAdd({ object }) {
    // The types say it as well: all of it is read-only, unless somebody insists.
    const { data } = object as { data: Record<string, string> };
    data['color'] = 'blue';
  },
});
void informer.run();
await informer.waitForSync(undefined, registration);
const demo = informer.getStore().getByKey('default/demo');
const own = demo?.copy();
if (own) own.data = { color: 'green' };
console.log(`A copy may be ${own?.data?.['color']}, the original stays ${demo?.object.data?.['color']}`);
await informer.shutdown({ drain: true });
for (const { code, key } of mutations) console.log(`${code}: a handler wrote to ${key}`);

// By comparing, for what cannot be frozen. `run` does so once a second; here it is asked to.
const detector = new CacheMutationDetector({
  name: 'configmaps',
  failureFunc: ({ key, changes }) => console.log(`Mutated: ${key}, ${changes.join()}`),
});
const shared = { metadata: { namespace, name: 'demo' }, data: { color: 'red' } };
detector.addObject(shared);
detector.compareObjects();
console.log('Nothing was written yet');
shared.data.color = 'blue';
detector.compareObjects();

await core.deleteNamespacedConfigMap({ namespace, name: 'demo' });
