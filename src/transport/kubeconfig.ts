/**
 * Finds and loads a kubeconfig. What was asked for and cannot be used is an error that says why: never the
 * next best file, never client-node's silent http://localhost:8080.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { KubeloomError } from '../errors.ts';
import { clientNode } from '../kube/client-node.ts';
import { completeUsers } from './kubeconfig-users.ts';

export interface KubeConfigSource {
  /** A kubeconfig file. Default: $KUBECONFIG, then ~/.kube/config, then the pod's service account. */
  readonly path?: string;
  /** Default: the file's current context. */
  readonly context?: string;
}

/** Far above any real kubeconfig. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

export function kubeConfigError(message: string, cause?: unknown): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_KUBECONFIG', message, cause === undefined ? {} : { cause });
}

/** @throws ERR_KUBELOOM_KUBECONFIG, ERR_KUBELOOM_CLIENT_NODE */
export function loadKubeConfig({ path, context }: KubeConfigSource = {}): KubeConfig {
  const kubeConfig = path === undefined ? loadDefault() : loadFile(path);
  if (context !== undefined) useContext(kubeConfig, context);
  currentTarget(kubeConfig);
  return kubeConfig;
}

function loadFile(path: string): KubeConfig {
  requireFile(path, 'the kubeconfig');
  return load(path, [path], (kubeConfig) => kubeConfig.loadFromFile(path));
}

function loadDefault(): KubeConfig {
  const listed = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  for (const path of listed) requireFile(path, 'the kubeconfig that $KUBECONFIG names');
  const inHome = join(homedir(), '.kube', 'config');
  const files = listed.length === 0 && existsSync(inHome) ? [inHome] : listed;
  if (listed.length === 0 && files.length > 0) requireFile(inHome, 'the kubeconfig');
  const kubeConfig = load(listed.join(delimiter) || 'the default kubeconfig', files, (target) =>
    target.loadFromDefault(),
  );
  if (isFallback(kubeConfig)) {
    throw kubeConfigError(
      'no kubeconfig was found: $KUBECONFIG is not set, there is no ~/.kube/config and this is no pod with a service account; name a file',
    );
  }
  return kubeConfig;
}

function load(what: string, files: readonly string[], read: (kubeConfig: KubeConfig) => void): KubeConfig {
  const kubeConfig = new (clientNode().KubeConfig)();
  try {
    read(kubeConfig);
    requireTexts(kubeConfig);
    completeUsers(kubeConfig, files);
  } catch (error) {
    // Without the cause: a YAML error quotes the file, and with it tokens and keys.
    throw kubeConfigError(`${what} cannot be used: ${reasonOf(error)}`);
  }
  return kubeConfig;
}

/** Where YAML has a list or a map instead, aliases can make it as long as they like when it is written out. */
function requireTexts({ clusters, users, contexts, currentContext }: KubeConfig): void {
  const named: readonly object[] = [
    ...clusters,
    ...users,
    ...contexts,
    { 'current-context': currentContext },
  ];
  for (const entry of named) {
    for (const [member, value] of Object.entries(entry)) {
      if (typeof value !== 'object' || value === null || STRUCTURED.has(member)) continue;
      throw kubeConfigError(`its ${member} is a list or a map where a text belongs`);
    }
  }
}

const STRUCTURED: ReadonlySet<string> = new Set([
  'authProvider',
  'exec',
  'impersonateGroups',
  'impersonateExtra',
]);

function requireFile(path: string, what: string): void {
  if (path === '') throw kubeConfigError(`${what} has an empty path: name a file`);
  if (!existsSync(path)) throw kubeConfigError(`${what} ${path} does not exist`);
  const file = statSync(path);
  if (file.isDirectory()) throw kubeConfigError(`${what} ${path} is a directory: name a file`);
  if (file.size > FILE_BYTES_MAX) {
    throw kubeConfigError(`${what} ${path} has ${file.size} bytes: that is no kubeconfig`);
  }
  if (isUtf16(readFileSync(path))) throw kubeConfigError(`${what} ${path} is UTF-16: save it as UTF-8`);
}

/** By its byte order mark, or by the zero bytes that every second letter has. */
function isUtf16(bytes: Buffer): boolean {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  return mark === 0xfeff || mark === 0xfffe || bytes.subarray(0, 64).includes(0);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'YAMLException') return yamlReason(error);
  // client-node reads members of what an empty file is parsed to.
  if (error instanceof TypeError) return 'it is empty or no kubeconfig';
  return error.message;
}

function yamlReason(error: Error & { readonly reason?: unknown; readonly mark?: unknown }): string {
  const { reason, mark } = error;
  const line =
    typeof mark === 'object' && mark !== null && 'line' in mark ? Number(mark.line) + 1 : undefined;
  const where = line === undefined ? '' : ` (line ${line})`;
  // An alias or a tag may be a password that somebody forgot to quote.
  const what = typeof reason === 'string' ? reason.replace(/"[^"]*"|!?<[^>]*>/g, '…') : 'syntax error';
  return `it is not valid YAML: ${what}${where}`;
}

/** What client-node makes up when it finds nothing. */
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

const NO_USER: User = { name: '' };

export interface Target {
  readonly cluster: Cluster;
  readonly user: User;
}

/**
 * What the current context names; every link of the chain must be there.
 *
 * @throws ERR_KUBELOOM_KUBECONFIG
 */
export function currentTarget(kubeConfig: KubeConfig): Target {
  const context = kubeConfig.getCurrentContext();
  const entry = context ? kubeConfig.getContextObject(context) : null;
  if (!entry) {
    throw kubeConfigError(
      context
        ? `the kubeconfig has no context ${quote(context)}, which it names as the current one`
        : 'the kubeconfig has no current context: set one with kubectl config use-context',
    );
  }
  const cluster = kubeConfig.getCluster(entry.cluster);
  if (!cluster)
    throw kubeConfigError(
      `the kubeconfig has no cluster ${quote(entry.cluster)} (context ${quote(context)})`,
    );
  const user = entry.user ? kubeConfig.getUser(entry.user) : NO_USER;
  if (!user)
    throw kubeConfigError(`the kubeconfig has no user ${quote(entry.user)} (context ${quote(context)})`);
  requireServer(cluster);
  return { cluster, user };
}

function requireServer(cluster: Cluster): void {
  const name = quote(cluster.name);
  if (!cluster.server) throw kubeConfigError(`cluster ${name} of the kubeconfig has no server`);
  // Not quoted: it may have a password.
  if (!URL.canParse(cluster.server)) {
    throw kubeConfigError(`the server of cluster ${name} is no http or https URL`);
  }
  const { protocol, username, password } = new URL(cluster.server);
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw kubeConfigError(`the server of cluster ${name} is no http or https URL but ${protocol}`);
  }
  if (username !== '' || password !== '') {
    throw kubeConfigError(
      `the server of cluster ${name} has a user name or password in its URL: put them into the user of the context`,
    );
  }
}

function quote(name: unknown): string {
  if (typeof name === 'object' && name !== null) return 'that is no text';
  return JSON.stringify(name ?? '');
}
