/**
 * A kubeconfig as data for another process. Its text would not do: client-node writes no more than the name of an
 * impersonated identity, and a request without its groups has other rights.
 */
import type { KubeConfigData } from '../../../kube/loaded-kube-config.ts';
import type { AnyKubeConfig } from '../../../kube/server-source.ts';

export function dataOf({ clusters, users, contexts, currentContext }: AnyKubeConfig): KubeConfigData {
  return { clusters, users, contexts, currentContext };
}
