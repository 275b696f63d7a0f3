/** The kubeconfig of a pod: the address in its environment, and the files of its service account. */
import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { KubeConfigData } from '../../kube/loaded-kube-config.ts';

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Ports at which client-node and other clients expect a server without TLS. */
const PLAIN_PORTS: ReadonlySet<string> = new Set(['80', '8080', '8001']);

/** @returns undefined outside of a pod, and in a pod without a service account */
export function podKubeConfig(
  { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' }: NodeJS.ProcessEnv,
  folder: string = FOLDER,
): KubeConfigData | undefined {
  const tokenFile = join(folder, 'token');
  if (host === '' || port === '' || !existsSync(tokenFile)) return undefined;
  const scheme = PLAIN_PORTS.has(port) ? 'http' : 'https';
  const server = `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const namespaceFile = join(folder, 'namespace');
  const namespace = existsSync(namespaceFile)
    ? { namespace: readFileSync(namespaceFile, 'utf8').trim() }
    : {};
  return {
    clusters: [{ name: 'inCluster', server, caFile: join(folder, 'ca.crt'), skipTLSVerify: false }],
    users: [{ name: 'inClusterUser', authProvider: { name: 'tokenFile', config: { tokenFile } } }],
    contexts: [{ name: 'inClusterContext', cluster: 'inCluster', user: 'inClusterUser', ...namespace }],
    currentContext: 'inClusterContext',
  };
}
