/**
 * From a KubeConfig to what a connection needs, on the main thread, before every request: this is where
 * tokens are refreshed. Only `applyToHTTPSOptions` is used, which client-node 1.4 and 2.x have alike.
 */
import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeloomError } from '../errors.ts';
import type { ConnectionOptions } from '../threads/protocol.ts';

/**
 * @throws ERR_KUBELOOM_KUBECONFIG when there is no usable current context, and what the credentials throw
 */
export async function connectionFor(kubeConfig: KubeConfig): Promise<ConnectionOptions> {
  const cluster = kubeConfig.getCurrentCluster();
  if (!cluster) throw noContext(kubeConfig);
  if (!cluster.server) throw kubeConfigError(`cluster ${cluster.name} has no server`);
  const isPlain = cluster.server.startsWith('http:');
  const options: RequestOptions = {};
  await applyCredentials(kubeConfig, options, isPlain);
  return {
    server: cluster.server.replace(/\/+$/, ''),
    headers: stringHeaders(options),
    ...(isPlain ? {} : tlsOptions(options, cluster.skipTLSVerify === true, cluster.tlsServerName)),
  };
}

export interface KubeConfigSource {
  /** A kubeconfig file. Default: client-node's search ($KUBECONFIG, ~/.kube/config, in-cluster). */
  readonly path?: string;
  readonly context?: string;
}

/**
 * Loads a kubeconfig. What was asked for and cannot be used is an error that says why, never a default.
 *
 * @throws ERR_KUBELOOM_KUBECONFIG
 */
export function loadKubeConfig({ path, context }: KubeConfigSource = {}): KubeConfig {
  const kubeConfig = new KubeConfig();
  const wanted = path ?? missingDefault();
  try {
    if (wanted) kubeConfig.loadFromFile(wanted);
    else kubeConfig.loadFromDefault();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw kubeConfigError(`${wanted ?? 'the default kubeconfig'} cannot be read: ${reason}`, cause);
  }
  if (context !== undefined) {
    if (!kubeConfig.getContextObject(context)) {
      const known = kubeConfig.getContexts().map(({ name }) => name);
      throw kubeConfigError(`there is no context ${context}; there are: ${known.join(', ') || 'none'}`);
    }
    kubeConfig.setCurrentContext(context);
  }
  if (!kubeConfig.getCurrentCluster()) throw noContext(kubeConfig);
  return kubeConfig;
}

/** $KUBECONFIG that names one missing file: client-node would fall back to localhost in silence. */
function missingDefault(): string | undefined {
  const path = process.env['KUBECONFIG'];
  return path && !path.includes(':') && !existsSync(path) ? path : undefined;
}

/** client-node refuses plain HTTP unless verification is off, and nothing is verified there anyway. */
async function applyCredentials(
  kubeConfig: KubeConfig,
  options: RequestOptions,
  isPlain: boolean,
): Promise<void> {
  const copy = isPlain ? withoutVerification(kubeConfig) : kubeConfig;
  try {
    await copy.applyToHTTPSOptions(options);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KubeloomError('ERR_KUBELOOM_CREDENTIALS', `credentials could not be had: ${reason}`, { cause });
  }
}

function withoutVerification(kubeConfig: KubeConfig): KubeConfig {
  const copy = new KubeConfig();
  copy.loadFromOptions({
    clusters: kubeConfig.clusters.map((cluster) => ({ ...cluster, skipTLSVerify: true })),
    users: kubeConfig.users,
    contexts: kubeConfig.contexts,
    currentContext: kubeConfig.currentContext,
  });
  return copy;
}

type TlsOptions = Omit<ConnectionOptions, 'server' | 'headers'>;

/** Verification is decided by the kubeconfig alone, not by NODE_TLS_REJECT_UNAUTHORIZED. */
function tlsOptions(
  options: RequestOptions,
  isInsecure: boolean,
  serverName: string | undefined,
): TlsOptions {
  const tls: { -readonly [K in keyof TlsOptions]: TlsOptions[K] } = { rejectUnauthorized: !isInsecure };
  if (options.ca) tls.ca = pem(options.ca);
  if (options.cert) tls.cert = pem(options.cert);
  if (options.key) tls.key = pem(options.key);
  const name = serverName ?? options.servername;
  if (name) tls.servername = name;
  return tls;
}

function pem(value: unknown): string {
  if (Array.isArray(value)) return value.map(pem).join('\n');
  return Buffer.isBuffer(value) ? value.toString('utf8') : String(value);
}

function stringHeaders(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value !== undefined)
      headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : String(value);
  }
  if (options.auth) headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}

function noContext(kubeConfig: KubeConfig): KubeloomError {
  const context = kubeConfig.getCurrentContext();
  const detail = context ? `its context ${context} names no known cluster` : 'it has no current context';
  return kubeConfigError(`the kubeconfig cannot be used: ${detail}`);
}

function kubeConfigError(message: string, cause?: unknown): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_KUBECONFIG', message, cause === undefined ? {} : { cause });
}
