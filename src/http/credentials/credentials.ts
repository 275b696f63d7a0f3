/**
 * Turns a KubeConfig, or a connection given directly, into the connection of a request. It runs on the main
 * thread before every request, because tokens are renewed and rotated files are read here. Files (tokens,
 * certificates, keys, CA) are read each time; plugins run when needed (exec-credentials.ts). A file that
 * cannot be used leaves the last good content in use (last-good.ts).
 *
 * From client-node's KubeConfig, `Credentials` calls `applyToHTTPSOptions` alone, which exists in 1.4 and 2.x, for auth
 * providers and for authenticators that the caller added.
 */
import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig, User } from '../../kube/client-node-types.ts';
import { KubeloomError, firstLineOf } from '../../base/errors.ts';
import { isLoopbackHost } from '../../base/loopback.ts';
import { escapeControls } from '../../base/printable.ts';
import { hasCertificate, hasOwnCredentials } from '../../kube/confirm-usable.ts';
import type { KubeConfigUser, Target } from '../../kube/confirm-usable.ts';
import type { LoadedKubeConfig } from '../../kube/loaded-kube-config.ts';
import { pluginPolicyOf } from '../../kube/plugin-policy.ts';
import { assertServerSource, isServerConnection, targetOfConnection } from '../../kube/server-source.ts';
import type { AnyKubeConfig, ServerSource } from '../../kube/server-source.ts';
import type { ConnectionOptions } from '../../kube/connection-options.ts';
import { execCredential } from './exec-credentials.ts';
import type { ExecCredential, ExecPlugin } from './exec-credentials.ts';
import { identityHeaders } from './impersonation.ts';
import { currentTarget, isClientNodes } from './kubeconfig.ts';
import { LastGood } from './last-good.ts';
import { proxyFor } from '../proxy-choice.ts';
import { UnusableFile, readSmallFile } from './read-file.ts';
import { withoutEndingSlashes } from '../server-address.ts';

export { loadKubeConfig, type KubeConfigSource } from './kubeconfig.ts';

/** A service account's token is about 1 KiB; servers refuse headers above 1 MiB. */
const TOKEN_BYTES_MAX = 64 * 1024;

/** The credentials of a user of the kubeconfig, for an informer. */
export class Credentials {
  readonly #source: ServerSource;
  readonly #lastGood: LastGood;
  readonly #closing = new AbortController();
  #last: ConnectionOptions | undefined;

  /**
   * @param report called when a file cannot be used and the last good content stays in use
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
   * @param isUnauthorized the server refused the last credentials: a plugin should give others
   * @param signal aborts the wait
   */
  async connection(
    isUnauthorized: boolean,
    signal: AbortSignal = this.#closing.signal,
  ): Promise<ConnectionOptions> {
    const how = { signal, ...(isUnauthorized && this.#last ? { refused: this.#last } : {}) };
    this.#last = await this.#lastGood.of((hasGood) => connectionFor(this.#source, { ...how, hasGood }));
    return this.#last;
  }

  /** Ends the use of these credentials; terminates a plugin that no other informer waits for. */
  close(): void {
    this.#closing.abort();
  }
}

export interface ConnectionRequest {
  /** If a file cannot be read, the last good connection replaces it. */
  readonly hasGood?: boolean;
  /** The credentials that the server refused: the plugin that gave them runs again. */
  readonly refused?: ConnectionOptions;
  /** Aborts the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the connection.
 *
 * @throws ERR_KUBELOOM_KUBECONFIG when the current context does not lead to a usable server and user,
 *   ERR_KUBELOOM_CREDENTIALS when a file cannot be read or a plugin gives no token,
 *   ERR_KUBELOOM_PLUGIN_REFUSED, ERR_KUBELOOM_PLAIN_HTTP, ERR_KUBELOOM_PROXY
 */
export async function connectionFor(
  source: ServerSource,
  request: ConnectionRequest = {},
): Promise<ConnectionOptions> {
  const target = isServerConnection(source) ? targetOfConnection(source) : currentTarget(source);
  const { cluster, user } = target;
  const proxy = proxyFor(cluster.server, cluster.proxyUrl, process.env);
  try {
    const presented = await credentialsOf(target, source, request);
    requirePrivacy(target, presented, proxy);
    return {
      server: withoutEndingSlashes(cluster.server),
      ...tlsOptions(cluster, presented),
      headers: { ...presented.headers, ...identityHeaders(user) },
      ...(proxy === undefined ? {} : { proxy }),
    };
  } catch (cause) {
    if (cause instanceof KubeloomError && cause.code !== 'ERR_KUBELOOM_CREDENTIALS') throw cause;
    throw new KubeloomError(
      'ERR_KUBELOOM_CREDENTIALS',
      `the credentials of user ${user.name} for cluster ${cluster.name} cannot be obtained: ${firstLineOf(cause)}`,
      { cause },
    );
  }
}

/** Refuses to send credentials without TLS where other hosts can read and use them, and to leave out what needs TLS. */
function requirePrivacy(
  { user, cluster }: Target,
  { headers, cert }: Presented,
  proxy: string | undefined,
): void {
  if (isTls(cluster.server)) return;
  const hops = [cluster.server, ...(proxy === undefined ? [] : [proxy])];
  const isPrivate = hops.every((hop) => isLoopbackHost(new URL(hop).hostname));
  const refuse = (why: string): never => {
    throw new KubeloomError(
      'ERR_KUBELOOM_PLAIN_HTTP',
      `the credentials of user ${user.name} ${why}: use https, or a context without a user`,
    );
  };
  if (cert !== undefined)
    refuse(`for cluster ${cluster.name} are a certificate, which its http: server cannot ask for`);
  if (isPrivate || Object.keys(headers).length === 0) return;
  refuse(
    `would go to cluster ${cluster.name} in plain text, as its server is http: and the server or the proxy is not this machine`,
  );
}

/** The credentials that a request presents, except an impersonated identity. */
interface Presented {
  readonly headers: Record<string, string>;
  readonly cert?: string;
  readonly key?: string;
}

/** Decides the method once, in client-go's order; a certificate goes along with a token or a password. */
async function credentialsOf(
  target: Target,
  source: ServerSource,
  request: ConnectionRequest,
): Promise<Presented> {
  const { user } = target;
  requireKnownProvider(user, source);
  const pair = certificateOf(user);
  const token = tokenOf(user, request.hasGood ?? false);
  if (token !== undefined) return { headers: { authorization: bearer(token) }, ...pair };
  if (user.username) return { headers: { authorization: basic(user.username, user.password) }, ...pair };
  if (user.exec && !hasOwnCredentials(user)) return ofPlugin(target, source, request);
  if (
    user.authProvider ||
    (!isServerConnection(source) && isClientNodes(source) && !hasOwnCredentials(user))
  ) {
    return { ...pair, ...(await ofProvider(target, source as AnyKubeConfig)) };
  }
  return { headers: {}, ...pair };
}

async function ofPlugin(
  { cluster, user }: Target,
  source: ServerSource,
  { refused, signal = new AbortController().signal }: ConnectionRequest,
): Promise<Presented> {
  const isUnauthorized = (credential: ExecCredential): boolean => isSame(credential, refused);
  const policy = pluginPolicyOf(source);
  const { token, cert, key } = await execCredential(user.exec as ExecPlugin, {
    cluster,
    policy,
    signal,
    isUnauthorized,
  });
  return {
    headers: token === undefined ? {} : { authorization: bearer(token) },
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  };
}

function unusableProvider(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_CREDENTIALS', message);
}

/** The programs of `authenticators` are client-node's; other providers need the KubeConfig and `addAuthenticator`. */
function requireKnownProvider({ authProvider }: User, source: ServerSource): void {
  if (!authProvider) return;
  const { name } = authProvider;
  if (name === 'azure' || name === 'gcp') {
    // client-node still supports them, but they run commands past the plugin policy.
    throw unusableProvider(`the provider ${name} is gone from Kubernetes: use its exec plugin`);
  }
  if (name !== 'oidc' && !(!isServerConnection(source) && isClientNodes(source))) throw unknownProvider(name);
}

function unknownProvider(name: string): KubeloomError {
  return unusableProvider(
    `the provider ${name} is not known, or it gave none: use an exec plugin, or addAuthenticator`,
  );
}

/** Asks client-node, which also calls the authenticators that the caller added. */
async function ofProvider({ cluster, user }: Target, source: AnyKubeConfig): Promise<Presented> {
  const options: RequestOptions = {};
  await viewOf(clientNodes(source), cluster, user).applyToHTTPSOptions(options);
  const headers = headersOf(options);
  const isGiven = headers['authorization'] !== undefined || options.cert !== undefined;
  if (user.authProvider && !isGiven) throw unknownProvider(user.authProvider.name);
  const { cert, key } = options;
  return { headers, ...(cert && key ? { cert: pem(cert), key: pem(key) } : {}) };
}

/** A token file takes precedence over a token, which is used until the file is readable for the first time. */
function tokenOf({ token, tokenFile }: KubeConfigUser, hasGood: boolean): string | undefined {
  if (!tokenFile) return token ? token.trim() : undefined;
  try {
    return readToken(tokenFile);
  } catch (error) {
    if (!token || hasGood) throw error;
    return token.trim();
  }
}

/** Reads a token; errors never quote it. */
function readToken(path: string): string {
  const token = readSmallFile(path, { bytesMax: TOKEN_BYTES_MAX }).toString('utf8').trim();
  if (token === '') throw new UnusableFile(`the token file ${path} is empty`);
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UnusableFile(`the token file ${path} holds no token`);
  return token;
}

function certificateOf(user: KubeConfigUser): Pick<Presented, 'cert' | 'key'> {
  if (!hasCertificate(user)) return {};
  const cert = contentOf(user.certData, user.certFile);
  const key = contentOf(user.keyData, user.keyFile);
  return cert === undefined || key === undefined ? {} : { cert, key };
}

function contentOf(data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  if (!file) return undefined;
  const content = readSmallFile(file).toString('utf8');
  if (content.trim() === '') throw new UnusableFile(`the file ${file} is empty`);
  return content;
}

function isSame({ token, cert }: ExecCredential, refused: ConnectionOptions | undefined): boolean {
  if (!refused) return false;
  const hasToken = token !== undefined && refused.headers['authorization'] === bearer(token);
  return hasToken || (cert !== undefined && refused.cert === cert);
}

/** client-node keeps renewed tokens, so it is made once. */
const converted = new WeakMap<LoadedKubeConfig, KubeConfig>();

function clientNodes(source: AnyKubeConfig): KubeConfig {
  if (isClientNodes(source)) return source;
  const known = converted.get(source) ?? source.toClientNode();
  converted.set(source, known);
  return known;
}

/** Returns the same KubeConfig for the authenticators only: files, certificates, the proxy and the identity are read here. */
function viewOf(kubeConfig: KubeConfig, { name, server }: Cluster, user: User): KubeConfig {
  const seen: User = { name: user.name, ...(user.authProvider ? { authProvider: user.authProvider } : {}) };
  // client-node refuses plain HTTP unless verification is off, and plain HTTP verifies no server.
  const cluster = { name, server, skipTLSVerify: !isTls(server) };
  const view: KubeConfig = Object.create(kubeConfig, {
    getCurrentCluster: { value: () => cluster },
    getCurrentUser: { value: () => seen },
  });
  return view;
}

function isTls(server: string): boolean {
  return new URL(server).protocol === 'https:';
}

function tlsOptions(
  cluster: Cluster,
  { cert, key }: Presented,
): Omit<ConnectionOptions, 'server' | 'headers'> {
  if (!isTls(cluster.server)) return {};
  if (cluster.skipTLSVerify === true) warnOfNoVerification(cluster);
  const ca = contentOf(cluster.caData, cluster.caFile);
  return {
    // Always set from the kubeconfig: NODE_TLS_REJECT_UNAUTHORIZED must not switch verification off.
    rejectUnauthorized: cluster.skipTLSVerify !== true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(cluster.tlsServerName ? { servername: cluster.tlsServerName } : {}),
  };
}

const warned = new Set<string>();

function warnOfNoVerification({ name, server }: Cluster): void {
  if (warned.has(server)) return;
  warned.add(server);
  process.emitWarning(
    escapeControls(
      `the server of cluster ${name} is not verified (insecure-skip-tls-verify in the kubeconfig): ` +
        'an attacker on the network can read and change all traffic, including credentials',
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

function basic(username: string, password = ''): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function headersOf({ headers = {}, auth }: RequestOptions): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value === null) continue;
    plain[name.toLowerCase()] = (Array.isArray(value) ? value.join(', ') : String(value)).trim();
  }
  if (auth) plain['authorization'] ??= `Basic ${Buffer.from(auth).toString('base64')}`;
  return plain;
}
