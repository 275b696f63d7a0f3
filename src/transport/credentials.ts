/**
 * From a KubeConfig to what a connection needs, on the main thread and before every request, because this
 * is where client-node refreshes tokens and reads rotated certificates.
 *
 * Of KubeConfig only `applyToHTTPSOptions` is used, which client-node 1.4 and 2.x have alike; the agent that
 * it makes is not (it may hold certificates of yesterday).
 */
import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { KubeloomError } from '../errors.ts';
import type { ConnectionOptions } from '../threads/protocol.ts';
import { currentTarget } from './kubeconfig.ts';

export { loadKubeConfig, type KubeConfigSource } from './kubeconfig.ts';

/**
 * @throws ERR_KUBELOOM_KUBECONFIG when the current context does not lead to a server,
 *   ERR_KUBELOOM_CREDENTIALS when a file cannot be read or a plugin gives no token
 */
export async function connectionFor(kubeConfig: KubeConfig): Promise<ConnectionOptions> {
  const { cluster, user } = currentTarget(kubeConfig);
  const options = await httpsOptions(kubeConfig, cluster, user);
  return {
    server: cluster.server.replace(/\/+$/, ''),
    headers: headersOf(options),
    ...tlsOptions(cluster, options),
  };
}

async function httpsOptions(kubeConfig: KubeConfig, cluster: Cluster, user: User): Promise<RequestOptions> {
  const options: RequestOptions = {};
  try {
    await viewOf(kubeConfig, cluster, user).applyToHTTPSOptions(options);
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1);
    throw new KubeloomError(
      'ERR_KUBELOOM_CREDENTIALS',
      `the credentials of user ${user.name} for cluster ${cluster.name} could not be had: ${reason}`,
      { cause },
    );
  }
  return options;
}

/**
 * The same KubeConfig, seen without two of its quirks: it refuses plain HTTP unless verification is off
 * (there is nothing to verify), and it leaves the CA out when the context has no user.
 */
function viewOf(kubeConfig: KubeConfig, cluster: Cluster, user: User): KubeConfig {
  const isPlain = cluster.server.startsWith('http:');
  const seen = isPlain ? { ...cluster, skipTLSVerify: true } : cluster;
  const view: KubeConfig = Object.create(kubeConfig, {
    getCurrentCluster: { value: () => seen },
    getCurrentUser: { value: () => user },
  });
  return view;
}

type TlsOptions = Omit<ConnectionOptions, 'server' | 'headers'>;

function tlsOptions(cluster: Cluster, { ca, cert, key, servername }: RequestOptions): TlsOptions {
  if (cluster.server.startsWith('http:')) return {};
  return {
    // Decided here and by the kubeconfig alone: NODE_TLS_REJECT_UNAUTHORIZED must not switch it off.
    rejectUnauthorized: cluster.skipTLSVerify !== true,
    ...(ca ? { ca: pem(ca) } : {}),
    ...(cert ? { cert: pem(cert) } : {}),
    ...(key ? { key: pem(key) } : {}),
    ...(servername ? { servername } : {}),
  };
}

function pem(material: unknown): string {
  if (Array.isArray(material)) return material.map(pem).join('\n');
  return Buffer.isBuffer(material) ? material.toString('utf8') : String(material);
}

function headersOf({ headers = {}, auth }: RequestOptions): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value === null) continue;
    // Token files end with a line feed, which no header may contain.
    plain[name.toLowerCase()] = (Array.isArray(value) ? value.join(', ') : String(value)).trim();
  }
  if (auth) plain['authorization'] ??= `Basic ${Buffer.from(auth).toString('base64')}`;
  return plain;
}
