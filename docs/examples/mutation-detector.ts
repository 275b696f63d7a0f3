/**
 * Mutation detector: all handlers and listers share cached objects, so no code may write to them. A write is detected
 * at once, because objects of informers are frozen (outside of production), or by a comparison with copies.
 *
 * In client-go: cache.NewCacheMutationDetector, KUBE_CACHE_MUTATION_DETECTOR=true.
 */
import { CoreV1Api } from '@kubernetes/client-node';
import { CacheMutationDetector } from 'kubeloom/client-go';
import { SharedIndexInformer, loadKubeConfig, resources } from 'kubeloom';
import type { MutationError } from 'kubeloom/client-go';
import type { WireOf } from 'kubeloom';

type ConfigMap = WireOf<'core', 'v1', 'ConfigMap'>;

// An early end leaves nothing half done.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

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
  debug: {
    mutationDetector: 'freeze',
    // The stack of each error leads to the line that wrote. Without this option they go to `onError`, or are warnings.
    onMutation: (mutation) => mutations.push(mutation),
  },
});
const registration = informer.addEventHandler({
  onAdd({ object }) {
    // The types forbid the write as well: all members are read-only without a cast.
    const { data } = object as { data: Record<string, string> };
    data['color'] = 'blue';
  },
});
void informer.run();
await informer.waitForSync({ registration });
const demo = informer.getStore().getByKey('default/demo');
const own = demo?.copy();
if (own) own.data = { color: 'green' };
console.log(`A copy may be ${own?.data?.['color']}, the original stays ${demo?.object.data?.['color']}`);
await informer.shutdown({ drain: true });
for (const { code, key } of mutations) console.log(`${code}: a handler wrote to ${key}`);

// The comparison, for objects that cannot be frozen. `run` compares once a second; here the program calls it.
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
