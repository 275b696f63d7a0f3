/**
 * A kubeconfig as data for another process. The text of the kubeconfig would not work: client-node writes only the name
 * of an impersonated identity, and a request without the groups has different rights.
 */
import type { KubeConfigData } from '../../../kube/loaded-kube-config.ts';
import type { AnyKubeConfig } from '../../../kube/server-source.ts';

export function dataOf({ clusters, users, contexts, currentContext }: AnyKubeConfig): KubeConfigData {
  return { clusters, users, contexts, currentContext };
}
