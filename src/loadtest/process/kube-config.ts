/** The kubeconfig of a process of the load test, which its parent sends as text. */
import type { KubeConfig } from '@kubernetes/client-node';
import { clientNode } from '../../kube/client-node.ts';

export function kubeConfigOf(text: string): KubeConfig {
  const kubeConfig = new (clientNode().KubeConfig)();
  kubeConfig.loadFromString(text);
  return kubeConfig;
}
