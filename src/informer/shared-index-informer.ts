/** The public informer: one collection, its cache and its handlers. Each part that it connects has its own file. */
import { backgroundClock, realTimers } from '../base/clock.ts';
import type { DoneChecker, DoneProgress } from '../base/done-checker.ts';
import { KubeloomError } from '../base/errors.ts';
import type { ListerWatcher } from '../kube/lister-watcher.ts';
import type { ResourceOf, ResourceRef } from '../kube/resource.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { callback } from '../base/option-checks.ts';
import type { HandlerRegistration, ResourceEventHandler } from '../replica/deliver/handler.ts';
import { SharedProcessor } from '../replica/deliver/processor-listener.ts';
import type { Indexers } from '../replica/store/index-functions.ts';
import type { InformerIndexer, InformerStore } from '../replica/store/indexer.ts';
import { ThreadsHandle } from './threads/default-threads.ts';
import type { ReflectorPhase } from '../shared/protocol.ts';
import { WaitCondition } from './wait-condition.ts';
import { SettableDoneChecker, NotSyncedError, reasonOf, syncStateOf } from './wait-for.ts';
import { Handlers } from './handlers.ts';
import type { HandlerOptions, RemovalOptions, ShutDownOptions } from './handlers.ts';
import { Health } from './health.ts';
import { InformerActivity } from './informer-activity.ts';
import { attachReader, sharedInformerSpec } from './share/attach-reader.ts';
import { SharedCache } from './share/shared-cache.ts';
import type { ExportedCache, SharedInformerSpec } from './share/shared-cache.ts';
import type { ReaderLink } from '../replica/share/reader-link.ts';
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
import type { Transform } from './transform.ts';

const NOT_ADDED = 'handler was not added to shared informer because it has stopped already';

/** The part of client-go's Controller that a shared informer exposes. */
export interface InformerController {
  /** Does nothing: call `run` of the informer. */
  run(signal?: AbortSignal): Promise<void>;
  hasSynced(): boolean;
  readonly hasSyncedChecker: DoneChecker;
  lastSyncResourceVersion(): string;
}

/**
 * @typeParam T type of the objects
 * @typeParam Name names of the indexes in the options, which queries of `getIndexer()` accept; `string` accepts all
 */
export class SharedIndexInformer<T = unknown, Name extends string = string> {
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

  /** Source of lists and watches. It is no property, so that printing an informer does not print credentials. */
  get source(): ServerSource | ListerWatcher<T> {
    return this.#source;
  }

  /**
   * Registers a handler, before or after start. A handler that is added later receives the cache as its initial list,
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
   * first. Ignores a registration of another informer, or one that was removed already. The handler itself may call it.
   *
   * @throws ERR_KUBELOOM_OPTION when the value is no registration
   */
  removeEventHandler(registration: HandlerRegistration, options: RemovalOptions = {}): void {
    this.#handlers.remove(registration, options);
  }

  /**
   * Removes a handler and resolves when its last call has returned and that call's promise has settled. Never await it
   * in the handler itself: a call before the handler's first await rejects with ERR_KUBELOOM_OWN_CALL; later ones hang.
   */
  shutDownEventHandler(registration: HandlerRegistration, options: ShutDownOptions = {}): Promise<void> {
    return this.#handlers.shutDown(registration, options);
  }

  /**
   * Lists and watches until `signal` is aborted. Resolves when the informer has stopped and the handler calls in
   * progress have returned. Rejects only when a module cannot be loaded, the threads fail, or the informer was started
   * before.
   */
  run(signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.run(signal);
  }

  /**
   * Stops the informer, running or not, and resolves when all its parts have ended. With `drain`, handlers first receive
   * all pending notifications. When `signal` is aborted first, it rejects with ERR_KUBELOOM_STILL_RUNNING and names the
   * handlers. A second call without `drain` drops the pending notifications.
   */
  shutdown(options: ShutDownOptions = {}): Promise<void> {
    return this.#lifecycle.shutdown(options);
  }

  /** Returns whether the first list has been applied to the cache. Stays true. */
  hasSynced(): boolean {
    return this.#pipeline.replica.hasSynced;
  }

  /** @internal Reports once that a caller waits for an informer that does not run. */
  reportNotStarted(): void {
    this.#lifecycle.reportNotStarted();
  }

  /**
   * Resolves when the informer has synced; with a registration, when that handler has received its initial list too.
   * Rejects with the error that ended the informer. It also waits for an informer that is not started yet; when the
   * informer does not run after one turn of the event loop, it reports ERR_KUBELOOM_NOT_STARTED.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED) when the signal is aborted first, with phase and last error;
   *   ERR_KUBELOOM_NOT_STARTED when the informer was not started by then
   */
  async waitForSync(signal?: AbortSignal, registration?: HandlerRegistration): Promise<void> {
    const isSynced = (): boolean => (registration ? registration.hasSynced() : this.hasSynced());
    const failure = (): KubeloomError | undefined => registration?.failure;
    if (!this.#lifecycle.isStartedOrStopped) realTimers.setImmediate(() => this.reportNotStarted());
    try {
      await this.#changed.until(() => isSynced() || failure() !== undefined || this.isStopped(), signal);
    } catch (cause) {
      if (!this.#lifecycle.isStartedOrStopped) throw this.#lifecycle.notStarted('cannot sync', cause);
      const late = registration && this.hasSynced() ? registration.hasSyncedChecker : syncStateOf(this);
      throw new NotSyncedError('', [late], cause);
    }
    if (isSynced()) return;
    throw (
      failure() ??
      this.#lifecycle.failure ??
      new KubeloomError('ERR_KUBELOOM_STOPPED', `${this.name} stopped before it synced`)
    );
  }

  /**
   * Resolves when the cache has this version or a newer one (read your writes). Pass `metadata.resourceVersion` of the
   * response to your write in this collection. An informer with a selector also reaches that version, by later events or
   * bookmarks. Without events of its own it reaches the version with the next bookmark, up to a minute later: for
   * example, when it does not select the object, or the version is of another collection. Waiting costs nothing.
   *
   * Rejects with the signal's reason, with ERR_KUBELOOM_STOPPED when the informer ends first, and with
   * ERR_KUBELOOM_RESOURCE_VERSION when the version, or the server's versions, have no order.
   */
  waitForResourceVersion(resourceVersion: string, signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.waitForVersion(resourceVersion, signal);
  }

  /** Current health: whether the cache follows the server, since when, and the backlogs of the handlers. */
  get health(): InformerHealth {
    return this.#health.snapshot;
  }

  /**
   * Adds a listener that is called when the cache becomes stale and when it has recovered. The listener is not called
   * before the first sync, nor after the informer stopped.
   *
   * @returns a function that removes the listener
   */
  onHealth(listener: HealthListener): () => void {
    return this.#health.listen(listener);
  }

  /** Returns figures of this moment: the cache, its errors and its handlers. Frozen; costs one pass over the handlers. */
  stats(): InformerStats {
    return this.#metrics.stats;
  }

  /** Progress of the first list; undefined before it begins and after it is in the cache. */
  get progress(): DoneProgress | undefined {
    return this.#lifecycle.progress;
  }

  /** Error that ended the informer, or else the last error of LIST, WATCH or decoding; undefined without an error. */
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

  getStore(): InformerStore<T> {
    return this.#pipeline.indexer;
  }

  getIndexer(): InformerIndexer<T, Name> {
    return this.#pipeline.indexer;
  }

  /**
   * Adds indexes, before or after start, and indexes the cached objects before it returns. After start an index may use
   * only declared fields and plain functions, because the shards extract the fields that were declared at start.
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

  /** Names of the handlers with pending notifications, or with a call or its promise in progress. */
  get busyHandlers(): readonly string[] {
    return this.#handlers.busyNames;
  }

  hasStarted(): boolean {
    return this.#lifecycle.hasStarted;
  }

  /**
   * Returns whether the informer has stopped listing and watching and accepts no handlers. Calls of handlers may still be
   * in progress.
   */
  isStopped(): boolean {
    return this.#lifecycle.isStopped;
  }

  /** Returns client-go's controller of this informer. It shows the sync state and cannot run the informer. */
  getController(): InformerController {
    return {
      run: () => Promise.resolve(),
      hasSynced: () => this.hasSynced(),
      hasSyncedChecker: this.hasSyncedChecker,
      lastSyncResourceVersion: () => this.lastSyncResourceVersion(),
    };
  }

  /** Returns this cache for other threads of the program, under the name of the resource. */
  share(): SharedCache {
    return new SharedCache({ [this.resource.resource]: this });
  }

  /** @internal */
  get sharedSpec(): Omit<SharedInformerSpec, 'key'> {
    return sharedInformerSpec(this, this.#pipeline);
  }

  /** @internal */
  attachReader(link: ReaderLink, informer: number): ExportedCache {
    this.#lifecycle.checkNotStopped(NOT_ADDED);
    return attachReader(link, informer, this.#pipeline, this.#handlers);
  }

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

/** Creates an informer. @param resyncPeriodMs of handlers without their own period; 0: never */
export function newSharedInformer<T>(
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceOf<T>,
  resyncPeriodMs: number,
): SharedIndexInformer<T> {
  return new SharedIndexInformer(source, resource, { resyncPeriodMs });
}

/** Creates an informer with indexes. @param resyncPeriodMs of handlers without their own period; 0: never */
export function newSharedIndexInformer<T, Name extends string>(
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceOf<T>,
  resyncPeriodMs: number,
  indexers: Indexers<T, Name>,
): SharedIndexInformer<T, Name> {
  return new SharedIndexInformer(source, resource, { resyncPeriodMs, indexers });
}

export function newSharedIndexInformerWithOptions<T, Name extends string = string>(
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceOf<T>,
  options: InformerOptions<T, Name>,
): SharedIndexInformer<T, Name> {
  return new SharedIndexInformer(source, resource, options);
}
