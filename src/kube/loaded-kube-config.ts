/**
 * A kubeconfig that kubeloom has read: clusters, users and contexts as client-node's KubeConfig has them, without client-node,
 * whose models take a third of a second and 57 MB. Only `makeApiClient` and `toClientNode` load them.
 */
import { inspect } from 'node:util';
import { anArray, text, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { clientNode as installedClientNode } from './client-node.ts';
import type { ClientNode, Context, KubeConfig, User } from './client-node-types.ts';
import { hasOwnCredentials } from './confirm-usable.ts';
import type { KubeConfigCluster, KubeConfigUser } from './confirm-usable.ts';
import { pluginPolicyOf, restrictCredentialPlugins } from './plugin-policy.ts';

/** A kubeconfig as data; threads and processes can send it to each other. */
export interface KubeConfigData {
  /** Clusters, whose names the contexts use. */
  clusters: KubeConfigCluster[];
  /** Users, whose names the contexts use. They hold the credentials. */
  users: KubeConfigUser[];
  /** Pairs of a cluster and a user, with names. */
  contexts: Context[];
  /** Name of the context in use; '' if none is set. */
  currentContext: string;
}

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

const MEMBERS: OptionChecks<KubeConfigData> = {
  clusters: anArray,
  users: anArray,
  contexts: anArray,
  currentContext: text,
};

/** Clusters, users and contexts, and the context in use: what `loadKubeConfig` returns. */
export class LoadedKubeConfig implements Pick<KubeConfig, Shared> {
  /** Clusters, whose names the contexts use. */
  clusters: KubeConfigCluster[];
  /** Users, whose names the contexts use. They hold the credentials. */
  users: KubeConfigUser[];
  /** Pairs of a cluster and a user, with names. */
  contexts: Context[];
  /** Name of the context in use; '' if none is set. */
  currentContext: string;
  /** Makes an API object of client-node: `makeApiClient(CoreV1Api)`. */
  readonly makeApiClient: KubeConfig['makeApiClient'] = (type) => this.toClientNode().makeApiClient(type);

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(data: KubeConfigData) {
    checkOptions('members of a kubeconfig', data, MEMBERS);
    const { clusters, users, contexts, currentContext } = data;
    this.clusters = clusters;
    this.users = users;
    this.contexts = contexts;
    this.currentContext = currentContext;
  }

  /** Returns `clusters`, without a copy. */
  getClusters(): KubeConfigCluster[] {
    return this.clusters;
  }

  /** Returns `users`, without a copy: they hold the credentials. */
  getUsers(): KubeConfigUser[] {
    return this.users;
  }

  /** Returns `contexts`, without a copy. */
  getContexts(): Context[] {
    return this.contexts;
  }

  /** Returns the name of the context in use. */
  getCurrentContext(): string {
    return this.currentContext;
  }

  /** Sets the name of the context in use, without a check that the context exists. */
  setCurrentContext(context: string): void {
    this.currentContext = context;
  }

  /** Returns the first context with this name; null if there is none. */
  getContextObject(name: string): Context | null {
    return named(this.contexts, name);
  }

  /** Returns the first cluster with this name; null if there is none. */
  getCluster(name: string): KubeConfigCluster | null {
    return named(this.clusters, name);
  }

  /** Returns the first user with this name; null if there is none. */
  getUser(name: string): KubeConfigUser | null {
    return named(this.users, name);
  }

  /** Returns the cluster of the context in use; null if context or cluster is missing. */
  getCurrentCluster(): KubeConfigCluster | null {
    return this.getCluster(this.getContextObject(this.currentContext)?.cluster ?? '');
  }

  /** Returns the user of the context in use; null if context or user is missing. */
  getCurrentUser(): KubeConfigUser | null {
    return this.getUser(this.getContextObject(this.currentContext)?.user ?? '');
  }

  /**
   * Returns the same as a KubeConfig of client-node.
   *
   * @param clientNode default: the installed package, loaded with `require()`, which does not work in jest or in a bundle that
   *   contains client-node
   * @throws ERR_KUBELOOM_CLIENT_NODE
   */
  toClientNode(clientNode: ClientNode = installedClientNode()): KubeConfig {
    const kubeConfig = new clientNode.KubeConfig();
    const { clusters, contexts, currentContext } = this;
    kubeConfig.loadFromOptions({
      clusters,
      users: this.users.map(clientNodesUser),
      contexts,
      currentContext,
    });
    restrictCredentialPlugins(kubeConfig, pluginPolicyOf(this));
    return kubeConfig;
  }

  /** Returns the names and servers only: what `JSON.stringify` writes contains no credentials. */
  toJSON(): object {
    const { contexts, currentContext } = this;
    return {
      currentContext,
      contexts,
      clusters: this.clusters.map(({ name, server }) => ({ name, server: shownServer(server) })),
      users: this.users.map(({ name }) => ({ name })),
    };
  }
}

Object.defineProperty(LoadedKubeConfig.prototype, inspect.custom, {
  value: function shown(this: LoadedKubeConfig): string {
    return `LoadedKubeConfig ${inspect(this.toJSON(), { depth: 4 })}`;
  },
});

/** Returns the origin: the rest of a URL may contain a password. */
function shownServer(server: string): string {
  return URL.canParse(server) ? new URL(server).origin : '';
}

/**
 * Returns the user in client-node's words, which has a provider for token files. What kubeloom would not use is left out: a
 * plugin beside other credentials, and the programs and files of an auth-provider.
 */
function clientNodesUser(user: KubeConfigUser): User {
  const { tokenFile, token, authProvider, exec, ...others } = user;
  const { tokenFile: _tokenFile, exec: _exec, ...config } = authProvider?.config ?? {};
  const provider = authProvider ? { authProvider: { ...authProvider, config } } : {};
  return {
    ...others,
    ...(exec && !hasOwnCredentials(user) ? { exec } : {}),
    ...(tokenFile
      ? { authProvider: { name: 'tokenFile', config: { tokenFile } } }
      : { ...(token ? { token } : {}), ...provider }),
  };
}

function named<Named extends { readonly name: string }>(
  entries: readonly Named[],
  name: string,
): Named | null {
  return entries.find((entry) => entry.name === name) ?? null;
}
