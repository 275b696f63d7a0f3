/** Reconciles one Deployment in a thread: it gets as many Pods as it asks for. */
import { pbkdf2Sync } from 'node:crypto';
import { loadKubeConfig, resources } from 'kubeloom';
import type { CachedObject, WireOf } from 'kubeloom';
import { ObjectClient, controllerReference } from 'kubeloom/controller';
import type { ThreadReconcile } from 'kubeloom/thread';

type Deployment = WireOf<'apps', 'v1', 'Deployment'>;
type Pod = WireOf<'core', 'v1', 'Pod'>;

const { deployments } = resources.apps.v1;
const { pods } = resources.core.v1;
const client = new ObjectClient(loadKubeConfig());

/** Computes which Pods are missing or superfluous. Stands for a decision that takes 20 ms of a core. */
export function plan(
  deployment: CachedObject<Deployment>,
  owned: readonly CachedObject<Pod>[],
): { readonly missing: readonly string[]; readonly superfluous: readonly CachedObject<Pod>[] } {
  pbkdf2Sync(deployment.key, 'a plan', 60_000, 64, 'sha256');
  const { replicas = 1 } = deployment.spec ?? {};
  const names = Array.from({ length: replicas }, (_, index) => `${deployment.name}-${index}`);
  return {
    missing: names.filter((name) => !owned.some((pod) => pod.name === name)),
    superfluous: owned.filter(({ name }) => !names.includes(name)),
  };
}

const reconcile: ThreadReconcile<{ deployments: Deployment; pods: Pod }> = async (key, { cache, signal }) => {
  // Queries are those of the main thread, and so are the objects: nothing was copied.
  const deployment = cache.informer('deployments').getIndexer().getByKey(key);
  if (!deployment) return;
  const informer = cache.informer('pods');
  const owned = informer.getIndexer().byIndex('owner', deployment.uid);
  const { missing, superfluous } = plan(deployment, owned);
  const { namespace, labels } = deployment;
  const ownerReferences = [controllerReference(deployments, deployment)];
  for (const pod of superfluous) await client.delete(pods, pod, { gracePeriodSeconds: 0, signal });
  for (const name of missing) {
    const metadata = { namespace, name, labels: { ...labels }, ownerReferences };
    const { spec } = deployment.spec?.template ?? {};
    const created = await client.create(pods, { metadata, ...(spec && { spec }) }, { signal });
    // The next reconciliation of the key sees the Pod, in whatever thread it is.
    await informer.waitForResourceVersion(created.metadata?.resourceVersion ?? '', { signal });
  }
};

export default reconcile;
