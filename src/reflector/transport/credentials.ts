/**
 * Turns a KubeConfig, or a connection given directly, into the connection of a request. It runs on the main
 * thread before every request, because tokens are renewed and rotated files are read here. Files (tokens,
 * certificates, keys, CA) are read each time; plugins run when needed (exec-credentials.ts). A file that
 * cannot be used leaves its last good content in use (last-good.ts).
 *
 * From client-node's KubeConfig, `Credentials` calls `applyToHTTPSOptions` alone, which exists in 1.4 and 2.x. It ignores the
 * agent in the result, whose certificates may be old, and client-node's caches of token files and plugins.
 */
import { readFileSync, statSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { KubeloomError, firstLineOf } from '../../base/errors.ts';
import { assertServerSource, isServerConnection } from '../../kube/server-source.ts';
import type { AnyKubeConfig, ServerConnection, ServerSource } from '../../kube/server-source.ts';
import type { LoadedKubeConfig } from '../../kube/loaded-kube-config.ts';
import { isLoopbackHost } from '../../base/loopback.ts';
import { escapeControls } from '../../base/printable.ts';
import type { ConnectionOptions } from '../../shared/protocol.ts';
import { execCredential, execPluginOf } from './exec-credentials.ts';
import type { ExecCredential } from './exec-credentials.ts';
import { identityHeaders, withoutIdentity } from './impersonation.ts';
import { currentTarget, targetOfConnection } from './kubeconfig.ts';
import { LastGood, UnusableFile } from './last-good.ts';
import { pluginPolicyOf } from './plugin-policy.ts';
import type { CredentialPluginPolicy } from './plugin-policy.ts';
import { proxyFor } from './proxy-choice.ts';

export { loadKubeConfig, type KubeConfigSource } from './kubeconfig.ts';

/** A service account's token is about 1 KiB; servers refuse headers above 1 MiB. */
const TOKEN_BYTES_MAX = 64 * 1024;

/** The credentials of one user of the kubeconfig, for one informer. */
export class Credentials {
  readonly #source: ServerSource;
  readonly #lastGood: LastGood;
  readonly #closing = new AbortController();
  #last: ConnectionOptions | undefined;

  /**
   * @param report called when a file cannot be used and its last good content stays in use
   * @throws ERR_KUBELOOM_OPTION when `source` is neither a KubeConfig nor a connection
   */
  constructor(source: ServerSource, report: (error: KubeloomError) => void = () => undefined) {
    assertServerSource(source);
    this.#source = source;
    this.#lastGood = new LastGood(report);
  }

  /**
   * Returns the connection for the next request.
   *
   * @param isUnauthorized the server has refused the last credentials: a plugin should give others
   * @param signal aborts the wait
   */
  async connection(
    isUnauthorized: boolean,
    signal: AbortSignal = this.#closing.signal,
  ): Promise<ConnectionOptions> {
    const how = { signal, ...(isUnauthorized && this.#last ? { refused: this.#last } : {}) };
    this.#last = await this.#lastGood.of(() => connectionFor(this.#source, how));
    return this.#last;
  }

  /** Ends the use of these credentials; terminates a plugin that no other informer waits for. */
  close(): void {
    this.#closing.abort();
  }
}

export interface ConnectionRequest {
  /** The credentials that the server refused: the plugin that gave them runs again. */
  readonly refused?: ConnectionOptions;
  /** Aborts the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the connection.
 *
 * @throws ERR_KUBELOOM_KUBECONFIG when the current context does not lead to a server,
 *   ERR_KUBELOOM_CREDENTIALS when a file cannot be read or a plugin gives no token,
 *   ERR_KUBELOOM_PLUGIN_REFUSED, ERR_KUBELOOM_PLAIN_HTTP, ERR_KUBELOOM_PROXY
 */
export async function connectionFor(
  source: ServerSource,
  request: ConnectionRequest = {},
): Promise<ConnectionOptions> {
  const { cluster, user } = isServerConnection(source) ? targetOfConnection(source) : currentTarget(source);
  const proxy = proxyFor(cluster.server, cluster.proxyUrl, process.env);
  try {
    const own = await ownCredential(user, cluster, pluginPolicyOf(source), request);
    const { exec: _exec, authProvider: _authProvider, ...withoutProviders } = user;
    const options = isServerConnection(source)
      ? optionsOfConnection(source)
      : await optionsOf(source, cluster, withoutIdentity(own ? withoutProviders : user));
    const connection: ConnectionOptions = {
      server: cluster.server.replace(/\/+$/, ''),
      ...tlsOptions(cluster, own?.cert && own.key ? { ...options, cert: own.cert, key: own.key } : options),
      headers: { ...headersOf(options, own?.token), ...identityHeaders(user) },
      ...(proxy === undefined ? {} : { proxy }),
    };
    requirePrivacy(connection, user, cluster);
    requireCredentials(connection, user);
    return connection;
  } catch (cause) {
    if (cause instanceof KubeloomError && cause.code !== 'ERR_KUBELOOM_CREDENTIALS') throw cause;
    throw new KubeloomError(
      'ERR_KUBELOOM_CREDENTIALS',
      `the credentials of user ${user.name} for cluster ${cluster.name} cannot be obtained: ${firstLineOf(cause)}`,
      { cause },
    );
  }
}

/** Refuses to send credentials without TLS, where every host on the path can read and use them. */
function requirePrivacy({ server, headers, proxy }: ConnectionOptions, user: User, cluster: Cluster): void {
  const first = new URL(proxy ?? server);
  const isPrivate = server.startsWith('https:') || isLoopbackHost(first.hostname);
  if (isPrivate || headers['authorization'] === undefined) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_PLAIN_HTTP',
    `the credentials of user ${user.name} would go to cluster ${cluster.name} in plain text, as its server is ` +
      'http: and not this machine: use https, or a context without a user',
  );
}

function unusableProvider(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_CREDENTIALS', message);
}

/** Refuses an unknown auth provider: client-node ignores it and sends no credentials. */
function requireCredentials({ headers, cert }: ConnectionOptions, { authProvider }: User): void {
  if (!authProvider || headers['authorization'] !== undefined || cert !== undefined) return;
  throw unusableProvider(
    `the provider ${authProvider.name} is not known, or it gave none: use an exec plugin, or addAuthenticator`,
  );
}

type OwnCredential = Omit<ExecCredential, 'expiresAt'>;

/** Resolves the credential that client-node caches too long or not at all. */
async function ownCredential(
  user: User,
  cluster: Cluster,
  policy: CredentialPluginPolicy,
  { refused, signal = new AbortController().signal }: ConnectionRequest,
): Promise<OwnCredential | undefined> {
  const provider = user.authProvider?.name ?? '';
  if (provider === 'azure' || provider === 'gcp') {
    // client-node still supports them, but they run commands past the plugin policy.
    throw unusableProvider(`the provider ${provider} is gone from Kubernetes: use its exec plugin`);
  }
  const plugin = execPluginOf(user);
  // The user's own token wins over the plugin, so the plugin need not run.
  if (plugin && user.token) return { token: user.token };
  if (plugin) {
    const isUnauthorized = (credential: OwnCredential): boolean => isSame(credential, refused);
    return execCredential(plugin, { cluster, policy, signal, isUnauthorized });
  }
  const tokenFile: unknown = user.authProvider?.config?.tokenFile;
  if (typeof tokenFile !== 'string') return undefined;
  return { token: readToken(tokenFile) };
}

/** Reads a token; errors never quote it. */
function readToken(path: string): string {
  const { size } = statSync(path);
  if (size > TOKEN_BYTES_MAX)
    throw new UnusableFile(`the token file ${path} has ${size} bytes: that is no token`);
  const token = readFileSync(path, 'utf8').trim();
  if (token === '') throw new UnusableFile(`the token file ${path} is empty`);
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UnusableFile(`the token file ${path} holds no token`);
  return token;
}

function isSame({ token, cert }: OwnCredential, refused: ConnectionOptions | undefined): boolean {
  if (!refused) return false;
  const hasToken = token !== undefined && refused.headers['authorization'] === bearer(token);
  return hasToken || (cert !== undefined && refused.cert === cert);
}

/** Returns what a KubeConfig would put into the options of a request. */
function optionsOfConnection({ ca, cert, key, tlsServerName, token }: ServerConnection): RequestOptions {
  const headers = token === undefined ? {} : { authorization: bearer(token) };
  return { ca, cert, key, servername: tlsServerName, headers };
}

/** Returns what the entries of a kubeconfig put into the options of a request. */
async function optionsOf(source: AnyKubeConfig, cluster: Cluster, user: User): Promise<RequestOptions> {
  if (!isClientNodes(source) && user.authProvider?.name !== 'oidc') return optionsOfEntries(cluster, user);
  const options: RequestOptions = {};
  await viewOf(clientNodes(source), cluster, user).applyToHTTPSOptions(options);
  return options;
}

/** Data wins over a file beside it: kubectl's rule. */
function optionsOfEntries(
  { caData, caFile, tlsServerName }: Cluster,
  { certData, certFile, keyData, keyFile, username, password = '', token }: User,
): RequestOptions {
  return {
    ca: contentOf(caData, caFile),
    cert: contentOf(certData, certFile),
    key: contentOf(keyData, keyFile),
    servername: tlsServerName,
    headers: token ? { authorization: bearer(token) } : {},
    ...(username ? { auth: `${username}:${password}` } : {}),
  };
}

function contentOf(data: string | undefined, file: string | undefined): Buffer | undefined {
  if (data) return Buffer.from(data, 'base64');
  return file ? readFileSync(file) : undefined;
}

/** client-node keeps tokens that it has renewed, so it is made once. */
const converted = new WeakMap<LoadedKubeConfig, KubeConfig>();

function isClientNodes(source: AnyKubeConfig): source is KubeConfig {
  return 'applyToHTTPSOptions' in source;
}

function clientNodes(source: AnyKubeConfig): KubeConfig {
  if (isClientNodes(source)) return source;
  const known = converted.get(source) ?? source.toClientNode();
  converted.set(source, known);
  return known;
}

/**
 * Returns the same KubeConfig without two quirks of client-node. It refuses plain HTTP unless verification
 * is off (there is nothing to verify), and it omits the CA when the context has no user.
 */
function viewOf(kubeConfig: KubeConfig, cluster: Cluster, user: User): KubeConfig {
  const isPlain = cluster.server.startsWith('http:');
  // The proxy is handled elsewhere; client-node would make an agent for it.
  const { proxyUrl: _proxyUrl, ...direct } = cluster;
  const seen = isPlain ? { ...direct, skipTLSVerify: true } : direct;
  const view: KubeConfig = Object.create(kubeConfig, {
    getCurrentCluster: { value: () => seen },
    getCurrentUser: { value: () => user },
  });
  return view;
}

function tlsOptions(
  cluster: Cluster,
  { ca, cert, key, servername }: RequestOptions,
): Omit<ConnectionOptions, 'server' | 'headers'> {
  if (cluster.server.startsWith('http:')) return {};
  if (cluster.skipTLSVerify === true) warnOfNoVerification(cluster);
  return {
    // Always set from the kubeconfig: NODE_TLS_REJECT_UNAUTHORIZED must not switch verification off.
    rejectUnauthorized: cluster.skipTLSVerify !== true,
    // Also an empty CA: replacing it by the default would trust every public CA.
    ...(ca === undefined || ca === null ? {} : { ca: pem(ca) }),
    ...(cert ? { cert: pem(cert) } : {}),
    ...(key ? { key: pem(key) } : {}),
    ...(servername ? { servername } : {}),
  };
}

const warned = new Set<string>();

function warnOfNoVerification({ name, server }: Cluster): void {
  if (warned.has(server)) return;
  warned.add(server);
  process.emitWarning(
    escapeControls(
      `nobody verifies who answers for cluster ${name} (insecure-skip-tls-verify in the kubeconfig): ` +
        'whoever is on the way can read and change everything, credentials included',
    ),
    { type: 'KubeloomWarning', code: 'ERR_KUBELOOM_TLS_UNVERIFIED' },
  );
}

function pem(material: unknown): string {
  if (Array.isArray(material)) return material.map(pem).join('\n');
  return Buffer.isBuffer(material) ? material.toString('utf8') : String(material);
}

function bearer(token: string): string {
  return `Bearer ${token}`;
}

/** @param token used when the user has none */
function headersOf({ headers = {}, auth }: RequestOptions, token?: string): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value === null) continue;
    // Token files end with a line feed, which no header may contain.
    plain[name.toLowerCase()] = (Array.isArray(value) ? value.join(', ') : String(value)).trim();
  }
  if (token !== undefined) plain['authorization'] ??= bearer(token);
  if (auth) plain['authorization'] ??= `Basic ${Buffer.from(auth).toString('base64')}`;
  return plain;
}
