/**
 * client-node's types around kubeconfigs. client-node is an optional package: the build makes the compiler ignore that it is missing
 * (test/package/declarations.ts), so that its types are `any`, and the types here take their place.
 */
import type * as clientNode from '@kubernetes/client-node';

/** `T` with client-node; `Else` without it. Compilers pass an unknown type on, except within a tuple. */
type Installed<T, Else> = [unknown] extends [T] ? Else : T;

export interface Cluster {
  readonly name: string;
  readonly server: string;
  readonly skipTLSVerify: boolean;
  readonly caData?: string;
  caFile?: string;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
}

export interface User {
  readonly name: string;
  readonly certData?: string;
  certFile?: string;
  readonly keyData?: string;
  keyFile?: string;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
  readonly impersonateUser?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- client-node's types
  readonly exec?: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- client-node's types
  readonly authProvider?: any;
}

export interface Context {
  readonly name: string;
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string;
}

/** A KubeConfig as far as it is used here. */
interface KubeConfigMembers {
  clusters: Cluster[];
  users: User[];
  contexts: Context[];
  currentContext: string;
  getClusters(): Cluster[];
  getUsers(): User[];
  getContexts(): Context[];
  getCurrentContext(): string;
  setCurrentContext(context: string): void;
  getContextObject(name: string): Context | null;
  getCluster(name: string): Cluster | null;
  getUser(name: string): User | null;
  getCurrentCluster(): Cluster | null;
  getCurrentUser(): User | null;
  makeApiClient<T>(apiClientType: new (configuration: never) => T): T;
}

export type KubeConfig = Installed<clientNode.KubeConfig, KubeConfigMembers>;
export type ClientNode = Installed<typeof clientNode, object>;
