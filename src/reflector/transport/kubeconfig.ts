/**
 * Finds and loads a kubeconfig. An unusable file is an error with its reason. It is never replaced by the
 * next file, nor by client-node's silent http://localhost:8080.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { KubeloomError } from '../../base/errors.ts';
import { clientNode as installedClientNode } from '../../kube/client-node.ts';
import type { ClientNode } from '../../kube/client-node.ts';
import type { ServerConnection } from '../../kube/server-source.ts';
import { identityHeaders, identityOfFile } from './impersonation.ts';

export interface KubeConfigSource {
  /**
   * A kubeconfig file. Default: those files of $KUBECONFIG that exist (kubectl's rule), then ~/.kube/config,
   * then the pod's service account.
   */
  readonly path?: string;
  /** Default: the file's current context. */
  readonly context?: string;
  /**
   * The result of `await import('@kubernetes/client-node')`. Default: the installed one, loaded with
   * `require()`, which does not work in jest or in a bundle that contains client-node.
   */
  readonly clientNode?: ClientNode;
}

/** Far above any real kubeconfig. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

function kubeConfigError(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_KUBECONFIG', message);
}

/**
 * Loads a kubeconfig.
 *
 * @throws ERR_KUBELOOM_KUBECONFIG, ERR_KUBELOOM_CLIENT_NODE
 */
export function loadKubeConfig({
  path,
  context,
  clientNode = installedClientNode(),
}: KubeConfigSource = {}): KubeConfig {
  const kubeConfig = path === undefined ? loadDefault(clientNode) : loadFile(path, clientNode);
  if (context !== undefined) useContext(kubeConfig, context);
  const { user } = currentTarget(kubeConfig);
  // An identity that cannot be sent is refused here, before the first request.
  identityHeaders(user);
  return kubeConfig;
}

function loadFile(path: string, clientNode: ClientNode): KubeConfig {
  requireFile(path, 'the kubeconfig');
  return loadFiles([path], clientNode);
}

function loadDefault(clientNode: ClientNode): KubeConfig {
  const listed = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return loadFiles(existingOf(listed), clientNode);
  const inHome = join(homedir(), '.kube', 'config');
  if (existsSync(inHome)) return loadFile(inHome, clientNode);
  const kubeConfig = load('the default kubeconfig', clientNode, (target) => {
    target.loadFromDefault();
    requireTexts(target);
  });
  if (isFallback(kubeConfig)) {
    throw kubeConfigError(
      'no kubeconfig was found: $KUBECONFIG is not set, there is no ~/.kube/config and this process runs in no pod with a service account; give the path of a file',
    );
  }
  return kubeConfig;
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

/** @param files the most important first: of duplicate definitions the first one wins */
function loadFiles(files: readonly string[], clientNode: ClientNode): KubeConfig {
  const [first = '', ...others] = files;
  return load(files.join(delimiter), clientNode, (kubeConfig) => {
    kubeConfig.loadFromFile(first);
    for (const path of others) {
      const more = new clientNode.KubeConfig();
      more.loadFromFile(path);
      addMissing(kubeConfig, more);
    }
    requireTexts(kubeConfig);
    completeUsers(kubeConfig, files, clientNode);
  });
}

/** Merges by kubectl's rule; client-node refuses duplicate names and takes the last current context. */
function addMissing(kubeConfig: KubeConfig, more: KubeConfig): void {
  kubeConfig.clusters = united(kubeConfig.clusters, more.clusters);
  kubeConfig.users = united(kubeConfig.users, more.users);
  kubeConfig.contexts = united(kubeConfig.contexts, more.contexts);
  kubeConfig.currentContext ||= more.currentContext;
}

function united<Named extends { readonly name: string }>(
  known: readonly Named[],
  more: readonly Named[],
): Named[] {
  const names = new Set(known.map(({ name }) => name));
  return [...known, ...more.filter(({ name }) => !names.has(name))];
}

interface FileUser {
  readonly name?: unknown;
  readonly user?: { readonly tokenFile?: unknown; readonly exec?: { readonly command?: unknown } } | null;
}

/**
 * Adds the parts of the files' users that client-node omits: `tokenFile`, plugin paths relative to the file, and all of
 * the impersonated identity but its name.
 *
 * @param files the most important first; all of them are valid YAML
 */
function completeUsers(kubeConfig: KubeConfig, files: readonly string[], clientNode: ClientNode): void {
  const described = files.flatMap((file) => {
    const { users } = clientNode.loadYaml<{ users?: readonly FileUser[] | null }>(readFileSync(file, 'utf8'));
    return Array.isArray(users) ? users.map((entry: FileUser) => ({ ...entry, folder: dirname(file) })) : [];
  });
  kubeConfig.users = kubeConfig.users.map((known) => {
    const entry = described.find(({ name }) => name === known.name);
    if (!entry) return known;
    return { ...completed(known, entry.user, entry.folder), ...identityOfFile(entry.user ?? {}) };
  });
}

function completed(known: User, user: FileUser['user'], folder: string): User {
  const tokenFile = user?.tokenFile;
  const command = user?.exec?.command;
  if (typeof tokenFile === 'string' && tokenFile !== '') {
    // It wins over a token beside it (client-go's rule), which is an old copy.
    const { token: _token, ...others } = known;
    const config = { tokenFile: resolve(folder, tokenFile) };
    return { ...others, authProvider: { name: 'tokenFile', config } };
  }
  // A bare name is looked up in $PATH.
  if (typeof command !== 'string' || !/[\\/]/.test(command)) return known;
  return { ...known, exec: { ...known.exec, command: resolve(folder, command) } };
}

function load(what: string, clientNode: ClientNode, read: (kubeConfig: KubeConfig) => void): KubeConfig {
  const kubeConfig = new clientNode.KubeConfig();
  try {
    read(kubeConfig);
  } catch (error) {
    // Without the cause: a YAML error quotes the file, and with it tokens and keys.
    throw kubeConfigError(`${what} cannot be used: ${reasonOf(error)}`);
  }
  return kubeConfig;
}

/** Requires texts: in a list or a map, YAML aliases could expand to any length. */
function requireTexts({ clusters, users, contexts, currentContext }: KubeConfig): void {
  for (const entry of [...clusters, ...users, ...contexts, { 'current-context': currentContext }]) {
    for (const [member, value] of Object.entries(entry)) {
      if (typeof value !== 'object' || value === null || STRUCTURED.has(member)) continue;
      throw kubeConfigError(`its ${member} is a list or a map where a text belongs`);
    }
  }
}

const STRUCTURED = new Set(['authProvider', 'exec', 'impersonateGroups', 'impersonateExtra']);

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
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'YAMLException') return yamlReason(error);
  // client-node reads members of the value that an empty file parses to.
  if (error instanceof TypeError) return 'it is empty or no kubeconfig';
  return error.message;
}

function yamlReason(error: Error & { readonly reason?: unknown; readonly mark?: unknown }): string {
  const { reason, mark } = error;
  const line =
    typeof mark === 'object' && mark !== null && 'line' in mark ? Number(mark.line) + 1 : undefined;
  const where = line === undefined ? '' : ` (line ${line})`;
  // An alias or a tag may be a password that is not quoted.
  const what = typeof reason === 'string' ? reason.replace(/"[^"]*"|!?<[^>]*>/g, '…') : 'syntax error';
  return `it is not valid YAML: ${what}${where}`;
}

/** Returns whether this is the KubeConfig that client-node makes up when it finds none. */
function isFallback(kubeConfig: KubeConfig): boolean {
  const [cluster, ...others] = kubeConfig.clusters;
  return (
    others.length === 0 &&
    kubeConfig.getCurrentContext() === 'loaded-context' &&
    cluster?.name === 'cluster' &&
    cluster.server === 'http://localhost:8080'
  );
}

function useContext(kubeConfig: KubeConfig, context: string): void {
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
export function currentTarget(kubeConfig: KubeConfig): Target {
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
