/** The kubeconfig of a pod: the address in the environment, and the files of the service account. */
import { existsSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { KubeConfigData } from '../../kube/loaded-kube-config.ts';
import { readSmallFile } from './read-file.ts';

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** @returns undefined outside of a pod, and in a pod without a service account */
export function podKubeConfig(
  { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' }: NodeJS.ProcessEnv,
  folder: string = FOLDER,
): KubeConfigData | undefined {
  const tokenFile = join(folder, 'token');
  if (host === '' || port === '' || !existsSync(tokenFile)) return undefined;
  // Always with TLS, whatever the port is: the token must not go to the network in plain text.
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const namespaceFile = join(folder, 'namespace');
  const namespace = existsSync(namespaceFile)
    ? { namespace: readSmallFile(namespaceFile).toString('utf8').trim() }
    : {};
  return {
    clusters: [{ name: 'inCluster', server, caFile: join(folder, 'ca.crt'), skipTLSVerify: false }],
    users: [{ name: 'inClusterUser', tokenFile }],
    contexts: [{ name: 'inClusterContext', cluster: 'inCluster', user: 'inClusterUser', ...namespace }],
    currentContext: 'inClusterContext',
  };
}
