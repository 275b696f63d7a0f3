/**
 * client-node's ListWatch on a SharedIndexInformer: the same constructor, methods and events. The differences are in
 * docs/migrating-from-client-node.md, and a test compares both on the same server.
 */
import * as clientNode from '@kubernetes/client-node';
import type {
  ADD,
  CHANGE,
  CONNECT,
  DELETE,
  ERROR,
  ErrorCallback,
  Informer,
  KubeConfig,
  KubernetesObject,
  ListPromise,
  ObjectCache,
  ObjectCallback,
  UPDATE,
  Watch,
} from '@kubernetes/client-node';
import { anything, flag, having, text, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { SharedIndexInformer } from '../index.ts';
import { LazyModels } from '../kube/model/lazy-models.ts';
import { ModelClasses } from '../kube/model/model-classes.ts';
import type { InformerOptions, Wire } from '../index.ts';
import { Callbacks } from './callbacks.ts';
import { DeliveredObjects } from './delivered-objects.ts';
import { InformerRun } from './informer-run.ts';
import type { RunParts } from './informer-run.ts';
import { parseWatchPath } from './watch-path.ts';

/** Options in addition to client-node's arguments. */
export type ListWatchOptions = Pick<InformerOptions<unknown>, 'threads' | 'backoff' | 'list' | 'clock'>;

const MODELS = new LazyModels(new ModelClasses(clientNode));

/** The informer checks the values. */
const CHECKS: OptionChecks<ListWatchOptions> = {
  threads: anything,
  backoff: anything,
  list: anything,
  clock: anything,
};

/** Lists and watches a collection, keeps the objects, and calls callbacks with the changes. */
export class ListWatch<T extends KubernetesObject> implements Informer<T>, ObjectCache<T> {
  readonly #parts: RunParts<T>;
  readonly #callbacks: Callbacks<T> = new Callbacks();
  readonly #objects: DeliveredObjects<T> = new DeliveredObjects();
  #run: InformerRun<T> | undefined;
  #resourceVersion = '';

  /**
   * @param path of a collection: `/api/v1/namespaces/web/pods`
   * @param watch supplies the KubeConfig; its `watch` is not called
   * @param _listFn supplies the type; it is not called, because the informer lists with the selectors of the watch
   * @param autoStart starts at once, without a call of `start`
   * @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_SELECTOR for an argument that cannot be used
   */
  constructor(
    path: string,
    watch: Pick<Watch, 'config'>,
    _listFn: ListPromise<T>,
    autoStart: boolean = true,
    labelSelector?: string,
    fieldSelector?: string,
    options: ListWatchOptions = {},
  ) {
    having("client-node's Watch")('watch', watch);
    flag('autoStart', autoStart);
    if (labelSelector !== undefined) text('labelSelector', labelSelector);
    if (fieldSelector !== undefined) text('fieldSelector', fieldSelector);
    checkOptions('options of a ListWatch', options, CHECKS);
    const { resource, namespace, isBuiltIn, ...selectors } = parseWatchPath(path);
    const selection = {
      namespace,
      labelSelector: both(selectors.labelSelector, labelSelector),
      fieldSelector: both(selectors.fieldSelector, fieldSelector),
    };
    this.#parts = {
      newInformer: (own) =>
        new SharedIndexInformer<Wire<T>>(watch.config, resource, { ...options, ...selection, ...own }),
      objects: this.#objects,
      callbacks: this.#callbacks,
      // Custom resources have no model: their API methods return and take the JSON of the wire.
      convert: isBuiltIn ? (json) => modelOf(json) as T : (json) => json as T,
    };
    // Refuses what cannot be used here rather than at the start. The end frees the reservation of threads.
    void this.#parts.newInformer({}).shutdown();
    // The failure of a start that no caller waits for goes to the callbacks for errors.
    if (autoStart) this.start().catch(() => undefined);
  }

  /** Resolves when the first list is delivered. If the informer already runs, waits for that list. */
  async start(): Promise<void> {
    if (this.#run?.isStopped !== false) {
      this.#resourceVersion = this.latestResourceVersion();
      this.#run = new InformerRun(this.#parts);
    }
    await this.#run.started;
  }

  /**
   * Stops at once: the event in progress is the last that callbacks receive. Resolves when the informer has ended. The objects
   * stay readable.
   */
  async stop(): Promise<void> {
    await this.#run?.stop();
  }

  /**
   * Calls `cb` with each added, updated or deleted object; for `change`, with all three. An error of `cb` goes to the
   * callbacks for errors.
   */
  on(verb: ADD | UPDATE | DELETE | CHANGE, cb: ObjectCallback<T>): void;
  /**
   * Calls `cb` with each error, or before each list and each watch that does not continue a list. Without a callback
   * for errors, an error becomes a process warning.
   */
  on(verb: ERROR | CONNECT, cb: ErrorCallback): void;
  on(
    verb: ADD | UPDATE | DELETE | CHANGE | ERROR | CONNECT,
    callback: ObjectCallback<T> | ErrorCallback,
  ): void {
    this.#callbacks.on(verb, callback);
  }

  /** Removes a registration of `cb`, if there is any; for `change`, a registration for each of the three verbs. */
  off(verb: ADD | UPDATE | DELETE | CHANGE, cb: ObjectCallback<T>): void;
  /** Removes a registration of `cb`, if there is any. */
  off(verb: ERROR | CONNECT, cb: ErrorCallback): void;
  off(
    verb: ADD | UPDATE | DELETE | CHANGE | ERROR | CONNECT,
    callback: ObjectCallback<T> | ErrorCallback,
  ): void {
    this.#callbacks.off(verb, callback);
  }

  /**
   * Returns the object as it was delivered last; undefined if it was not delivered, or was deleted. Until the next delivery,
   * calls return the same object while your program holds it.
   *
   * @param namespace '' for a cluster-scoped object
   */
  get(name: string, namespace: string = ''): T | undefined {
    return this.#objects.get({ namespace, name })?.read();
  }

  /**
   * Returns the delivered objects by namespace, each namespace in the order of the first deliveries. Throws the error of an
   * object that cannot be read.
   *
   * @param namespace '' for all
   */
  list(namespace: string = ''): readonly T[] {
    return this.#objects.list(namespace);
  }

  /** Returns the version of the informer's cache; until the first list, the version of the run before, or ''. */
  latestResourceVersion(): string {
    return this.#run?.resourceVersion || this.#resourceVersion;
  }
}

/**
 * Creates a ListWatch that runs after `start`.
 *
 * @param listFn supplies the type; it is not called, because the informer lists with the selectors of the watch
 */
export function makeInformer<T extends KubernetesObject>(
  kubeconfig: KubeConfig,
  path: string,
  listFn: ListPromise<T>,
  labelSelector?: string,
  fieldSelector?: string,
  options: ListWatchOptions = {},
): Informer<T> & ObjectCache<T> {
  const watch = { config: kubeconfig };
  return new ListWatch<T>(path, watch, listFn, false, labelSelector, fieldSelector, options);
}

/** Selects the objects that both selectors select. */
function both(ofPath: string | undefined, given: string | undefined): string {
  return [ofPath, given].filter(Boolean).join(',');
}

/** Returns the model, or JSON when the installed client-node is older than the resource. */
function modelOf(json: unknown): unknown {
  return MODELS.of(json as object) ?? json;
}
