/** An informer's cache in another thread: the queries and handlers of the main thread, over the main thread's memory. */
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import { ErrorReporter } from '../../informer/error-reporter.ts';
import type { ErrorListener } from '../../informer/error-reporter.ts';
import { Handlers } from '../../informer/handlers.ts';
import type {
  HandlerOptions,
  HandlerThread,
  RemovalOptions,
  ShutDownOptions,
} from '../../informer/handlers.ts';
import type { HandlerHealth } from '../../informer/health.ts';
import { InformerActivity } from '../../informer/informer-activity.ts';
import { Lister } from '../../informer/lister.ts';
import type { SharedInformerSpec } from '../messages.ts';
import { deepFreeze } from '../../base/deep-freeze.ts';
import { VersionWaiters } from '../../informer/version-waiters.ts';
import { WaitCondition } from '../../informer/wait-condition.ts';
import { NotSyncedError } from '../../informer/wait-for.ts';
import { defaultRetainChecks } from '../../informer/threads/threads-options.ts';
import type { HandlerRegistration, ResourceEventHandler } from '../../replica/deliver/handler.ts';
import { SLOW_LIMITS } from '../../replica/deliver/handler-calls.ts';
import { SharedProcessor } from '../../replica/deliver/processor-listener.ts';
import { ForeignRows } from './foreign-memory.ts';
import type { ForeignMemory } from './foreign-memory.ts';
import { ReplicaReader } from './replica-reader.ts';
import type { DecodedCache } from '../../replica/store/decoded-cache.ts';
import { EntryOwner } from '../../replica/store/entry-owner.ts';
import { EntryTable } from '../../replica/store/entry-table.ts';
import { declaredFields, checkIndexers } from '../../replica/store/index-functions.ts';
import type { Indexers } from '../../replica/store/index-functions.ts';
import { ReplicaIndexer } from '../../replica/store/indexer.ts';
import type { InformerIndexer } from '../../replica/store/indexer.ts';
import { IndexSet } from '../../replica/store/replica-state.ts';
import { Replica } from '../../replica/store/replica.ts';
import { checkSyncOptions } from '../../informer/sync-options.ts';
import type { SyncOptions } from '../../informer/sync-options.ts';
import { signalOf } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';

/**
 * Health of an informer's cache in this thread. The health of the main thread's informer says whether it follows the
 * server.
 */
export interface ThreadHealth {
  /** `syncing`: the first list is not in this thread's cache yet. */
  readonly state: 'syncing' | 'synced' | 'stopped';
  /** Time since this thread last held every record that the main thread wrote for it; 0 while it does. */
  readonly lagMs: number;
  /** The error that ended the informer in this thread. */
  readonly lastError: KubeloomError | undefined;
  /** resourceVersion of this thread's cache; '' before the first list. */
  readonly resourceVersion: string;
  /** Backlog of each handler in this thread. */
  readonly handlers: readonly HandlerHealth[];
  /** Notifications that coalescing merged into others in this thread. */
  readonly coalesced: number;
}

/** @internal Parts that the informers of one port share. */
export interface ThreadParts {
  readonly thread: HandlerThread;
  readonly clock: Clock;
  /** Returns the value of `ThreadHealth.lagMs`. */
  readonly lagMs: () => number;
  readonly memory: ForeignMemory;
  readonly decodedCache: DecodedCache;
  readonly onError: ErrorListener | undefined;
}

/** The cache of an informer in another thread, with its own handlers. */
export class ThreadInformer<T = unknown> {
  /** The resource of the main thread's informer. */
  readonly resource: ResourceRef;
  /** Name of the informer in errors. */
  readonly name: string;
  /** Lister of this thread's cache. */
  readonly lister: Lister<T>;
  readonly #fields: readonly string[];
  readonly #replica: Replica;
  readonly #indexer: ReplicaIndexer<T>;
  readonly #handlers: Handlers;
  readonly #waiters: VersionWaiters;
  readonly #changed: WaitCondition = new WaitCondition();
  readonly #lagMs: () => number;
  readonly #requestRun: () => void;
  /** @internal */
  readonly merge: ReplicaReader;
  #isStopped = false;
  #stopped: Promise<void> | undefined;
  #failure: KubeloomError | undefined;

  /** @internal */
  constructor({ name, resource, fields, indexers, objectBytesMax }: SharedInformerSpec, parts: ThreadParts) {
    const { thread, clock, memory, decodedCache, onError } = parts;
    this.name = name;
    this.resource = resource;
    this.#fields = fields;
    this.#lagMs = parts.lagMs;
    this.#requestRun = () => thread.requestRun();
    this.#waiters = new VersionWaiters(name);
    const reports = new ErrorReporter(name, onError, clock);
    const table = new EntryTable();
    const retainChecks = defaultRetainChecks();
    // The owner registers with the table; no other object uses it.
    void new EntryOwner(table, {
      kind: resource.kind || resource.resource,
      fields,
      retainChecks,
      decodedCache,
      objectBytesMax,
      foreign: new ForeignRows(table, memory),
      report: reports.object,
      guard: retainChecks === 'strict' ? deepFreeze : undefined,
    });
    const activity = new InformerActivity(name, resource);
    const processor = new SharedProcessor();
    const indexes = new IndexSet(table, indexers, fields.length, reports.object);
    this.#replica = new Replica(table, 1, indexes, processor);
    this.#indexer = new ReplicaIndexer<T>(this.#replica, indexes, (added) => this.#admit(added as Indexers));
    this.lister = new Lister<T>(this.#indexer, resource);
    this.#handlers = new Handlers({
      replica: this.#replica,
      processor,
      resolved: {
        slowHandler: SLOW_LIMITS,
        fields,
        retainChecks,
        resyncPeriodMs: 0,
        staleAfterMs: 0,
        mutationDetector: 'off',
      },
      clock,
      reports,
      activity,
      syncName: `${resource.resource} in a thread`,
      metricLabels: () => ({ ...activity.labels }),
      onProgress: () => this.#changed.changed(),
    });
    this.#handlers.start(thread);
    this.merge = new ReplicaReader(this.#replica, memory, (isListEnd) => {
      if (isListEnd) this.#handlers.startResync();
    });
    thread.drain.addMaintenance(() => this.#replica.dispose());
  }

  /**
   * Registers a handler. The handler receives the cache as the initial list, followed by all later changes.
   *
   * @throws ERR_KUBELOOM_STOPPED after the informer stopped
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    if (this.#isStopped) throw this.#stoppedError('accepts no handlers');
    return this.#handlers.add(handler, options);
  }

  /** Removes a handler, as an informer on the main thread does. */
  removeEventHandler(registration: HandlerRegistration, options: RemovalOptions = {}): void {
    this.#handlers.remove(registration, options);
  }

  /** Removes a handler and resolves when the handler's last call returns. */
  shutDownEventHandler(registration: HandlerRegistration, options: ShutDownOptions = {}): Promise<void> {
    return this.#handlers.shutDown(registration, options);
  }

  /** Returns the queries of this thread's cache by key, index and selector. */
  getIndexer(): InformerIndexer<T> {
    return this.#indexer;
  }

  /** Returns whether the first list is in this thread's cache. Stays true. */
  hasSynced(): boolean {
    return this.#replica.hasSynced;
  }

  /**
   * Resolves when the first list is in this thread's cache; with a registration, when that handler has also received
   * the initial list. Rejects with the error that ended the informer.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED) when the signal is aborted first
   */
  async waitForSync(options: SyncOptions = {}): Promise<void> {
    checkSyncOptions(options);
    const { signal, registration } = options;
    const isSynced = (): boolean => (registration ?? this).hasSynced();
    try {
      await this.#changed.until(() => isSynced() || this.#isStopped, signal);
    } catch (cause) {
      const { name } = this;
      const reason = 'the main thread has not sent its first list to this thread yet';
      const late = registration && this.hasSynced() ? registration.hasSyncedChecker : undefined;
      throw new NotSyncedError('', [late ?? { name, isDone: false, reason }], cause);
    }
    if (!isSynced()) throw this.#failure ?? this.#stoppedError('did not sync before that');
  }

  /** Current health: how far this thread is behind the main thread, and the backlogs of the handlers. */
  get health(): ThreadHealth {
    return {
      state: this.#isStopped ? 'stopped' : this.hasSynced() ? 'synced' : 'syncing',
      lagMs: this.#lagMs(),
      lastError: this.#failure,
      resourceVersion: this.lastSyncResourceVersion(),
      handlers: this.#handlers.backlogs,
      coalesced: this.#handlers.coalesced,
    };
  }

  /**
   * Resolves when this thread's cache reaches the given version, as `SharedIndexInformer.waitForResourceVersion`.
   */
  async waitForResourceVersion(resourceVersion: string, options?: SignalOptions): Promise<void> {
    const signal = signalOf('waitForResourceVersion()', options);
    await this.#waiters.wait(resourceVersion, this.lastSyncResourceVersion(), signal);
  }

  /** Returns the resourceVersion of this thread's cache; empty before the first list. */
  lastSyncResourceVersion(): string {
    return this.#replica.live.resourceVersion;
  }

  /** Returns whether the informer has ended. The cache stays readable until the port is closed. */
  isStopped(): boolean {
    return this.#isStopped;
  }

  /** @internal Resolves the waits for a version or a sync that the last round reached. */
  merged(): void {
    this.#waiters.advance(this.lastSyncResourceVersion());
    this.#changed.changed();
  }

  /** @internal @throws ERR_KUBELOOM_STOPPED after the informer has ended */
  checkRunning(): void {
    if (this.#isStopped) throw this.#stoppedError('reconciles nothing more', this.#failure);
  }

  /** @internal Ends the informer. Handlers receive the pending notifications. */
  stop(failure: KubeloomError | undefined): Promise<void> {
    return (this.#stopped ??= this.#stop(failure));
  }

  async #stop(failure: KubeloomError | undefined): Promise<void> {
    // The present round may have merged the last records.
    this.merged();
    this.#isStopped = true;
    this.#failure = failure;
    this.#waiters.close();
    this.#changed.changed();
    this.#abortList();
    await this.#handlers.close(true);
  }

  /** Ends an incomplete list; the part that arrived is not readable. */
  #abortList(): void {
    this.#replica.abort();
    this.#requestRun();
  }

  #stoppedError(what: string, cause?: KubeloomError): KubeloomError {
    const message = `${this.name} has stopped and ${what}${cause ? `: ${cause.message}` : ''}`;
    return new KubeloomError('ERR_KUBELOOM_STOPPED', message, cause ? { cause } : {});
  }

  /** Accepts functions, and data about fields that the shards extract. */
  #admit(indexers: Indexers): void {
    checkIndexers(indexers);
    const missing = declaredFields(indexers).filter((path) => !this.#fields.includes(path));
    if (missing.length === 0) return;
    throw new KubeloomError(
      'ERR_KUBELOOM_STARTED',
      `${missing.join(', ')} is not a declared field: name it in \`fields\` or \`indexers\` on the main thread`,
    );
  }
}
