/**
 * A kubeconfig that kubeloom has read: clusters, users and contexts as client-node's KubeConfig has them, without client-node,
 * whose models take a third of a second and 57 MB. Only `makeApiClient` and `toClientNode` load them.
 */
import type { Cluster, Context, KubeConfig, User } from '@kubernetes/client-node';
import { clientNode as installedClientNode } from './client-node.ts';
import type { ClientNode } from './client-node.ts';

/** A kubeconfig as data; threads and processes can send it to each other. */
export type KubeConfigData = Pick<KubeConfig, 'clusters' | 'users' | 'contexts' | 'currentContext'>;

type Shared =
  | keyof KubeConfigData
  | 'getClusters'
  | 'getUsers'
  | 'getContexts'
  | 'getCurrentContext'
  | 'setCurrentContext'
  | 'getContextObject'
  | 'getCluster'
  | 'getUser'
  | 'getCurrentCluster'
  | 'getCurrentUser'
  | 'makeApiClient';

/** Clusters, users and contexts, and the context in use: what `loadKubeConfig` returns. */
export class LoadedKubeConfig implements Pick<KubeConfig, Shared> {
  clusters: Cluster[];
  users: User[];
  contexts: Context[];
  currentContext: string;
  /** Makes an API object of client-node: `makeApiClient(CoreV1Api)`. */
  readonly makeApiClient: KubeConfig['makeApiClient'] = (type) => this.toClientNode().makeApiClient(type);

  constructor({ clusters, users, contexts, currentContext }: KubeConfigData) {
    this.clusters = clusters;
    this.users = users;
    this.contexts = contexts;
    this.currentContext = currentContext;
  }

  getClusters(): Cluster[] {
    return this.clusters;
  }

  getUsers(): User[] {
    return this.users;
  }

  getContexts(): Context[] {
    return this.contexts;
  }

  getCurrentContext(): string {
    return this.currentContext;
  }

  setCurrentContext(context: string): void {
    this.currentContext = context;
  }

  getContextObject(name: string): Context | null {
    return named(this.contexts, name);
  }

  getCluster(name: string): Cluster | null {
    return named(this.clusters, name);
  }

  getUser(name: string): User | null {
    return named(this.users, name);
  }

  getCurrentCluster(): Cluster | null {
    return this.getCluster(this.getContextObject(this.currentContext)?.cluster ?? '');
  }

  getCurrentUser(): User | null {
    return this.getUser(this.getContextObject(this.currentContext)?.user ?? '');
  }

  /**
   * Returns the same as a KubeConfig of client-node.
   *
   * @param clientNode default: the installed one, loaded with `require()`, which does not work in jest or in a bundle that
   *   contains client-node
   * @throws ERR_KUBELOOM_CLIENT_NODE
   */
  toClientNode(clientNode: ClientNode = installedClientNode()): KubeConfig {
    const kubeConfig = new clientNode.KubeConfig();
    const { clusters, users, contexts, currentContext } = this;
    kubeConfig.loadFromOptions({ clusters, users, contexts, currentContext });
    return kubeConfig;
  }
}

function named<Named extends { readonly name: string }>(
  entries: readonly Named[],
  name: string,
): Named | null {
  return entries.find((entry) => entry.name === name) ?? null;
}
