/** The address of an apiserver and the credentials for it: a kubeconfig, or the same values directly. */
import { KubeloomError } from '../base/errors.ts';
import { whyUnusable, withUrl } from './confirm-usable.ts';
import type { Target } from './confirm-usable.ts';
import type { KubeConfig } from './client-node-types.ts';
import type { LoadedKubeConfig } from './loaded-kube-config.ts';

/** The connection to an apiserver, in the place of a KubeConfig. */
export interface ServerConnection {
  /** `https://10.0.0.1:6443` */
  readonly server: string;
  /** The authorities that the server's certificate is verified with, PEM. Default: the system's. */
  readonly ca?: string;
  /** Bearer token. ERR_KUBELOOM_OPTION together with `tokenFile`. */
  readonly token?: string;
  /** The file of the token, read for every request: a service account's is renewed. */
  readonly tokenFile?: string;
  /** The client's certificate, PEM. */
  readonly cert?: string;
  /** The key of the client's certificate, PEM. */
  readonly key?: string;
  /** The name that the server's certificate must have. Default: the name in the URL. */
  readonly tlsServerName?: string;
  /** Default: the proxy of the environment. */
  readonly proxyUrl?: string;
}

/** A kubeconfig of client-node or of kubeloom. */
export type AnyKubeConfig = KubeConfig | LoadedKubeConfig;
/** A kubeconfig, or the address and the credentials of an apiserver. */
export type ServerSource = AnyKubeConfig | ServerConnection;

const MEMBERS: ReadonlySet<string> = new Set([
  'server',
  'ca',
  'token',
  'tokenFile',
  'cert',
  'key',
  'tlsServerName',
  'proxyUrl',
] satisfies (keyof ServerConnection)[]);
const EXPECTED = 'a KubeConfig (loadKubeConfig gives one) or a connection { server, token, ca, … }';

/** Tells a connection apart from a KubeConfig. */
export function isServerConnection(source: ServerSource): source is ServerConnection {
  return !hasContexts(source);
}

/**
 * Refuses what is neither a KubeConfig nor a connection, and every member of a connection that is wrong or unknown.
 *
 * @throws ERR_KUBELOOM_OPTION, without a value of the source: it may be a secret
 */
export function assertServerSource(source: unknown): asserts source is ServerSource {
  if (typeof source !== 'object' || source === null)
    invalidSource(`it must be ${EXPECTED}, and is ${kindOf(source)}`);
  if (hasContexts(source)) return;
  if (!('server' in source)) {
    const members = Object.keys(source).join(', ') || 'no members';
    invalidSource(`it must be ${EXPECTED}, and is an object with ${members}`);
  }
  assertConnection(source);
}

/** Returns whether it is a KubeConfig: of client-node, of another copy of it, or of kubeloom. */
function hasContexts(source: object): source is AnyKubeConfig {
  return typeof Reflect.get(source, 'getCurrentContext') === 'function';
}

function assertConnection(connection: object): asserts connection is ServerConnection {
  const given = new Map<string, unknown>(
    Object.entries(connection).filter((entry: readonly [string, unknown]) => entry[1] !== undefined),
  );
  for (const [member, value] of given) {
    if (!MEMBERS.has(member)) {
      invalidSource(`a connection has no member ${member}; it may have ${[...MEMBERS].join(', ')}`);
    }
    if (typeof value !== 'string' || value === '')
      invalidSource(`${member} of the connection must be a text that is not empty`);
  }
  const target = targetOfConnection(connection as ServerConnection);
  const { server } = target.cluster;
  const url = new URL(URL.canParse(server) ? server : 'none:');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    invalidSource('server of the connection must be an http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    invalidSource('server of the connection must have no user name and no password in its URL');
  }
  if (given.has('token') && given.has('tokenFile'))
    invalidSource('a connection has a token or a tokenFile, not both');
  if (given.has('cert') !== given.has('key'))
    invalidSource('a connection has cert and key together, or neither');
  const why = whyUnusable(target);
  if (why !== undefined) invalidSource(why);
}

/** Converts a directly given connection to a cluster and a user, so that the same rules hold for both. */
export function targetOfConnection(connection: ServerConnection): Target {
  const { server, proxyUrl, tlsServerName, ca, cert, key, token, tokenFile } = connection;
  return withUrl({
    cluster: {
      name: server,
      server,
      skipTLSVerify: false,
      ...(proxyUrl ? { proxyUrl } : {}),
      ...(tlsServerName ? { tlsServerName } : {}),
      ...(ca === undefined ? {} : { caData: base64(ca) }),
    },
    user: {
      // Messages have the name in the place of a kubeconfig's user name.
      name: 'of the given connection',
      ...(token === undefined ? {} : { token }),
      ...(tokenFile === undefined ? {} : { tokenFile }),
      ...(cert === undefined ? {} : { certData: base64(cert) }),
      ...(key === undefined ? {} : { keyData: base64(key) }),
    },
  });
}

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}

function kindOf(value: unknown): string {
  return value === null || value === undefined ? String(value) : `a ${typeof value}`;
}

function invalidSource(why: string): never {
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `the source cannot be used: ${why}`);
}
