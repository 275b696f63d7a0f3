/**
 * The informer that users hold: it wires a reflector, the shards, a replica and the handlers of one
 * collection together, and owns their life: created, running, stopped; never started again.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { realClock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { HandlerRegistration, ResourceEventHandler } from '../processor/handler.ts';
import { InformerMerge } from '../processor/informer-merge.ts';
import { MainTransform } from '../processor/main-transform.ts';
import { SharedProcessor } from '../processor/shared-processor.ts';
import { DeltaKind } from '../record/delta.ts';
import type { ControlRecord } from '../record/delta.ts';
import { EntryOwner } from '../store/entry-owner.ts';
import { declaredFields } from '../store/index-functions.ts';
import type { Indexers } from '../store/index-functions.ts';
import { IndexSet } from '../store/index-values.ts';
import { ReplicaIndexer } from '../store/indexer.ts';
import type { Indexer, Store } from '../store/indexer.ts';
import { Replica } from '../store/replica.ts';
import { leaseThreads } from '../threads/default-threads.ts';
import type { ThreadsLease } from '../threads/default-threads.ts';
import type { PipelineClient } from '../threads/informer-threads.ts';
import type { ReflectorPhase, ReflectorSpec } from '../threads/protocol.ts';
import { connectionFor } from '../transport/credentials.ts';
import { Condition } from './condition.ts';
import { ErrorSink } from './errors.ts';
import { Handlers } from './handlers.ts';
import { reflectorSpec, resolveInformerOptions, shardSpec } from './options.ts';
import type { InformerOptions, ResolvedInformerOptions } from './options.ts';
import { splitTransform } from './transform.ts';
import type { Transform } from './transform.ts';

export interface HandlerOptions {
  /** Default: the informer's. 0: never. */
  readonly resyncPeriodMs?: number;
}

/** Called for every failed LIST or WATCH; the informer goes on by itself. */
export type WatchErrorHandler = (error: KubeloomError) => void;

type State =
  | { readonly kind: 'created' }
  | { readonly kind: 'running'; readonly run: Promise<void> }
  | { readonly kind: 'stopped' };

/** Slabs emptied between two batches of the merge: enough for full-rate churn at half dead bytes. */
const COMPACTIONS_PER_TURN = 2;

export class SharedIndexInformer<T = unknown> {
  readonly resource: ResourceRef;
  /** `pods (namespace web)`: how errors name this informer. */
  readonly name: string;
  readonly #kubeConfig: KubeConfig;
  readonly #options: InformerOptions<T>;
  readonly #resolved: ResolvedInformerOptions;
  readonly #reflectorSpec: Omit<ReflectorSpec, 'recordBytesMax'>;
  readonly #errors: ErrorSink;
  readonly #lease: ThreadsLease;
  /** Declared paths; those of indexers that are added before start join them. */
  readonly #fields: string[];
  readonly #indexes: IndexSet;
  readonly #replica: Replica;
  readonly #indexer: ReplicaIndexer<T>;
  readonly #owner: EntryOwner;
  readonly #handlers: Handlers;
  readonly #changed: Condition = new Condition();
  readonly #stop: AbortController = new AbortController();
  #transform: Transform<T> | undefined;
  #watchErrorHandler: WatchErrorHandler | undefined;
  #state: State = { kind: 'created' };
  #phase: ReflectorPhase = 'connecting';
  #lastError: KubeloomError | undefined;
  #failure: KubeloomError | undefined;

  constructor(kubeConfig: KubeConfig, resource: ResourceRef, options: InformerOptions<T> = {}) {
    this.resource = resource;
    this.name = `${resource.resource} (${options.namespace ? `namespace ${options.namespace}` : 'all namespaces'})`;
    this.#kubeConfig = kubeConfig;
    this.#options = options;
    this.#transform = options.transform;
    this.#resolved = resolveInformerOptions(options);
    this.#reflectorSpec = reflectorSpec(resource, options);
    this.#errors = new ErrorSink(options.onError, realClock);
    this.#lease = leaseThreads(options.threads);
    const { threads } = this.#lease;
    const { fields, lifetimes, resyncPeriodMs } = this.#resolved;
    const isStrict = lifetimes === 'strict';
    const processor = new SharedProcessor();
    this.#fields = [...fields];
    this.#indexes = new IndexSet((options.indexers ?? {}) as Indexers, fields.length, this.#reportObject);
    this.#replica = new Replica(threads.shards, this.#indexes, processor);
    this.#indexer = new ReplicaIndexer<T>(this.#replica, this.#indexes, this.#admitIndexers);
    this.#owner = new EntryOwner({
      kind: resource.kind,
      fields: this.#fields,
      lifetimes,
      decodedCache: threads.decodedCache,
      recordBytesMax: threads.options.recordBytesMax,
    });
    this.#handlers = new Handlers({
      threads,
      replica: this.#replica,
      processor,
      isStrict,
      resyncPeriodMs,
      onError: this.#reportHandler,
      onProgress: () => this.#changed.changed(),
    });
  }

  /**
   * Registers a handler, before or after start. A late one gets the cache as its initial list, at an exact
   * cut. The same handler may be registered several times.
   *
   * @throws ERR_KUBELOOM_STOPPED after the informer stopped
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    this.#wantNotStopped('handler was not added to shared informer because it has stopped already');
    return this.#handlers.add(handler, options.resyncPeriodMs);
  }

  /** Stops telling the handler. What it has not been told is dropped; a call in progress finishes. */
  removeEventHandler(registration: HandlerRegistration): void {
    this.#handlers.remove(registration);
  }

  /**
   * Lists and watches until `signal` is aborted. Resolves when everything has stopped and the handler calls
   * in progress have returned; rejects only when a module cannot be loaded or the threads themselves fail.
   */
  run(signal?: AbortSignal): Promise<void> {
    if (this.#state.kind !== 'created') {
      return Promise.reject(
        new KubeloomError('ERR_KUBELOOM_STARTED', `${this.name} was started already: an informer runs once`),
      );
    }
    const signals = signal ? [signal, this.#stop.signal] : [this.#stop.signal];
    const run = this.#run(AbortSignal.any(signals));
    this.#state = { kind: 'running', run };
    return run;
  }

  /** The first list has been applied to the cache. Never goes back to false. */
  hasSynced(): boolean {
    return this.#replica.hasSynced;
  }

  /**
   * Resolves when the informer has synced, or with a registration when its initial list was delivered too.
   * Rejects with the signal's reason, or with what ended the informer.
   */
  async waitForSync(signal?: AbortSignal, registration?: HandlerRegistration): Promise<void> {
    const isSynced = (): boolean => (registration ? registration.hasSynced() : this.hasSynced());
    await this.#changed.until(() => isSynced() || this.isStopped(), signal);
    if (isSynced()) return;
    throw this.#failure ?? new KubeloomError('ERR_KUBELOOM_STOPPED', `${this.name} stopped before it synced`);
  }

  /** The last error of LIST, WATCH or decoding; undefined when nothing went wrong yet. */
  get lastError(): KubeloomError | undefined {
    return this.#lastError;
  }

  /** What the reflector is doing. */
  get phase(): ReflectorPhase {
    return this.#phase;
  }

  /** The server's version that the cache reflects; empty before the first list. */
  lastSyncResourceVersion(): string {
    return this.#replica.live.resourceVersion;
  }

  getStore(): Store<T> {
    return this.#indexer;
  }

  getIndexer(): Indexer<T> {
    return this.#indexer;
  }

  /**
   * Before or after start; what is cached is indexed before this returns. After start an index can only use
   * declared fields and plain functions: the shards extract what was known when they started.
   */
  addIndexers(indexers: Indexers<T>): void {
    this.#indexer.addIndexers(indexers);
  }

  setTransform(transform: Transform<T>): void {
    this.#wantNotStarted();
    this.#transform = transform;
  }

  setWatchErrorHandler(handler: WatchErrorHandler): void {
    this.#wantNotStarted();
    this.#watchErrorHandler = handler;
  }

  isStopped(): boolean {
    return this.#state.kind === 'stopped';
  }

  /** Stops the informer, running or not, and waits until everything of it has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    if (this.#state.kind === 'running') await this.#state.run;
    if (this.#state.kind === 'created') await this.#close(undefined);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { threads } = this.#lease;
    threads.drain.addUpkeep(this.#upkeep);
    let informer: number | undefined;
    try {
      informer = await threads.attach(this.#client());
      signal.addEventListener('abort', () => this.#changed.changed(), { once: true });
      await this.#changed.until(() => signal.aborted || this.#failure !== undefined);
    } catch (error) {
      this.#failure ??= error as KubeloomError;
    }
    await this.#close(informer);
    if (this.#failure) throw this.#failure;
  }

  async #close(informer: number | undefined): Promise<void> {
    const { threads } = this.#lease;
    this.#state = { kind: 'stopped' };
    this.#phase = 'stopped';
    this.#changed.changed();
    if (informer !== undefined) await threads.detach(informer);
    await this.#handlers.close();
    threads.drain.removeUpkeep(this.#upkeep);
    await this.#lease.release();
  }

  #client(): PipelineClient {
    const { threads } = this.#lease;
    const fields = this.#fields;
    this.#indexes.fieldCount = fields.length;
    const { plain } = splitTransform(this.#transform);
    return {
      merge: new InformerMerge({
        replica: this.#replica,
        owner: this.#owner,
        transform: plain ? new MainTransform(plain, fields, this.#reportObject) : undefined,
        onError: this.#reportObject,
        onControl: this.#controlled,
      }),
      shardSpec: shardSpec(this.#options.codec ?? 'json', fields, this.#indexes.indexers, this.#transform),
      reflectorSpec: { ...this.#reflectorSpec, recordBytesMax: threads.options.recordBytesMax },
      prepare: async (_verb, query) => ({ connection: await connectionFor(this.#kubeConfig), query }),
      phase: (phase) => {
        this.#phase = phase;
      },
      error: (_during, error) => {
        this.#lastError = error;
        this.#errors.report(error, { informer: this.name });
        this.#callWatchErrorHandler(error);
      },
      failed: (error) => {
        this.#failure = error;
        this.#errors.report(error, { informer: this.name });
        this.#changed.changed();
      },
    };
  }

  /** A handler that throws must not stop the messages that brought its error. */
  #callWatchErrorHandler(error: KubeloomError): void {
    try {
      this.#watchErrorHandler?.(error);
    } catch (cause) {
      const message = `the watch error handler threw: ${String(cause)}`;
      this.#errors.report(new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', message, { cause }), {
        informer: this.name,
      });
    }
  }

  readonly #admitIndexers = (indexers: Indexers<T>): void => {
    this.#wantNotStopped(`${this.name} has stopped: indexers cannot be added any more`);
    const missing = declaredFields(indexers as Indexers).filter((path) => !this.#fields.includes(path));
    if (this.#state.kind === 'created') {
      this.#fields.push(...new Set(missing));
      return;
    }
    const modules = Object.values(indexers).filter(
      (indexer) => typeof indexer === 'object' && indexer.index === 'module',
    );
    if (missing.length === 0 && modules.length === 0) return;
    const what =
      missing.length > 0 ? `${missing.join(', ')} is not a declared field` : 'a module cannot be loaded';
    throw new KubeloomError(
      'ERR_KUBELOOM_INDEX_TOO_LATE',
      `${what}, and ${this.name} is running: name it in \`fields\` or \`indexers\` when the informer is made`,
    );
  };

  readonly #controlled = (record: ControlRecord): void => {
    if (record.kind === DeltaKind.ReplaceEnd) {
      this.#handlers.startResync();
      this.#changed.changed();
    }
    if (record.kind === DeltaKind.Detach) this.#lease.threads.confirmDetached(record.informer);
  };

  readonly #upkeep = (): boolean => {
    const { slabs } = this.#owner;
    for (let count = 0; count < COMPACTIONS_PER_TURN && slabs.hasCompaction; count++) slabs.compact();
    return this.#replica.dispose() || slabs.hasCompaction;
  };

  readonly #reportObject = (error: KubeloomError, key: string): void => {
    this.#errors.report(error, { informer: this.name, key });
  };

  readonly #reportHandler = (thrown: unknown, key: string, registeredAt: string): void => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.#errors.report(error, {
      informer: this.name,
      key,
      ...(registeredAt ? { handler: registeredAt } : {}),
    });
  };

  #wantNotStarted(): void {
    if (this.#state.kind !== 'created') {
      throw new KubeloomError('ERR_KUBELOOM_STARTED', 'informer has already started');
    }
  }

  #wantNotStopped(message: string): void {
    if (this.#state.kind === 'stopped') throw new KubeloomError('ERR_KUBELOOM_STOPPED', message);
  }
}
