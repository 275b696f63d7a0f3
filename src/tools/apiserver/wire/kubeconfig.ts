/**
 * The kubeconfig of an embedded server, as an object and as YAML for kubectl, and as a connection for informers without
 * client-node. client-node's `loadFromString` also accepts the object's JSON.
 */
import type { ServerConnection } from '../../../kube/server-source.ts';

/** A kubeconfig as client-node has it. */
export interface KubeConfigObject {
  /** Version of the format of kubeconfigs. */
  readonly apiVersion: 'v1';
  /** Kind of the document. */
  readonly kind: 'Config';
  /** Name of the context: `kubeloom-embedded`, also the name of the cluster and the user. */
  readonly 'current-context': string;
  /** Address of the server and the CA; without TLS, the mark that clients skip verification. */
  readonly clusters: readonly [
    { readonly name: string; readonly cluster: Readonly<Record<string, string | boolean>> },
  ];
  /** The bearer token; absent if the server requires no token. */
  readonly users: readonly [{ readonly name: string; readonly user: Readonly<Record<string, string>> }];
  /** The cluster with the user. */
  readonly contexts: readonly [
    { readonly name: string; readonly context: { readonly cluster: string; readonly user: string } },
  ];
}

export interface Endpoint {
  readonly url: string;
  readonly token: string;
  /** PEM, '' without TLS. */
  readonly ca: string;
}

/** The endpoint of a server that listens. */
export interface ServerEndpoint extends Endpoint {
  /** Token of the test itself, whose requests need no rights. */
  readonly adminToken: string;
}

const NAME = 'kubeloom-embedded';

export function kubeConfigOf({ url, token, ca }: Endpoint): KubeConfigObject {
  // client-node refuses plain HTTP unless verification is switched off.
  const trust =
    ca === ''
      ? { 'insecure-skip-tls-verify': true }
      : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': NAME,
    clusters: [{ name: NAME, cluster: { server: url, ...trust } }],
    users: [{ name: NAME, user: token === '' ? {} : { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
  };
}

export function connectionOf({ url, token, ca }: Endpoint): ServerConnection {
  return { server: url, ...(token === '' ? {} : { token }), ...(ca === '' ? {} : { ca }) };
}

/** Returns the kubeconfig in a readable layout, although JSON would also be valid YAML. */
export function kubeConfigYaml(config: KubeConfigObject): string {
  const [{ cluster }] = config.clusters;
  const [{ user }] = config.users;
  const lines = (members: Readonly<Record<string, string | boolean>>): string =>
    Object.entries(members)
      .map(([name, value]) => `\n    ${name}: ${JSON.stringify(value)}`)
      .join('') || ' {}';
  return `apiVersion: v1
kind: Config
current-context: ${NAME}
clusters:
- name: ${NAME}
  cluster:${lines(cluster)}
users:
- name: ${NAME}
  user:${lines(user)}
contexts:
- name: ${NAME}
  context:
    cluster: ${NAME}
    user: ${NAME}
`;
}
