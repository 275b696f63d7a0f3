/**
 * From a KubeConfig to what a connection needs, on the main thread and before every request, because this
 * is where tokens are renewed and rotated files are read. Files (tokens, certificates, keys, CA) are read
 * each time, plugins are run when it is time (exec-credentials.ts). A file that cannot be used leaves what it
 * held before in use (last-good.ts).
 *
 * Of KubeConfig only `applyToHTTPSOptions` is used, which client-node 1.4 and 2.x have alike; the agent that
 * it makes is not (it may hold certificates of yesterday), nor what it remembers of token files and plugins.
 */
import { readFileSync, statSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { KubeloomError, firstLineOf } from '../errors.ts';
import { isLoopbackHost } from '../loopback.ts';
import { escapeControls } from '../printable.ts';
import type { ConnectionOptions } from '../threads/protocol.ts';
import { execCredential, execPluginOf } from './exec-credentials.ts';
import type { ExecCredential } from './exec-credentials.ts';
import { currentTarget } from './kubeconfig.ts';
import { LastGood, UnusableFile } from './last-good.ts';
import { pluginPolicyOf } from './plugin-policy.ts';
import type { CredentialPluginPolicy } from './plugin-policy.ts';
import { proxyFor } from './proxy-choice.ts';

export { loadKubeConfig, type KubeConfigSource } from './kubeconfig.ts';

/** Of a service account about 1 KiB; headers above 1 MiB no server takes. */
const TOKEN_BYTES_MAX = 64 * 1024;

/** The credentials of one user of the kubeconfig, as one informer has used them. */
export class Credentials {
  readonly #kubeConfig: KubeConfig;
  readonly #lastGood: LastGood;
  readonly #closing = new AbortController();
  #last: ConnectionOptions | undefined;

  /** @param report told when a file cannot be used and what it held before goes on being used */
  constructor(kubeConfig: KubeConfig, report: (error: KubeloomError) => void = () => undefined) {
    this.#kubeConfig = kubeConfig;
    this.#lastGood = new LastGood(report);
  }

  /**
   * For the next request.
   *
   * @param isRefused the server has refused the last ones: they are not to be given once more if it can be helped
   * @param signal nobody waits any more
   */
  async connection(
    isRefused: boolean,
    signal: AbortSignal = this.#closing.signal,
  ): Promise<ConnectionOptions> {
    const how = { signal, ...(isRefused && this.#last ? { refused: this.#last } : {}) };
    this.#last = await this.#lastGood.of(() => connectionFor(this.#kubeConfig, how));
    return this.#last;
  }

  /** No more are wanted: a plugin that runs for nobody else is ended. */
  close(): void {
    this.#closing.abort();
  }
}

export interface ConnectionRequest {
  /** What the server did not accept: a plugin that gave it is run again. */
  readonly refused?: ConnectionOptions;
  /** Nobody waits any more. */
  readonly signal?: AbortSignal;
}

/**
 * @throws ERR_KUBELOOM_KUBECONFIG when the current context does not lead to a server,
 *   ERR_KUBELOOM_CREDENTIALS when a file cannot be read or a plugin gives no token,
 *   ERR_KUBELOOM_PLUGIN_REFUSED, ERR_KUBELOOM_PLAIN_HTTP, ERR_KUBELOOM_PROXY_UNSUPPORTED
 */
export async function connectionFor(
  kubeConfig: KubeConfig,
  request: ConnectionRequest = {},
): Promise<ConnectionOptions> {
  const { cluster, user } = currentTarget(kubeConfig);
  const proxy = proxyFor(cluster.server, cluster.proxyUrl, process.env);
  try {
    const own = await ownCredential(user, cluster, pluginPolicyOf(kubeConfig), request);
    const options: RequestOptions = {};
    await viewOf(kubeConfig, cluster, own ? withoutProviders(user) : user).applyToHTTPSOptions(options);
    const connection: ConnectionOptions = {
      server: cluster.server.replace(/\/+$/, ''),
      ...tlsOptions(cluster, own?.cert && own.key ? { ...options, cert: own.cert, key: own.key } : options),
      headers: headersOf(options, own?.token),
      ...(proxy === undefined ? {} : { proxy }),
    };
    requirePrivacy(connection, user, cluster);
    requireCredentials(connection, user);
    return connection;
  } catch (cause) {
    if (cause instanceof KubeloomError && cause.code !== 'ERR_KUBELOOM_CREDENTIALS') throw cause;
    throw new KubeloomError(
      'ERR_KUBELOOM_CREDENTIALS',
      `the credentials of user ${user.name} for cluster ${cluster.name} could not be had: ${firstLineOf(cause)}`,
      { cause },
    );
  }
}

/** What is sent without TLS, everybody on the way can read and use. */
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

const REMOVED_PROVIDERS: ReadonlySet<string> = new Set(['azure', 'gcp']);

function unusableProvider(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_CREDENTIALS', message);
}

/** client-node passes over a provider that it does not know, and asks without credentials. */
function requireCredentials({ headers, cert }: ConnectionOptions, { authProvider }: User): void {
  if (!authProvider || headers['authorization'] !== undefined || cert !== undefined) return;
  throw unusableProvider(
    `nobody knows the provider ${authProvider.name}, or it gave none: use an exec plugin, or addAuthenticator`,
  );
}

type OwnCredential = Omit<ExecCredential, 'expiresAt'>;

/** What is not left to client-node, because it remembers for too long or not at all. */
async function ownCredential(
  user: User,
  cluster: Cluster,
  policy: CredentialPluginPolicy,
  { refused, signal = new AbortController().signal }: ConnectionRequest,
): Promise<OwnCredential | undefined> {
  const provider = user.authProvider?.name ?? '';
  if (REMOVED_PROVIDERS.has(provider)) {
    // client-node still has them, and they run commands that no policy knows of.
    throw unusableProvider(`the provider ${provider} is gone from Kubernetes: use its exec plugin`);
  }
  const plugin = execPluginOf(user);
  // It goes before what the plugin would give, so nothing need run.
  if (plugin && user.token) return { token: user.token };
  if (plugin) {
    const isRefused = (credential: OwnCredential): boolean => isSame(credential, refused);
    return execCredential(plugin, { cluster, policy, signal, isRefused });
  }
  const tokenFile: unknown = user.authProvider?.config?.tokenFile;
  if (typeof tokenFile !== 'string') return undefined;
  return { token: readToken(tokenFile) };
}

/** Nothing of it is quoted. */
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

function withoutProviders(user: User): User {
  const { exec: _exec, authProvider: _authProvider, ...others } = user;
  return others;
}

/**
 * The same KubeConfig, seen without two of its quirks: it refuses plain HTTP unless verification is off
 * (there is nothing to verify), and it leaves the CA out when the context has no user.
 */
function viewOf(kubeConfig: KubeConfig, cluster: Cluster, user: User): KubeConfig {
  const isPlain = cluster.server.startsWith('http:');
  // The proxy is our own business, too: client-node would make an agent for it.
  const { proxyUrl: _proxyUrl, ...direct } = cluster;
  const seen = isPlain ? { ...direct, skipTLSVerify: true } : direct;
  const view: KubeConfig = Object.create(kubeConfig, {
    getCurrentCluster: { value: () => seen },
    getCurrentUser: { value: () => user },
  });
  return view;
}

type TlsOptions = Omit<ConnectionOptions, 'server' | 'headers'>;

function tlsOptions(cluster: Cluster, { ca, cert, key, servername }: RequestOptions): TlsOptions {
  if (cluster.server.startsWith('http:')) return {};
  if (cluster.skipTLSVerify === true) warnOfNoVerification(cluster);
  return {
    // Decided here and by the kubeconfig alone: NODE_TLS_REJECT_UNAUTHORIZED must not switch it off.
    rejectUnauthorized: cluster.skipTLSVerify !== true,
    // Even an empty one: the server is to be trusted for a CA that is there.
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

/** @param token counts where the user has none of its own */
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
