/**
 * The informer that users hold: one collection, its cache and its handlers. It wires the parts together;
 * what each of them does is in a file of its own.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { backgroundClock } from '../clock.ts';
import type { DoneChecker, DoneProgress } from '../done-checker.ts';
import { KubeloomError } from '../errors.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import type { ResourceOf, ResourceRef } from '../kube/resource.ts';
import { refuse } from '../options.ts';
import type { HandlerRegistration, ResourceEventHandler } from '../processor/handler.ts';
import { SharedProcessor } from '../processor/shared-processor.ts';
import type { Indexers } from '../store/index-functions.ts';
import type { InformerIndexer, InformerStore } from '../store/indexer.ts';
import { leaseThreads } from '../threads/default-threads.ts';
import type { ReflectorPhase } from '../threads/protocol.ts';
import { Condition } from './condition.ts';
import { Done } from './done.ts';
import { Handlers } from './handlers.ts';
import type { HandlerOptions, RemovalOptions, ShutDownOptions } from './handlers.ts';
import type { HealthListener, HealthSource, InformerHealth } from './health.ts';
import { InformerLife } from './life.ts';
import { reflectorSpec, resolveInformerOptions } from './options.ts';
import type { InformerOptions } from './options.ts';
import { InformerPipeline } from './pipeline.ts';
import { Reports } from './reports.ts';
import type { WatchErrorHandler } from './reports.ts';
import { wantTransform } from './transform.ts';
import type { Transform } from './transform.ts';
import { Vitals } from './vitals.ts';

/** client-go's: the part of a controller that a shared informer shows. */
export interface InformerController {
  /** Does nothing: the informer runs itself. */
  run(signal?: AbortSignal): Promise<void>;
  hasSynced(): boolean;
  readonly hasSyncedChecker: DoneChecker;
  lastSyncResourceVersion(): string;
}

export class SharedIndexInformer<T = unknown> {
  readonly resource: ResourceRef;
  /** `pods (namespace web)`: how errors name this informer. */
  readonly name: string;
  readonly #source: KubeConfig | ListerWatcher<T>;
  /** That it has synced, to wait for: `SharedIndexInformer pods`. */
  readonly hasSyncedChecker: DoneChecker;
  readonly #reports: Reports;
  readonly #pipeline: InformerPipeline<T>;
  readonly #handlers: Handlers;
  readonly #life: InformerLife;
  readonly #vitals: Vitals;
  readonly #changed: Condition = new Condition();

  /**
   * @param source an apiserver, or functions on this thread, at the cost that every object they give is
   *   serialised here
   */
  constructor(
    source: KubeConfig | ListerWatcher<T>,
    resource: ResourceOf<T>,
    options: InformerOptions<T> = {},
  ) {
    this.resource = resource;
    this.#source = source;
    this.name = `${resource.resource} (${options.namespace ? `namespace ${options.namespace}` : 'all namespaces'})`;
    // What is refused is refused before threads are taken.
    const resolved = resolveInformerOptions(options);
    const spec = reflectorSpec(resource, options, source);
    const clock = options.clock ?? backgroundClock;
    const reports = new Reports(this.name, options.onError, clock, options.onMutation);
    const lease = leaseThreads(options.threads);
    const { threads } = lease;
    const listener = new SharedProcessor();
    const vitals = new Vitals({
      ...resolved,
      name: this.name,
      clock: options.clock,
      reports,
      source: () => ({ ...this.#healthSource(), unmerged: threads.unmerged }),
    });
    reports.onLastError = () => vitals.errored();
    const { guard } = vitals;
    const pipeline = new InformerPipeline<T>(
      { source, resource, options, resolved, reflectorSpec: spec, threads, reports, listener, guard },
      this.#admitIndexers,
    );
    const where = options.namespace
      ? `${resource.resource} (namespace ${options.namespace})`
      : resource.resource;
    const synced = new Done(
      `SharedIndexInformer ${where}`,
      () => this.lastError?.message ?? this.phase,
      () => vitals.progress,
    );
    const handlers = new Handlers({
      threads,
      replica: pipeline.replica,
      processor: listener,
      isStrict: resolved.lifetimes === 'strict',
      resyncPeriodMs: resolved.resyncPeriodMs,
      slowLimits: resolved,
      clock,
      reports,
      syncName: synced.name,
      onProgress: () => this.#changed.changed(),
    });
    this.hasSyncedChecker = synced;
    this.#reports = reports;
    this.#vitals = vitals;
    this.#pipeline = pipeline;
    this.#handlers = handlers;
    this.#life = new InformerLife({
      name: this.name,
      pipeline,
      handlers,
      lease,
      reports,
      vitals,
      changed: this.#changed,
      onSynced: () => synced.finish(),
    });
  }

  /** Where it lists and watches. Not a property: whoever prints an informer must not print a KubeConfig’s credentials. */
  get source(): KubeConfig | ListerWatcher<T> {
    return this.#source;
  }

  /**
   * Registers a handler, before or after start. A late one gets the cache as its initial list, at an exact
   * cut. The same handler may be registered several times.
   *
   * @throws ERR_KUBELOOM_STOPPED after the informer stopped
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    this.#life.wantNotStopped('handler was not added to shared informer because it has stopped already');
    return this.#handlers.add(handler, options);
  }

  /**
   * Stops telling the handler, and does not wait: a call in progress finishes. What it has not been told is
   * dropped, or with `drain` still delivered. A registration of another informer, or one that was removed
   * already, is none of its business. May be called from inside the handler.
   *
   * @throws ERR_KUBELOOM_REGISTRATION for what is no registration
   */
  removeEventHandler(registration: HandlerRegistration, options: RemovalOptions = {}): void {
    this.#handlers.remove(registration, options);
  }

  /**
   * Removes the handler and resolves when its last call has returned, its promise included. Never await it in
   * the handler itself: where that can be seen (before its first await) it rejects with ERR_KUBELOOM_OWN_CALL.
   */
  shutDownEventHandler(registration: HandlerRegistration, options: ShutDownOptions = {}): Promise<void> {
    return this.#handlers.shutDown(registration, options);
  }

  /**
   * Lists and watches until `signal` is aborted. Resolves when everything has stopped and the handler calls
   * in progress have returned; rejects only when a module cannot be loaded or the threads themselves fail,
   * and when it was started before.
   */
  run(signal?: AbortSignal): Promise<void> {
    return this.#life.run(signal);
  }

  /**
   * Stops the informer, running or not, and resolves when everything of it has ended. With `drain`, handlers
   * are first told everything that had been received. An aborted `signal` ends the waiting: it rejects with
   * ERR_KUBELOOM_STILL_RUNNING, naming the handlers; a second call without `drain` drops what is left.
   */
  shutdown(options: ShutDownOptions = {}): Promise<void> {
    return this.#life.shutdown(options);
  }

  /** The first list has been applied to the cache. Never goes back to false. */
  hasSynced(): boolean {
    return this.#pipeline.replica.hasSynced;
  }

  /**
   * Resolves when the informer has synced, or with a registration when its initial list was delivered too.
   * Rejects with the signal's reason, or with what ended the informer.
   */
  async waitForSync(signal?: AbortSignal, registration?: HandlerRegistration): Promise<void> {
    const isSynced = (): boolean => (registration ? registration.hasSynced() : this.hasSynced());
    const failure = (): KubeloomError | undefined => registration?.failure;
    await this.#changed.until(() => isSynced() || failure() !== undefined || this.isStopped(), signal);
    if (isSynced()) return;
    throw (
      failure() ??
      this.#life.failure ??
      new KubeloomError('ERR_KUBELOOM_STOPPED', `${this.name} stopped before it synced`)
    );
  }

  /**
   * Read your writes: resolves when the cache has this version or a newer one, at once when it has it already.
   * Take `metadata.resourceVersion` from the answer to your write to an object of this collection; an informer
   * with a selector gets there too, by later events or bookmarks. A collection in which nothing else happens
   * hears of it with the next bookmark, which a server sends once a minute: an object that the informer does
   * not select, or a version of another collection, can take that long. Waiting costs nothing.
   *
   * Rejects with the signal's reason, with ERR_KUBELOOM_STOPPED when the informer ends first, and with
   * ERR_KUBELOOM_RESOURCE_VERSION when the version, or those of the server, have no order.
   */
  waitForResourceVersion(resourceVersion: string, signal?: AbortSignal): Promise<void> {
    return this.#vitals.waitForVersion(resourceVersion, signal);
  }

  /** Whether the cache follows the server, since when, and how far everything behind it is. As of now. */
  get health(): InformerHealth {
    return this.#vitals.health.snapshot;
  }

  /**
   * Told when the cache goes stale, and when it has recovered; never before the first sync, nor after the end.
   *
   * @returns a function that takes the listener away
   */
  onHealth(listener: HealthListener): () => void {
    return this.#vitals.health.listen(listener);
  }

  /** How far the first list has come; undefined when it has not begun, or is over. */
  get progress(): DoneProgress | undefined {
    return this.#vitals.progress;
  }

  /** The last error of LIST, WATCH or decoding; undefined when nothing went wrong yet. */
  get lastError(): KubeloomError | undefined {
    return this.#reports.lastError;
  }

  /** What the reflector is doing. */
  get phase(): ReflectorPhase {
    return this.#life.phase;
  }

  /** The server's version that the cache reflects; empty before the first list. */
  lastSyncResourceVersion(): string {
    return this.#pipeline.replica.live.resourceVersion;
  }

  getStore(): InformerStore<T> {
    return this.#pipeline.indexer;
  }

  getIndexer(): InformerIndexer<T> {
    return this.#pipeline.indexer;
  }

  /**
   * Before or after start; what is cached is indexed before this returns. After start an index can only use
   * declared fields and plain functions: the shards extract what was known when they started.
   */
  addIndexers(indexers: Indexers<T>): void {
    this.#pipeline.indexer.addIndexers(indexers);
  }

  /** Before start; the last one counts. */
  setTransform(transform: Transform<T>): void {
    this.#life.wantNotStarted();
    wantTransform(transform);
    this.#pipeline.transform = transform;
  }

  /** Before start; the last one counts. */
  setWatchErrorHandler(handler: WatchErrorHandler): void {
    this.#life.wantNotStarted();
    if (typeof handler !== 'function') refuse('the watch error handler', handler, 'a function');
    this.#reports.watchErrorHandler = handler;
  }

  /** Names of the handlers that have something to be told, or whose call, its promise included, is in progress. */
  get busyHandlers(): readonly string[] {
    return this.#handlers.busyNames;
  }

  hasStarted(): boolean {
    return this.#life.hasStarted;
  }

  /** It lists and watches no more, and takes no handlers. Calls of handlers may still be in progress. */
  isStopped(): boolean {
    return this.#life.isStopped;
  }

  /** For those who are used to it: it tells how far the informer is, and cannot run it. */
  getController(): InformerController {
    return {
      run: () => Promise.resolve(),
      hasSynced: () => this.hasSynced(),
      hasSyncedChecker: this.hasSyncedChecker,
      lastSyncResourceVersion: () => this.lastSyncResourceVersion(),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  #healthSource(): Omit<HealthSource, 'unmerged'> {
    return {
      phase: this.phase,
      lastError: this.lastError,
      resourceVersion: this.lastSyncResourceVersion(),
      handlers: this.#handlers.backlogs,
      coalesced: this.#handlers.coalesced,
    };
  }

  readonly #admitIndexers = (): boolean => {
    this.#life.wantNotStopped(`${this.name} has stopped: indexers cannot be added any more`);
    return this.#life.hasStarted;
  };
}
