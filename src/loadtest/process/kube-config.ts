/**
 * A kubeconfig as data for another process. Its text would not do: client-node writes no more than the name of an
 * impersonated identity, and a request without its groups has other rights.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { clientNode } from '../../kube/client-node.ts';

export type KubeConfigData = Pick<KubeConfig, 'clusters' | 'users' | 'contexts' | 'currentContext'>;

export function dataOf({ clusters, users, contexts, currentContext }: KubeConfig): KubeConfigData {
  return { clusters, users, contexts, currentContext };
}

export function kubeConfigOf(data: KubeConfigData): KubeConfig {
  const kubeConfig = new (clientNode().KubeConfig)();
  kubeConfig.loadFromOptions(data);
  return kubeConfig;
}
