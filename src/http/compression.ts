/**
 * Chooses whether an informer asks for gzip: between machines far apart, where the link limits a list. Within a cluster the
 * CPU time of the server, which many clients share, is worth more than bytes.
 */
import { isLoopbackHost } from '../base/loopback.ts';
import { isServerConnection } from '../kube/server-source.ts';
import type { ServerSource } from '../kube/server-source.ts';

/** @param compression `auto`: for a server beyond this machine that a kubeconfig names, unless the process runs in a pod */
export function asksForGzip(
  source: ServerSource,
  compression: 'auto' | 'on' | 'off' = 'auto',
  { KUBERNETES_SERVICE_HOST: pod = '' }: NodeJS.ProcessEnv,
): boolean {
  if (compression !== 'auto') return compression === 'on';
  if (isServerConnection(source) || pod !== '') return false;
  const { server = '' } = source.getCurrentCluster() ?? {};
  const url = server.includes('://') ? server : `http://${server}`;
  return URL.canParse(url) && !isLoopbackHost(new URL(url).hostname);
}
