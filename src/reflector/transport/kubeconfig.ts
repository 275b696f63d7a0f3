/**
 * Finds and loads a kubeconfig, without client-node. An unusable file is an error with its reason. It is never replaced
 * by the next file, nor by client-node's silent http://localhost:8080.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { YAMLException } from 'js-yaml';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import type { ClientNode } from '../../kube/client-node.ts';
import { LoadedKubeConfig } from '../../kube/loaded-kube-config.ts';
import type { KubeConfigData } from '../../kube/loaded-kube-config.ts';
import type { AnyKubeConfig, ServerConnection } from '../../kube/server-source.ts';
import { identityHeaders } from './impersonation.ts';
import { parseKubeConfig } from './kubeconfig-file.ts';
import { podKubeConfig } from './pod-kubeconfig.ts';

export interface KubeConfigSource {
  /**
   * A kubeconfig file. Default: those files of $KUBECONFIG that exist (kubectl's rule), then ~/.kube/config,
   * then the pod's service account.
   */
  readonly path?: string;
  /** Default: the file's current context. */
  readonly context?: string;
}

/** Far above any real kubeconfig. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

function kubeConfigError(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_KUBECONFIG', message);
}

/**
 * Loads a kubeconfig. client-node is needed only for its API objects (`makeApiClient`), and for users with the auth provider
 * `oidc`.
 *
 * @param source with `clientNode`, the result of `await import('@kubernetes/client-node')`, the result is a KubeConfig of it
 * @throws ERR_KUBELOOM_KUBECONFIG
 */
export function loadKubeConfig(source: KubeConfigSource & { readonly clientNode: ClientNode }): KubeConfig;
export function loadKubeConfig(source?: KubeConfigSource): LoadedKubeConfig;
export function loadKubeConfig({
  path,
  context,
  clientNode,
}: KubeConfigSource & { readonly clientNode?: ClientNode } = {}): AnyKubeConfig {
  const kubeConfig = new LoadedKubeConfig(path === undefined ? loadDefault() : loadFile(path));
  if (context !== undefined) useContext(kubeConfig, context);
  const { user } = currentTarget(kubeConfig);
  // An identity that cannot be sent is refused here, before the first request.
  identityHeaders(user);
  return clientNode === undefined ? kubeConfig : kubeConfig.toClientNode(clientNode);
}

function loadFile(path: string): KubeConfigData {
  requireFile(path, 'the kubeconfig');
  return loadFiles([path]);
}

function loadDefault(): KubeConfigData {
  const listed = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return loadFiles(existingOf(listed));
  const inHome = join(homedir(), '.kube', 'config');
  if (existsSync(inHome)) return loadFile(inHome);
  const inPod = podKubeConfig(process.env);
  if (inPod) return inPod;
  throw kubeConfigError(
    'no kubeconfig was found: $KUBECONFIG is not set, there is no ~/.kube/config and this process runs in no pod with a service account; give the path of a file',
  );
}

/** Returns the files of $KUBECONFIG that exist; kubectl ignores the others as well. */
function existingOf(listed: readonly string[]): readonly string[] {
  const existing = listed.filter((path) => existsSync(path));
  if (existing.length === 0) {
    const which = listed.length === 1 ? 'which does not exist' : 'none of which exists';
    throw kubeConfigError(`$KUBECONFIG names ${listed.join(', ')}, ${which}`);
  }
  for (const path of existing) requireFile(path, 'the kubeconfig that $KUBECONFIG names');
  return existing;
}

/** @param files the most important first: of duplicate definitions the first one counts, as for kubectl */
function loadFiles(files: readonly string[]): KubeConfigData {
  const loaded = files.map((file) => read(file, files.join(delimiter)));
  return {
    clusters: united(loaded.flatMap(({ clusters }) => clusters)),
    users: united(loaded.flatMap(({ users }) => users)),
    contexts: united(loaded.flatMap(({ contexts }) => contexts)),
    currentContext: loaded.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
  };
}

function united<Named extends { readonly name: string }>(entries: readonly Named[]): Named[] {
  // The last entry of a Map's key counts.
  return [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()].toReversed();
}

function read(file: string, what: string): KubeConfigData {
  try {
    return parseKubeConfig(readFileSync(file, 'utf8'), dirname(file));
  } catch (error) {
    // Without the cause: a YAML error quotes the file, and with it tokens and keys.
    throw kubeConfigError(`${what} cannot be used: ${reasonOf(error)}`);
  }
}

function requireFile(path: string, what: string): void {
  if (path === '') throw kubeConfigError(`${what} has an empty path: name a file`);
  if (!existsSync(path)) throw kubeConfigError(`${what} ${path} does not exist`);
  const file = statSync(path);
  if (file.isDirectory()) throw kubeConfigError(`${what} ${path} is a directory: name a file`);
  if (file.size > FILE_BYTES_MAX) {
    throw kubeConfigError(`${what} ${path} has ${file.size} bytes: too large for a kubeconfig`);
  }
  if (isUtf16(readFileSync(path))) throw kubeConfigError(`${what} ${path} is UTF-16: save it as UTF-8`);
}

/** Detects UTF-16 by its byte order mark, or by the zero byte of every second position. */
function isUtf16(bytes: Buffer): boolean {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  return mark === 0xfeff || mark === 0xfffe || bytes.subarray(0, 64).includes(0);
}

function reasonOf(error: unknown): string {
  if (error instanceof YAMLException) return yamlReason(error);
  return messageOf(error);
}

function yamlReason({ reason, mark }: YAMLException): string {
  const where = mark === undefined ? '' : ` (line ${mark.line + 1})`;
  // An alias or a tag may be a password that is not quoted.
  return `it is not valid YAML: ${reason.replace(/"[^"]*"|!?<[^>]*>/g, '…')}${where}`;
}

function useContext(kubeConfig: LoadedKubeConfig, context: string): void {
  const known = kubeConfig.getContexts().map(({ name }) => name);
  if (!known.includes(context)) {
    const list = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
    throw kubeConfigError(`the kubeconfig has no context ${quote(context)}: ${list}`);
  }
  kubeConfig.setCurrentContext(context);
}

export interface Target {
  readonly cluster: Cluster;
  readonly user: User;
}

/**
 * Returns the cluster and user of the current context.
 *
 * @throws ERR_KUBELOOM_KUBECONFIG when one of them is missing
 */
export function currentTarget(kubeConfig: AnyKubeConfig): Target {
  const context = kubeConfig.getCurrentContext();
  const entry = context ? kubeConfig.getContextObject(context) : null;
  const missing = (what: string): KubeloomError => kubeConfigError(`the kubeconfig has no ${what}`);
  if (!context) throw missing('current context: set one with kubectl config use-context');
  if (!entry) throw missing(`context ${quote(context)}, which it names as the current one`);
  const cluster = kubeConfig.getCluster(entry.cluster);
  if (!cluster) throw missing(`cluster ${quote(entry.cluster)} (context ${quote(context)})`);
  const user = entry.user ? kubeConfig.getUser(entry.user) : { name: '' };
  if (!user) throw missing(`user ${quote(entry.user)} (context ${quote(context)})`);
  requireServer(cluster);
  return { cluster, user };
}

/** Converts a directly given connection to a cluster and a user, so that the same rules hold for both. */
export function targetOfConnection(connection: ServerConnection): Target {
  const { server, proxyUrl, tokenFile } = connection;
  const provider =
    tokenFile === undefined ? {} : { authProvider: { name: 'tokenFile', config: { tokenFile } } };
  return {
    cluster: { name: new URL(server).host, server, skipTLSVerify: false, ...(proxyUrl ? { proxyUrl } : {}) },
    // Messages have the name in the place of a kubeconfig's user name.
    user: { name: 'of the given connection', ...provider },
  };
}

function requireServer(cluster: Cluster): void {
  const name = quote(cluster.name);
  if (!cluster.server) throw kubeConfigError(`cluster ${name} of the kubeconfig has no server`);
  const wrong = (why: string): KubeloomError => kubeConfigError(`the server of cluster ${name} ${why}`);
  // Not quoted: it may contain a password.
  if (!URL.canParse(cluster.server)) throw wrong('is no http or https URL');
  const { protocol, username, password } = new URL(cluster.server);
  if (protocol !== 'https:' && protocol !== 'http:') throw wrong(`is no http or https URL but ${protocol}`);
  if (username !== '' || password !== '') {
    throw wrong('has a user name or password in its URL: put them into the user of the context');
  }
}

function quote(name: unknown): string {
  if (typeof name === 'object' && name !== null) return 'that is no text';
  return JSON.stringify(name ?? '');
}
