/**
 * Finds and loads a kubeconfig, without client-node. An unusable file is an error with the reason. It is never replaced
 * by the next file, nor by client-node's silent http://localhost:8080.
 */
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { YAMLException } from 'js-yaml';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { having, text, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import type { ClientNode, KubeConfig, User } from '../../kube/client-node-types.ts';
import { whyUnusable, withUrl } from '../../kube/confirm-usable.ts';
import type { KubeConfigUser, Target } from '../../kube/confirm-usable.ts';
import { LoadedKubeConfig } from '../../kube/loaded-kube-config.ts';
import type { KubeConfigData } from '../../kube/loaded-kube-config.ts';
import type { AnyKubeConfig } from '../../kube/server-source.ts';
import { identityHeaders } from './impersonation.ts';
import { parseKubeConfig } from './kubeconfig-file.ts';
import { UnusableKubeConfig } from './kubeconfig-shape.ts';
import { podKubeConfig } from './pod-kubeconfig.ts';
import { readSmallFile } from './read-file.ts';

export interface KubeConfigSource {
  /**
   * A kubeconfig file. Default: those files of $KUBECONFIG that exist (kubectl's rule), then ~/.kube/config,
   * then the pod's service account.
   */
  readonly path?: string;
  /** Default: the file's current context. */
  readonly context?: string;
}

const CHECKS: OptionChecks<KubeConfigSource & { readonly clientNode?: ClientNode }> = {
  path: text,
  context: text,
  clientNode: having('the module of client-node'),
};

function kubeConfigError(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_KUBECONFIG', message);
}

/**
 * Loads a kubeconfig. client-node is needed only for API objects (`makeApiClient`), and for users with the auth provider
 * `oidc`.
 *
 * @param source with `clientNode`, the result of `await import('@kubernetes/client-node')`, the result is a KubeConfig of it
 * @throws ERR_KUBELOOM_KUBECONFIG, ERR_KUBELOOM_OPTION
 */
export function loadKubeConfig(source: KubeConfigSource & { readonly clientNode: ClientNode }): KubeConfig;
/** Loads the kubeconfig from the options, `$KUBECONFIG`, the home folder, or the pod's service account. */
export function loadKubeConfig(source?: KubeConfigSource): LoadedKubeConfig;
/** Loads the kubeconfig from the options, `$KUBECONFIG`, the home folder, or the pod's service account. */
export function loadKubeConfig(
  source: KubeConfigSource & { readonly clientNode?: ClientNode } = {},
): AnyKubeConfig {
  checkOptions('options of loadKubeConfig', source, CHECKS);
  const { path, context, clientNode } = source;
  const { data, origin } = path === undefined ? loadDefault() : loadFile(path);
  const kubeConfig = new LoadedKubeConfig(data);
  if (context !== undefined) useContext(kubeConfig, context, origin);
  const { user } = currentTarget(kubeConfig, origin);
  // An identity that cannot be sent is refused here, before the first request.
  identityHeaders(user);
  return clientNode === undefined ? kubeConfig : kubeConfig.toClientNode(clientNode);
}

interface Loaded {
  readonly data: KubeConfigData;
  /** The kubeconfig in a message, with the files. */
  readonly origin: string;
}

function loadFile(path: string): Loaded {
  if (path === '') throw kubeConfigError('the kubeconfig has an empty path: name a file');
  const origin = `the kubeconfig ${path}`;
  const data = read(path, origin);
  if (data === undefined) throw kubeConfigError(`${origin} does not exist`);
  return { data, origin };
}

function loadDefault(): Loaded {
  const listed = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return loadListed(listed);
  const inHome = join(homedir(), '.kube', 'config');
  const data = read(inHome, `the kubeconfig ${inHome}`);
  const isEmpty = data === undefined || (data.contexts.length === 0 && data.currentContext === '');
  const inPod = isEmpty ? podKubeConfig(process.env) : undefined;
  if (inPod) return { data: inPod, origin: 'the kubeconfig of the pod' };
  if (data) return { data, origin: `the kubeconfig ${inHome}` };
  throw kubeConfigError(
    'no kubeconfig was found: $KUBECONFIG is not set, there is no ~/.kube/config and this process runs in no pod with a service account; give the path of a file',
  );
}

/** Merges the files of $KUBECONFIG that exist; kubectl ignores the others as well. */
function loadListed(listed: readonly string[]): Loaded {
  const loaded = listed.map((path) => read(path, `the kubeconfig ${path} that $KUBECONFIG names`));
  const existing = loaded.filter((data) => data !== undefined);
  if (existing.length === 0) {
    const which = listed.length === 1 ? 'which does not exist' : 'none of which exists';
    throw kubeConfigError(`$KUBECONFIG names ${listed.join(', ')}, ${which}`);
  }
  return { data: merged(existing), origin: `the kubeconfig ${listed.join(delimiter)}` };
}

/** @param files the most important first: of duplicate definitions the first counts, as for kubectl */
function merged(files: readonly KubeConfigData[]): KubeConfigData {
  return {
    clusters: united(files.flatMap(({ clusters }) => clusters)),
    users: united(files.flatMap(({ users }) => users)),
    contexts: united(files.flatMap(({ contexts }) => contexts)),
    currentContext: files.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
  };
}

function united<Named extends { readonly name: string }>(entries: readonly Named[]): Named[] {
  // The last entry of a Map's key counts.
  return [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()].toReversed();
}

/** @returns undefined when there is no such file */
function read(path: string, what: string): KubeConfigData | undefined {
  try {
    return parseKubeConfig(textOf(readSmallFile(path, { isPipeAllowed: true })), dirname(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    // Without the cause: a YAML error quotes the file, and with it tokens and keys.
    throw kubeConfigError(`${what} cannot be used: ${reasonOf(error)}`);
  }
}

/** Returns the text of UTF-8 or, with a byte order mark, of UTF-16, as Windows' shells write it. */
function textOf(bytes: Buffer): string {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  if (mark === 0xfffe || mark === 0xfeff) {
    return new TextDecoder(mark === 0xfffe ? 'utf-16le' : 'utf-16be').decode(bytes);
  }
  if (bytes.includes(0)) throw new UnusableKubeConfig('it is no text in UTF-8: save it as UTF-8');
  return bytes.toString('utf8');
}

/** A reason of the YAML parser may quote the file, so only the line is named. */
function reasonOf(error: unknown): string {
  if (!(error instanceof YAMLException)) return messageOf(error);
  const where = error.mark === undefined ? '' : ` (line ${error.mark.line + 1})`;
  return `it is not valid YAML${where}`;
}

function useContext(kubeConfig: LoadedKubeConfig, context: string, origin: string): void {
  const known = kubeConfig.getContexts().map(({ name }) => name);
  if (!known.includes(context)) {
    const list = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
    throw kubeConfigError(`${origin} has no context ${quote(context)}: ${list}`);
  }
  kubeConfig.setCurrentContext(context);
}

/**
 * Returns the cluster and user of the current context.
 *
 * @param origin the kubeconfig, for messages
 * @throws ERR_KUBELOOM_KUBECONFIG when a file is missing or unusable
 */
export function currentTarget(kubeConfig: AnyKubeConfig, origin = 'the kubeconfig'): Target {
  const context = kubeConfig.getCurrentContext();
  const entry = context ? kubeConfig.getContextObject(context) : null;
  const missing = (what: string): KubeloomError => kubeConfigError(`${origin} has no ${what}`);
  if (!context) throw missing('current context: set one with kubectl config use-context');
  if (!entry) throw missing(`context ${quote(context)}, which it names as the current one`);
  const cluster = kubeConfig.getCluster(entry.cluster);
  if (!cluster) throw missing(`cluster ${quote(entry.cluster)} (context ${quote(context)})`);
  const user = entry.user ? kubeConfig.getUser(entry.user) : { name: '' };
  if (!user) throw missing(`user ${quote(entry.user)} (context ${quote(context)})`);
  const target = withUrl({ cluster, user: isClientNodes(kubeConfig) ? ofClientNode(user) : user });
  const why = whyUnusable(target);
  if (why !== undefined) throw kubeConfigError(`${origin} cannot be used: ${why}`);
  return target;
}

export function isClientNodes(source: AnyKubeConfig): source is KubeConfig {
  return 'applyToHTTPSOptions' in source;
}

/** client-node offers a provider for token files, which `loadFromCluster` makes. */
function ofClientNode(user: User): KubeConfigUser {
  const { authProvider, ...others } = user;
  const tokenFile: unknown = authProvider?.config?.tokenFile;
  return authProvider?.name === 'tokenFile' && typeof tokenFile === 'string'
    ? { ...others, tokenFile }
    : user;
}

function quote(name: unknown): string {
  if (typeof name === 'object' && name !== null) return 'that is no text';
  // YAML folds a line that follows by mistake into a name: it may be the line of a password.
  if (typeof name === 'string' && /\s/.test(name)) return 'of several words';
  return JSON.stringify(name ?? '');
}
