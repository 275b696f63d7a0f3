/**
 * An informer of client-node, used as client-node's README recommends: `makeInformer` with a list function of the API,
 * a handler for each kind of event, and a restart some seconds after an error. client-node does not wait for handlers,
 * so a handler cannot slow it.
 */
import type { KubeConfig, KubernetesListObject, KubernetesObject, ListWatch } from '@kubernetes/client-node';
import { realClock, realTimers } from '../../../base/clock.ts';
import type { Clock } from '../../../base/clock.ts';
import { KubeloomError, withCode } from '../../../base/errors.ts';
import { onAbort } from '../../../base/on-abort.ts';
import { clientNode } from '../../../kube/client-node.ts';
import { resourcePath } from '../../../kube/resource.ts';
import type { Mark, SyncResult } from '../result.ts';
import type { WatcherRun } from './informer-watcher.ts';
import { HandlerHistory, nowUs } from './recording-handler.ts';
import type { Notification, NotificationKind } from './recording-handler.ts';
import type { OpenSync, WatcherContext, WatcherTask } from './watcher.ts';

/** The README's delay. */
const RESTART_AFTER_MS = 5000;

type List = KubernetesListObject<KubernetesObject>;

export class ClientNodeRun implements WatcherRun {
  readonly handler = undefined;
  readonly syncs: OpenSync[];
  readonly marks: Mark[] = [];
  relistedAfter: number | undefined;
  cutWatches = 0;
  isCutOff = false;
  readonly #task: WatcherTask;
  readonly #startedUs: number;
  readonly #onError: (error: Error) => void;
  readonly #clock: Clock;
  readonly #informer: ListWatch<KubernetesObject>;
  readonly #history = new HandlerHistory();
  /** Key to version, as delivered to the handlers. */
  readonly #known = new Map<string, string>();
  #isSynced = false;
  #connects = 0;
  #revision = 0;
  #cancelRestart: () => void = () => undefined;

  /**
   * @throws ERR_KUBELOOM_CLIENT_NODE when client-node is not installed; ERR_KUBELOOM_LOADTEST for a server that
   *   client-node refuses
   */
  constructor(
    task: WatcherTask,
    { kubeConfig: given, startedUs, onError }: WatcherContext,
    cause: SyncResult['cause'],
    clock: Clock = realClock,
  ) {
    const { ListWatch: Informer, Watch } = clientNode();
    checkAllowed(given);
    const kubeConfig = 'toClientNode' in given ? given.toClientNode() : given;
    this.#task = task;
    this.#startedUs = startedUs;
    this.#onError = onError;
    this.#clock = clock;
    this.syncs = [{ mode: 'list', cause, startMs: this.#atMs(), durationMs: null, items: null, bytes: null }];
    const list = listFunction(task, kubeConfig);
    const path = resourcePath(task.resource, task.namespace);
    // The object that makeInformer returns; the type also contains the members of the cache.
    this.#informer = new Informer(path, new Watch(kubeConfig), () => this.#list(list), false, task.selector);
    this.#informer.on('add', (object) => this.#record(this.#isSynced ? 'ADDED' : 'INITIAL', object));
    this.#informer.on('update', (object) => this.#record('MODIFIED', object));
    this.#informer.on('delete', (object) => this.#record('DELETED', object));
    this.#informer.on('connect', () => this.#connecting());
    this.#informer.on('error', (error: unknown) => this.#failed(withCode(error)));
  }

  get changes(): number {
    return this.#history.changes;
  }

  get notifications(): Iterable<Notification> {
    return this.#history;
  }

  get state(): ReadonlyMap<string, string> | undefined {
    if (this.isCutOff) return undefined;
    return new Map(
      this.#informer.list().map((object) => [keyOf(object), object.metadata?.resourceVersion ?? '']),
    );
  }

  async sync(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const unlisten = onAbort(signal, () => reject(signal.reason));
      const finish = (): void => {
        unlisten();
        resolve();
      };
      const start = (): void => {
        this.#informer.start().then(() => {
          // The error reached the handler, which restarts the informer.
          if (this.syncs[0]?.durationMs === null)
            this.#cancelRestart = this.#clock.schedule(RESTART_AFTER_MS, start);
          else finish();
        }, reject);
      };
      start();
    });
    this.#isSynced = true;
  }

  hasReached(revision: number): boolean {
    return this.#revision >= revision;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isCutOff = true;
    this.#cancelRestart();
    await this.#informer.stop();
  }

  async #list(list: () => Promise<List>): Promise<List> {
    const isRelist = this.#isSynced;
    if (isRelist) {
      this.relistedAfter ??= this.#history.length;
      this.syncs.push({
        mode: 'list',
        cause: 'server',
        startMs: this.#atMs(),
        durationMs: null,
        items: null,
        bytes: null,
      });
      this.#mark('relist', 'server');
    }
    const answer = await list();
    const sync = this.syncs.at(-1);
    // client-node calls the handlers as soon as the answer arrives, before it requests the watch.
    realTimers.setImmediate(() => {
      this.#isSynced = true;
      this.#revision = Math.max(this.#revision, Number(answer.metadata?.resourceVersion ?? 0));
      if (!sync) return;
      sync.durationMs = this.#atMs() - sync.startMs;
      sync.items = answer.items.length;
    });
    return answer;
  }

  #record(kind: NotificationKind, object: KubernetesObject): void {
    const key = keyOf(object);
    const version = object.metadata?.resourceVersion ?? '';
    // A deletion that a list found carries no version.
    const isUnknown = kind === 'DELETED' && this.#known.get(key) === version;
    if (kind === 'DELETED') this.#known.delete(key);
    else this.#known.set(key, version);
    // client-node does not report the previous object.
    this.#history.record(isUnknown ? 'FINAL_STATE_UNKNOWN' : kind, key, version, 'unknown');
    if (!isUnknown) this.#revision = Math.max(this.#revision, Number(version));
  }

  /** Called before each list and before each watch that continues. */
  #connecting(): void {
    if (++this.#connects === 1) return;
    this.cutWatches++;
    this.#mark('cut', 'the watch ended');
  }

  #failed(error: Error): void {
    // The end of the run's own request.
    if (this.isCutOff) return;
    this.#onError(error);
    if (!this.#isSynced) return;
    this.#cancelRestart();
    this.#cancelRestart = this.#clock.schedule(RESTART_AFTER_MS, () => void this.#restart());
  }

  async #restart(): Promise<void> {
    try {
      await this.#informer.start();
    } catch (error) {
      this.#onError(withCode(error));
    }
  }

  #mark(type: Mark['type'], text: string): void {
    this.marks.push({ atMs: this.#atMs(), type, watcher: this.#task.name, text });
  }

  #atMs(): number {
    return (nowUs() - this.#startedUs) / 1000;
  }
}

/** client-node refuses each request to such a server, so the informer would restart every 5 s and never sync. */
function checkAllowed(kubeConfig: WatcherContext['kubeConfig']): void {
  const { server = '', skipTLSVerify = false } = kubeConfig.getCurrentCluster() ?? {};
  if (!server.startsWith('http:') || skipTLSVerify) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_LOADTEST',
    `client-node refuses ${server}, which is not encrypted: set insecure-skip-tls-verify: true for the cluster in the ` +
      'kubeconfig, or use another client',
  );
}

function keyOf({ metadata }: KubernetesObject): string {
  const { namespace = '', name = '' } = metadata ?? {};
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Returns the function of client-node's API that lists these objects. */
function listFunction(
  { group, resource, namespace, selector: labelSelector }: WatcherTask,
  kubeConfig: KubeConfig,
): () => Promise<List> {
  const { CoreV1Api, CoordinationV1Api, CustomObjectsApi } = clientNode();
  const everywhere = namespace === '';
  const options = { namespace, labelSelector };
  switch (group.of) {
    case 'ConfigMap': {
      const api = kubeConfig.makeApiClient(CoreV1Api);
      return () =>
        everywhere ? api.listConfigMapForAllNamespaces(options) : api.listNamespacedConfigMap(options);
    }
    case 'Pod': {
      const api = kubeConfig.makeApiClient(CoreV1Api);
      return () => (everywhere ? api.listPodForAllNamespaces(options) : api.listNamespacedPod(options));
    }
    case 'Lease': {
      const api = kubeConfig.makeApiClient(CoordinationV1Api);
      return () => (everywhere ? api.listLeaseForAllNamespaces(options) : api.listNamespacedLease(options));
    }
    default: {
      const api = kubeConfig.makeApiClient(CustomObjectsApi);
      const { group: apiGroup, version, resource: plural } = resource;
      const custom = { group: apiGroup, version, plural, ...options };
      // The API offers no type for custom resources.
      return async () =>
        (everywhere
          ? await api.listClusterCustomObject(custom)
          : await api.listNamespacedCustomObject(custom)) as List;
    }
  }
}
