/**
 * The same program on client-node's informer or kubeloom's, with a scripted apiserver of its own. It records events as
 * lines: `add a`, `connect`, `error`.
 */
import type * as ClientNode from '@kubernetes/client-node';
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { ListWatch } from '../../../src/client-node/index.ts';
import type { InformerThreads } from '../../../src/index.ts';
import { World } from './world.ts';
import { until } from '../../kit/until.ts';

export type Clients = typeof ClientNode;

export interface StageOptions {
  readonly path?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Restarts after an error, as client-node's documentation says. Default: true. */
  readonly restarts?: boolean;
  readonly autoStart?: boolean;
  readonly kind?: string;
  readonly apiVersion?: string;
  /** Returns the function that lists. Default: that of the pods. */
  readonly listFn?: (
    kubeConfig: ClientNode.KubeConfig,
    clientNode: Clients,
  ) => () => Promise<ClientNode.KubernetesListObject<V1Pod>>;
}

type NewListWatch = new (
  path: string,
  watch: ClientNode.Watch,
  listFn: ClientNode.ListPromise<V1Pod>,
  autoStart: boolean,
  labelSelector: string | undefined,
  fieldSelector: string | undefined,
  options: object,
) => Pick<ListWatch<V1Pod>, keyof ListWatch<V1Pod>>;

/** One client: client-node 1 or 2, or kubeloom. */
export type Client = (options?: StageOptions) => Promise<Stage>;

const MARKER = 'marker';

/**
 * @param clientNode supplies everything but the informer, and the informer when there are no threads
 * @param threads those of kubeloom's informers
 */
export function clientOf(clientNode: Clients, threads?: InformerThreads): Client {
  return async (options = {}) => {
    const world = await World.start(options.kind, options.apiVersion);
    const kubeConfig = new clientNode.KubeConfig();
    kubeConfig.loadFromClusterAndUser(
      { name: 'world', server: world.url, skipTLSVerify: true },
      { name: 'user' },
    );
    return new Stage(world, clientNode, threads, kubeConfig, options);
  };
}

export class Stage implements AsyncDisposable {
  readonly world: World;
  readonly kubeConfig: ClientNode.KubeConfig;
  readonly isKubeloom: boolean;
  readonly informer: InstanceType<NewListWatch>;
  readonly lines: string[] = [];
  /** Objects of events, in their order. */
  readonly objects: V1Pod[] = [];
  readonly errors: unknown[] = [];
  readonly #waiters: (() => void)[] = [];
  #markers = 0;
  /** client-node reports an error when it is stopped: a restart would never end. */
  #isOver = false;

  constructor(
    world: World,
    clientNode: Clients,
    threads: InformerThreads | undefined,
    kubeConfig: ClientNode.KubeConfig,
    { path, labelSelector, fieldSelector, restarts = true, autoStart = false, listFn }: StageOptions,
  ) {
    const { ListWatch: Theirs, Watch, CoreV1Api } = clientNode;
    this.world = world;
    this.kubeConfig = kubeConfig;
    this.isKubeloom = threads !== undefined;
    const api = kubeConfig.makeApiClient(CoreV1Api);
    // The seventh argument of client-node 2: reconnects do not wait.
    const options = threads
      ? { threads, backoff: { initialMs: 1, maxMs: 1 } }
      : { delayFn: () => Promise.resolve() };
    // The constructors are the same but for the last argument, and the private members.
    const Informer = (threads ? ListWatch : Theirs) as unknown as NewListWatch;
    this.informer = new Informer(
      path ?? '/api/v1/pods',
      new Watch(kubeConfig),
      listFn?.(kubeConfig, clientNode) ?? (() => api.listPodForAllNamespaces()),
      autoStart,
      labelSelector,
      fieldSelector,
      options,
    );
    for (const verb of ['add', 'update', 'delete'] as const) {
      this.informer.on(verb, (object) => this.record(`${verb} ${object.metadata?.name}`, object));
    }
    this.informer.on('connect', () => this.record('connect'));
    this.informer.on('error', (error) => {
      this.errors.push(error);
      this.record('error');
      if (restarts) setImmediate(() => this.#isOver || void this.informer.start());
    });
  }

  record(line: string, object?: V1Pod): void {
    this.lines.push(line);
    if (object) this.objects.push(object);
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Resolves when the line was recorded this often. */
  async seen(line: string, times = 1): Promise<void> {
    while (this.lines.filter((each) => each === line).length < times) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Resolves when the condition holds. */
  until(isDone: () => boolean): Promise<void> {
    return until(isDone);
  }

  /** Resolves when all changes so far are delivered: those of a marker follow them, by a watch or a list. */
  async settled(): Promise<string[]> {
    const name = `${MARKER}-${++this.#markers}`;
    this.world.put(name);
    await this.seen(`add ${name}`);
    this.world.remove(name);
    await this.seen(`delete ${name}`);
    return this.lines.filter((line) => !line.includes(MARKER));
  }

  /** Names in the cache, of one namespace or of all. */
  names(namespace?: string): string[] {
    return this.informer.list(namespace).map(nameOf);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.informer.stop();
    await this.world[Symbol.asyncDispose]();
  }
}

export function nameOf({ metadata }: KubernetesObject): string {
  return metadata?.name ?? '';
}
