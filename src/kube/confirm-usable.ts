/**
 * The rules by which an identity and an address are usable: those of clientcmd, in the same order. They hold for kubeconfigs and for
 * connections that are given directly. What is given must be usable; nothing of it is omitted in silence, because a request
 * with less would run with other rights.
 */
import type { Cluster, User } from './client-node-types.ts';
import { isRecord } from './meta-shape.ts';

/** A cluster of a kubeconfig, with the member that client-node's model lacks. */
export interface KubeConfigCluster extends Cluster {
  /** The extension `client.authentication.k8s.io/exec`: settings of the cluster for plugins. */
  readonly execConfig?: unknown;
}

/** A user of a kubeconfig, with the member that client-node's model lacks. */
export interface KubeConfigUser extends User {
  /** The file of the token, read for every request. It takes precedence over `token`, which is used while it cannot be read. */
  readonly tokenFile?: string;
}

/** The cluster and the user of a context. */
export interface Target {
  readonly cluster: KubeConfigCluster;
  readonly user: KubeConfigUser;
}

export const EXEC_API_VERSION = 'client.authentication.k8s.io/v1';
/** The version whose plugins need no interactiveMode. */
const EXEC_API_BETA = 'client.authentication.k8s.io/v1beta1';
export const EXEC_API_VERSIONS: readonly string[] = [EXEC_API_VERSION, EXEC_API_BETA];
const INTERACTIVE_MODES: readonly unknown[] = ['Never', 'IfAvailable', 'Always'];

/** Returns what is wrong, or undefined. The text quotes no credential. */
type Rule<Subject> = (subject: Subject) => string | false | undefined;

const CLUSTER_RULES: readonly Rule<KubeConfigCluster>[] = [
  ({ server }) => !server && 'has no server',
  ({ server }) => !isHttpUrl(server) && 'has a server that is no http or https URL',
  ({ server }) => hasPassword(server) && 'has a user name or password in the URL of its server',
  ({ caData, caFile }) => caData && caFile && 'has certificate-authority-data and certificate-authority',
  ({ caData }) => caData && !isBase64(caData) && 'has certificate-authority-data that is no base64',
  ({ skipTLSVerify, caData, caFile }) =>
    skipTLSVerify && (caData || caFile) && 'has a CA and insecure-skip-tls-verify, which would ignore the CA',
];

const USER_RULES: readonly Rule<KubeConfigUser>[] = [
  ({ token, username, password }) =>
    token && (username || password) && 'has a token and a user name or password',
  ({ tokenFile, username, password }) =>
    tokenFile && (username || password) && 'has a tokenFile and a user name or password',
  ({ username, password }) => password && !username && 'has a password without a user name',
  ({ token }) => token && !isToken(token) && 'has a token with control characters, or without a visible one',
  ({ certData, certFile }) => certData && certFile && 'has client-certificate-data and client-certificate',
  (user) => hasCertificate(user) && user.keyData && user.keyFile && 'has client-key-data and client-key',
  (user) => hasCertificate(user) && !hasKey(user) && 'has a client certificate without a key',
  (user) => hasKey(user) && !hasMethod(user) && 'has a client key without a certificate',
  ({ certData, keyData }) =>
    [certData, keyData].some((data) => data && !isBase64(data)) &&
    'has a client certificate or key that is no base64',
  ({ exec, authProvider }) =>
    Boolean(exec) && Boolean(authProvider) && 'has a plugin (exec) and an auth-provider',
  ({ exec }) => (exec ? ruleOfPlugin(exec) : undefined),
  ({ authProvider }) =>
    [authProvider?.config?.exec, authProvider?.config?.tokenFile].some(Boolean) &&
    'has an auth-provider that names a program or a token file: kubectl has none, use exec or tokenFile',
];

const PLUGIN_RULES: readonly Rule<Readonly<Record<string, unknown>>>[] = [
  ({ command }) => !isText(command) && 'has no command',
  ({ apiVersion }) => !isText(apiVersion) && 'has no apiVersion',
  ({ env }) => !isList(env, isVariable) && 'has an env that is no list of names and values',
  ({ args }) => !isList(args, (arg) => typeof arg === 'string') && 'has args that are no list of texts',
  ({ apiVersion }) =>
    !EXEC_API_VERSIONS.includes(String(apiVersion)) &&
    `has another apiVersion than ${EXEC_API_VERSIONS.join(' and ')}, which kubeloom speaks`,
  ({ apiVersion, interactiveMode }) =>
    apiVersion !== EXEC_API_BETA &&
    !interactiveMode &&
    `has no interactiveMode, which ${EXEC_API_VERSION} needs`,
  ({ interactiveMode }) =>
    Boolean(interactiveMode) &&
    !INTERACTIVE_MODES.includes(interactiveMode) &&
    'has an unknown interactiveMode',
];

/** Returns the target with a URL of its server: as for kubectl, `host:port` is http, or https beside settings of TLS. */
export function withUrl({ cluster, user }: Target): Target {
  const { server, caData, caFile, skipTLSVerify } = cluster;
  if (!/^[^/?#]+\/?$/.test(server || '/')) return { cluster, user };
  const isTls = Boolean(caData || caFile || skipTLSVerify) || hasCertificate(user);
  return { cluster: { ...cluster, server: `${isTls ? 'https' : 'http'}://${server}` }, user };
}

/** Returns what makes the target unusable, with the name of the cluster or user; undefined when it is usable. */
export function whyUnusable({ cluster, user }: Target): string | undefined {
  const ofUser = broken(USER_RULES, user);
  if (ofUser !== undefined) return `user ${quote(user.name)} ${ofUser}`;
  const ofCluster = broken(CLUSTER_RULES, cluster);
  return ofCluster === undefined ? undefined : `cluster ${quote(cluster.name)} ${ofCluster}`;
}

function broken<Subject>(rules: readonly Rule<Subject>[], subject: Subject): string | undefined {
  for (const rule of rules) {
    const why = rule(subject);
    if (why) return why;
  }
  return undefined;
}

function ruleOfPlugin(exec: unknown): string | undefined {
  if (!isRecord(exec) || Array.isArray(exec)) return 'has an exec entry that is no map';
  const why = broken(PLUGIN_RULES, exec);
  if (why === undefined) return undefined;
  return `has a plugin ${isText(exec['command']) ? `${exec['command']} ` : ''}that ${why}`;
}

export function hasCertificate({ certData, certFile }: User): boolean {
  return Boolean(certData) || Boolean(certFile);
}

function hasKey({ keyData, keyFile }: User): boolean {
  return Boolean(keyData) || Boolean(keyFile);
}

/** Returns whether the user contains credentials: beside these a plugin does not run, as for client-go. */
export function hasOwnCredentials(user: KubeConfigUser): boolean {
  return [user.token, user.tokenFile, user.username].some(Boolean) || hasCertificate(user);
}

function hasMethod(user: KubeConfigUser): boolean {
  return [user.exec, user.authProvider].some(Boolean) || hasOwnCredentials(user);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isList(value: unknown, isEntry: (entry: unknown) => boolean): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.every(isEntry));
}

function isVariable(entry: unknown): boolean {
  return isRecord(entry) && isText(entry['name']) && typeof (entry['value'] ?? '') === 'string';
}

/** Returns whether a header can carry the token. */
export function isToken(token: unknown): token is string {
  return typeof token === 'string' && /^[\t\x20-\x7e]+$/.test(token) && token.trim() !== '';
}

/** Base64 of Go's StdEncoding, in which line ends do not count. */
export function isBase64(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  const letters = text.replaceAll(/[\r\n]/g, '');
  return letters.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(letters);
}

function isHttpUrl(server: string): boolean {
  if (/\s/.test(server) || !URL.canParse(server)) return false;
  return ['https:', 'http:'].includes(new URL(server).protocol);
}

function hasPassword(server: string): boolean {
  const { username, password } = new URL(server);
  return username !== '' || password !== '';
}

function quote(name: unknown): string {
  return typeof name === 'object' && name !== null ? 'without a name' : JSON.stringify(name ?? '');
}
