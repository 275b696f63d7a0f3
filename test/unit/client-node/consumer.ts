/** A program for client-node's informers. The compiler reads it as it is, and with the import of kubeloom/client-node. */
import * as k8s from '@kubernetes/client-node';

const show = (...values: readonly unknown[]): void => void values;
const kubeConfig = new k8s.KubeConfig();
kubeConfig.loadFromDefault();
const api = kubeConfig.makeApiClient(k8s.CoreV1Api);
const listFn = (): Promise<k8s.V1PodList> => api.listNamespacedPod({ namespace: 'web' });
const path = '/api/v1/namespaces/web/pods';

const informer: k8s.Informer<k8s.V1Pod> & k8s.ObjectCache<k8s.V1Pod> = k8s.makeInformer(
  kubeConfig,
  path,
  listFn,
  'app=web',
);
informer.on('add', (pod) => {
  const created: Date | undefined = pod.metadata?.creationTimestamp;
  const nodeName: string | undefined = pod.spec?.nodeName;
  show(created, nodeName);
});
const changed = (pod: k8s.V1Pod): void => show(pod.metadata?.name);
for (const verb of [k8s.ADD, k8s.UPDATE, k8s.DELETE, k8s.CHANGE] as const) informer.on(verb, changed);
informer.off(k8s.UPDATE, changed);
informer.on(k8s.CONNECT, () => show('connected'));
const onError: k8s.ErrorCallback = (error) => {
  show(error);
  setTimeout(() => void informer.start(), 5000);
};
informer.on(k8s.ERROR, onError);
informer.off('error', onError);
// @ts-expect-error: a pod has no replicas
informer.on('delete', (pod) => show(pod.spec?.replicas));
// @ts-expect-error: an unknown verb
informer.on('adds', changed);

const watching = new k8s.ListWatch<k8s.V1Pod>(
  path,
  new k8s.Watch(kubeConfig),
  listFn,
  false,
  'app=web',
  'a=b',
);
const cache: k8s.ObjectCache<k8s.V1Pod> = watching;
const found: k8s.V1Pod | undefined = cache.get('a', 'web');
const names: (string | undefined)[] = watching.list('web').map(({ metadata }) => metadata?.name);
const version: string = watching.latestResourceVersion();
await Promise.all([informer.start(), watching.start()]);
show(found, names, version);
await Promise.all([informer.stop(), watching.stop()]);
