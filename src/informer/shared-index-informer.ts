/** The public informer: a collection, the cache and the handlers. Each part is in a separate file. */
import { backgroundClock } from '../base/clock.ts';
import type { DoneChecker, DoneProgress } from '../base/done-checker.ts';
import type { KubeloomError } from '../base/errors.ts';
import type { ListerWatcher } from '../kube/lister-watcher.ts';
import type { ResourceOf, ResourceRef } from '../kube/resource.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { callback } from '../base/option-checks.ts';
import { signalOf, signalOfRun } from '../base/signal-options.ts';
import type { SignalOptions } from '../base/signal-options.ts';
import type { HandlerRegistration, ResourceEventHandler } from '../replica/deliver/handler.ts';
import { SharedProcessor } from '../replica/deliver/processor-listener.ts';
import type { Indexers } from '../replica/store/index-functions.ts';
import type { InformerIndexer, InformerStore } from '../replica/store/indexer.ts';
import { ThreadsHandle } from './threads/default-threads.ts';
import type { ReflectorPhase } from '../shared/protocol.ts';
import { WaitCondition } from './wait-condition.ts';
import { SettableDoneChecker, reasonOf, syncStateOf } from './wait-for.ts';
import { Handlers } from './handlers.ts';
import type { HandlerOptions, RemovalOptions, ShutDownOptions } from './handlers.ts';
import { Health } from './health.ts';
import { InformerActivity } from './informer-activity.ts';
import type { SharedParts } from './shareable.ts';
import { controllerOf } from './informer-controller.ts';
import type { InformerController } from './informer-controller.ts';
import { InformerMetrics } from './informer-metrics.ts';
import type { InformerStats } from './informer-stats.ts';
import type { HealthListener, InformerHealth } from './health.ts';
import { InformerLifecycle } from './lifecycle.ts';
import { reflectorSpec, resolveInformerOptions, checkSource } from './informer-options.ts';
import { checkResource } from '../kube/resource.ts';
import type { InformerOptions } from './informer-options.ts';
import { InformerPipeline } from './pipeline.ts';
import { ErrorReporter } from './error-reporter.ts';
import type { WatchErrorHandler } from './error-reporter.ts';
import { checkSyncOptions } from './sync-options.ts';
import type { SyncOptions } from './sync-options.ts';
import type { Transform } from './transform.ts';

const NOT_ADDED = 'handler was not added to shared informer because it has stopped already';

/**
 * Keeps a collection in memory and calls handlers for every change. The numbers are clauses of docs/contract.md.
 *
 * - The cache converges to the server's state, and no object goes back to an older state (C1–C3). A server that answers
 *   with errors does not stop an informer (C18): `health` shows how old the cache may be.
 * - Each handler receives the changes in the server's order, over all objects (C4): each change once, a single call at
 *   a time. The informer awaits promises of handlers (C7, C32). A slow handler does not delay other handlers (C33).
 * - The cache contains a change before a handler receives it (C6), and never changes during your synchronous code (C5).
 * - Handlers share the cache and the watch. A late handler receives the whole cache and all later changes (C9).
 * - `hasSynced()`: the first list is in the cache. `registration.hasSynced()`: its calls have returned (C11, C39).
 * - Entries are borrowed: read them during the call, and `retain()` the entries that you keep (C20). They are shared,
 *   so `copy()` them before you write (C15).
 *
 * **States may be skipped, notifications are never out of order.** Suppose that the pod web-0 is created, changed twice
 * and deleted, as versions 5 to 8. While the watch is open, a handler receives `onAdd(5)`, `onUpdate(5, 6)`,
 * `onUpdate(6, 7)` and a deletion. During `onUpdate(5, 6)` the cache may already hold version 7, or no web-0. If the
 * connection is lost after version 5, and the server has forgotten the changes when it answers again, the informer
 * lists: the handler receives `DeletedFinalStateUnknown` with version 5, and never sees 6 and 7. So let a handler
 * remember *which* object has changed, and decide from the cache what to do:
 *
 * ```ts
 * import { SharedIndexInformer, loadKubeConfig, resources } from 'kubeloom';
 * import { RateLimitingQueue } from 'kubeloom/workqueue';
 *
 * const queue = new RateLimitingQueue<string>();
 * const pods = new SharedIndexInformer(loadKubeConfig(), resources.core.v1.pods);
 * pods.addEventHandler({
 *   onAdd: ({ key }) => queue.add(key),
 *   onUpdate: (_previous, { key }) => queue.add(key),
 *   onDelete: ({ key }) => queue.add(key),
 * });
 * void pods.run();
 * await pods.waitForSync();
 * for await (const key of queue) {
 *   console.log(key, pods.getStore().getByKey(key)?.status?.phase ?? 'deleted');
 *   queue.done(key);
 * }
 * ```
 *
 * **Your own writes come back through the watch.** After a write of version 9, the cache may still hold version 8. Wait
 * for 9:
 *
 * ```ts
 * import { SharedIndexInformer, loadKubeConfig, resources } from 'kubeloom';
 * import { ObjectClient } from 'kubeloom/controller';
 *
 * const kubeConfig = loadKubeConfig();
 * const { configMaps } = resources.core.v1;
 * const informer = new SharedIndexInformer(kubeConfig, configMaps, { namespace: 'web' });
 * void informer.run();
 * const desired = { metadata: { namespace: 'web', name: 'colors' }, data: { sky: 'blue' } };
 * const { metadata } = await new ObjectClient(kubeConfig, { fieldManager: 'painter' }).apply(configMaps, desired);
 * await informer.waitForResourceVersion(metadata?.resourceVersion ?? '');
 * console.log(informer.getStore().getByKey('web/colors')?.object.data); // { sky: 'blue' }, or later
 * ```
 *
 * @typeParam T type of the objects
 * @typeParam Name names of the indexes in the options, which queries of `getIndexer()` accept; `string` accepts all
 */
export class SharedIndexInformer<T = unknown, Name extends string = string> {
  /** The resource that the informer lists and watches. */
  readonly resource: ResourceRef;
  /** Name of this informer in errors: `pods (namespace web)`. */
  readonly name: string;
  readonly #source: ServerSource | ListerWatcher<T>;
  /** Done checker of the first sync, with the name `SharedIndexInformer pods`. */
  readonly hasSyncedChecker: DoneChecker;
  readonly #reports: ErrorReporter;
  readonly #pipeline: InformerPipeline<T>;
  readonly #handlers: Handlers;
  readonly #lifecycle: InformerLifecycle;
  readonly #health: Health;
  readonly #metrics: InformerMetrics;
  readonly #changed: WaitCondition = new WaitCondition();

  /**
   * @param source an apiserver, or functions on this thread. Each object of such a function is serialised on this
   *   thread, which costs time.
   */
  constructor(
    source: ServerSource | ListerWatcher<T>,
    resource: ResourceOf<T>,
    options: InformerOptions<T, Name> = {},
  ) {
    checkSource(source);
    checkResource(resource);
    const resolved = resolveInformerOptions(options);
    const spec = reflectorSpec(resource, options, source);
    this.resource = resource;
    this.#source = source;
    const { namespace, clock = backgroundClock, onError, debug, log } = options;
    this.name = `${resource.resource} (${namespace ? `namespace ${namespace}` : 'all namespaces'})`;
    const reports = new ErrorReporter(this.name, onError, clock, debug?.onMutation, log);
    const activity = new InformerActivity(this.name, resource);
    const threads = new ThreadsHandle(options.threads);
    const { name } = this;
    const { shards, drainBudgetMs } = threads;
    const listener = new SharedProcessor();
    const common = { name, resource, reports, activity, clock };
    const pipeline = new InformerPipeline<T>(
      { ...common, source, options, resolved, reflectorSpec: spec, shards, drainBudgetMs, listener },
      this.#admitIndexers,
      () => this.#lifecycle.checkStarted(),
    );
    const health = new Health({
      clock,
      staleAfterMs: resolved.staleAfterMs,
      source: () => ({
        phase: this.phase,
        lastError: this.lastError,
        resourceVersion: this.lastSyncResourceVersion(),
        handlers: this.#handlers.backlogs,
        unmerged: threads.threads?.unmerged ?? 0,
        coalesced: this.#handlers.coalesced,
      }),
      merges: pipeline,
      onListenerError: (cause) => reports.listener('a health listener', cause),
      ...(options.clock ? { wallNow: () => clock.now() } : {}),
    });
    reports.onLastError = () => health.apply({ type: 'error' });
    const synced = this.#newSyncedChecker(namespace ? name : resource.resource);
    const handlers = new Handlers({
      replica: pipeline.replica,
      processor: listener,
      resolved,
      ...common,
      syncName: synced.name,
      metricLabels: () => this.#metrics.labels,
      onProgress: () => this.#changed.changed(),
    });
    this.hasSyncedChecker = synced;
    this.#reports = reports;
    this.#health = health;
    this.#pipeline = pipeline;
    this.#handlers = handlers;
    const phase = (): ReflectorPhase => this.phase;
    this.#metrics = new InformerMetrics({ ...common, phase, pipeline, health, handlers });
    this.#lifecycle = new InformerLifecycle({
      ...common,
      pipeline,
      handlers,
      threads,
      health,
      metrics: this.#metrics,
      changed: this.#changed,
      onSynced: () => synced.finish(),
    });
  }

  /** Source of lists and watches. It is not a property, so that printing an informer does not print credentials. */
  get source(): ServerSource | ListerWatcher<T> {
    return this.#source;
  }

  /**
   * Registers a handler, before or after start. A handler that is added later receives the cache as the initial list,
   * followed by all later changes. The same handler may be registered several times.
   *
   * @throws ERR_KUBELOOM_STOPPED after the informer stopped
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    this.#lifecycle.checkNotStopped(NOT_ADDED);
    return this.#handlers.add(handler, options);
  }

  /**
   * Removes a handler without waiting for a call in progress. Drops pending notifications; with `drain`, delivers them
   * first. Ignores a removed registration, or a registration of another informer. The handler itself may call it.
   *
   * @throws ERR_KUBELOOM_OPTION if the value is not a registration
   */
  removeEventHandler(registration: HandlerRegistration, options: RemovalOptions = {}): void {
    this.#handlers.remove(registration, options);
  }

  /**
   * Removes a handler and resolves when the last call has returned and the promise of that call settled. Never await it
   * in the handler: before the handler's first await it rejects with ERR_KUBELOOM_OWN_CALL; later it hangs.
   */
  shutDownEventHandler(registration: HandlerRegistration, options: ShutDownOptions = {}): Promise<void> {
    return this.#handlers.shutDown(registration, options);
  }

  /**
   * Lists and watches until the signal is aborted. Resolves when the informer has stopped and the handler calls in
   * progress have returned. Rejects only if a module cannot be loaded, the threads fail, or it was started before.
   */
  async run(options?: SignalOptions): Promise<void> {
    await this.#lifecycle.run(signalOfRun('run()', options));
  }

  /**
   * Stops the informer, running or not, and resolves when all parts have ended. With `drain`, handlers first receive
   * all pending notifications. If `signal` is aborted first, rejects with ERR_KUBELOOM_STILL_RUNNING and names the
   * handlers. A second call without `drain` drops the pending notifications.
   */
  shutdown(options: ShutDownOptions = {}): Promise<void> {
    return this.#lifecycle.shutdown(options);
  }

  /** Returns whether the first list is in the cache. Stays true. */
  hasSynced(): boolean {
    return this.#pipeline.replica.hasSynced;
  }

  /** @internal Reports once that a caller waits for an informer that does not run. */
  reportNotStarted(): void {
    this.#lifecycle.reportNotStarted();
  }

  /**
   * Resolves when the informer is synced; with a registration, when that handler has also received the initial list.
   * Rejects with the error that ended the informer. Also waits for an informer that is not started yet; if the informer
   * does not run after a turn of the event loop, reports ERR_KUBELOOM_NOT_STARTED.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED) when the signal is aborted first, with phase and last error;
   *   ERR_KUBELOOM_NOT_STARTED if the informer was not started before the abort
   */
  async waitForSync(options: SyncOptions = {}): Promise<void> {
    checkSyncOptions(options);
    await this.#lifecycle.waitForSync(() => syncStateOf(this), options);
  }

  /**
   * Resolves when the cache reaches this version or a later version (read your writes). Pass `metadata.resourceVersion`
   * of the response to your write in this collection. An informer with a selector also reaches that version, through
   * later events or bookmarks. If the informer receives no events, because it does not select the object or the version
   * belongs to another collection, it reaches the version with the next bookmark, up to a minute later.
   *
   * Rejects with the signal's reason, with ERR_KUBELOOM_STOPPED when the informer ends first, and with
   * ERR_KUBELOOM_RESOURCE_VERSION if the version, or the server's versions, cannot be compared.
   */
  async waitForResourceVersion(resourceVersion: string, options?: SignalOptions): Promise<void> {
    const signal = signalOf('waitForResourceVersion()', options);
    await this.#lifecycle.waitForVersion(resourceVersion, signal);
  }

  /** Current health: whether the cache follows the server, since when, and the backlogs of the handlers. */
  get health(): InformerHealth {
    return this.#health.snapshot;
  }

  /**
   * Calls the listener when the cache becomes stale and when it recovers, from the first sync to the stop. Returns a
   * function that removes the listener.
   */
  onHealth(listener: HealthListener): () => void {
    return this.#health.listen(listener);
  }

  /** Returns the present figures of the cache, the errors and the handlers. Frozen; costs a pass over the handlers. */
  stats(): InformerStats {
    return this.#metrics.stats;
  }

  /** Progress of the first list; undefined before it begins and after it is in the cache. */
  get progress(): DoneProgress | undefined {
    return this.#lifecycle.progress;
  }

  /** Error that ended the informer, or else the last error of LIST, WATCH or decoding; undefined if there is none. */
  get lastError(): KubeloomError | undefined {
    return this.#lifecycle.failure ?? this.#reports.lastError;
  }

  /** Current activity of the reflector. */
  get phase(): ReflectorPhase {
    return this.#lifecycle.phase;
  }

  /** Returns the resourceVersion of the cache; empty before the first list. */
  lastSyncResourceVersion(): string {
    return this.#pipeline.replica.live.resourceVersion;
  }

  /** Returns the queries by key. Before start they find no objects, while a `Lister` throws. */
  getStore(): InformerStore<T> {
    return this.#pipeline.indexer;
  }

  /** Returns the queries by key, index and selector. Before start they find no objects, while a `Lister` throws. */
  getIndexer(): InformerIndexer<T, Name> {
    return this.#pipeline.indexer;
  }

  /**
   * Adds indexes, before or after start, and indexes the cached objects before it returns. After start an index may use
   * only declared fields and plain functions, because the shards extract only fields that were declared at start.
   *
   * @returns the indexer, for queries of the added indexes
   */
  addIndexers<Added extends string>(indexers: Indexers<T, Added>): InformerIndexer<T, Added> {
    return this.#pipeline.indexer.addIndexers(indexers);
  }

  /** Replaces the transform; allowed only before start. */
  setTransform(transform: Transform<T>): void {
    this.#lifecycle.checkNotStarted();
    this.#pipeline.setTransform(transform);
  }

  /** Replaces the watch error handler; allowed only before start. */
  setWatchErrorHandler(handler: WatchErrorHandler): void {
    this.#lifecycle.checkNotStarted();
    callback('the watch error handler', handler);
    this.#reports.watchErrorHandler = handler;
  }

  /** Names of the handlers with pending notifications, or with a call or promise in progress. */
  get busyHandlers(): readonly string[] {
    return this.#handlers.busyNames;
  }

  /** Returns whether `run` was called. Stays true after the informer has stopped. */
  hasStarted(): boolean {
    return this.#lifecycle.hasStarted;
  }

  /** Returns whether the informer stopped watching and accepts no handlers. Handler calls may still be in progress. */
  isStopped(): boolean {
    return this.#lifecycle.isStopped;
  }

  /** Returns client-go's controller of this informer. It shows the sync state and cannot run the informer. */
  getController(): InformerController {
    return controllerOf(this);
  }

  /** @internal What a `SharedCache` uses. */
  get sharedParts(): SharedParts {
    return { resource: this.resource, pipeline: this.#pipeline, handlers: this.#handlers };
  }

  /** Calls `shutdown()`, which drops pending notifications. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  #newSyncedChecker(name: string): SettableDoneChecker {
    return new SettableDoneChecker(
      `SharedIndexInformer ${name}`,
      () => reasonOf(this),
      () => this.progress,
    );
  }

  readonly #admitIndexers = (): boolean => {
    this.#lifecycle.checkNotStopped(`${this.name} has stopped: add indexers before that`);
    return this.#lifecycle.hasStarted;
  };
}
