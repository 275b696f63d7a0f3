/** A controller of a manager: fills the caches, then turns changes into keys and reconciles them. */
import type { Clock } from '../base/clock.ts';
import { loggerWith } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import { KubeloomError, assert, firstLineOf } from '../base/errors.ts';
import { callback, invalidOption, checkOptions } from '../base/option-checks.ts';
import { escapeControls } from '../base/printable.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import type { ShardFilter } from '../kube/shard-filter.ts';
import { PriorityQueue } from '../workqueue/priority-queue.ts';
import type { QueueFailure } from '../workqueue/rate-limiting-queue.ts';
import { runWorkers } from '../workqueue/run-workers.ts';
import { waitFor } from '../index.ts';
import type { HandlerRegistration, KubeObject, ResourceRef } from '../index.ts';
import type { InformerHandle } from '../informer/map/informer-handle.ts';
import type { InformersMap } from '../informer/map/informers-map.ts';
import type { ReconcileResult } from '../workqueue/reconcile-result.ts';
import { awaitedResource } from './awaited-resource.ts';
import { ControllerThreads } from './controller-threads.ts';
import type { ObjectClient } from './object-client.ts';
import { OWNS_CHECKS, WATCH_CHECKS } from './controller-options.ts';
import type {
  ControllerBuilder,
  ControllerOptions,
  MapToKeys,
  OwnsOptions,
  Reconcile,
  WatchOptions,
} from './controller-options.ts';
import type { Predicate } from './predicates.ts';
import { Reconciliation } from './reconciliation.ts';
import type { ReconciliationParts } from './reconciliation.ts';
import {
  controllerKeys,
  feed,
  keysOfPartition,
  mappedKeys,
  ownerKeys,
  ownKey,
  queueingHandler,
} from './queueing.ts';
import type { KeysOf, Stream } from './queueing.ts';

/** A kind whose changes queue keys. Only the caller of the builder knows the types of the objects. */
interface Source {
  readonly kind: KindLike;
  readonly predicate: Predicate<KubeObject> | undefined;
  /** @param owner kind of the controller */
  readonly keysFor: (owner: ResourceRef, cache: InformersMap) => KeysOf<KubeObject>;
}

/** @internal */
export interface ControllerParts {
  readonly cache: InformersMap;
  readonly client: ObjectClient;
  readonly clock: Clock;
  readonly log?: Logger | undefined;
  /** The partition whose keys are reconciled. Default: all keys. */
  readonly filter?: ShardFilter;
  /** Called once for a controller, with the first key of another partition. */
  readonly foreign?: (error: KubeloomError) => void;
  /** Queues of the controllers that end together, if their work may end after the stop. */
  readonly draining: Set<PriorityQueue<string>>;
}

type Followed = readonly (readonly [Source, InformerHandle<KubeObject>])[];

/** The figures of a work queue, for `settled` of kubeloom/testing. */
export interface QueueFigures {
  /** Name of the controller. */
  readonly name: string;
  /** Number of keys that wait for a worker; 1 until the initial lists are queued. */
  readonly length: number;
  /** Number of keys in reconciliation. */
  readonly inWork: number;
  /** Number of failed keys that wait for their next attempt. */
  readonly retrying: number;
  /** The latest failure of a reconciliation, until the key succeeds or is given up. */
  readonly lastFailure?: QueueFailure | undefined;
}

type State =
  | { readonly kind: 'declared'; readonly reconcile: Reconcile | URL | undefined }
  | { readonly kind: 'started'; readonly reconcile: Reconcile | URL };

/** @internal A controller, from declaration to end. */
export class ManagedController implements ControllerBuilder {
  readonly name: string;
  readonly needsLeadership: boolean;
  readonly #options: ControllerOptions<KubeObject>;
  readonly #parts: ControllerParts;
  readonly #sources: Source[];
  readonly #streams: Stream[] = [];
  #state: State = { kind: 'declared', reconcile: undefined };
  #followed: Followed = [];
  #hasReportedForeign = false;
  /** The filled caches, even if the caches of other kinds are not filled yet. */
  readonly #handles: InformerHandle<KubeObject>[] = [];
  /** undefined: the manager writes no line. */
  readonly #log: Logger | undefined;
  readonly #inProgress: Map<string, Reconciliation> = new Map();
  /** Undefined until the keys of the initial lists are in the queue. */
  #queue: QueueFigures | undefined;

  constructor(kind: KindLike, name: string, options: ControllerOptions<KubeObject>, parts: ControllerParts) {
    this.name = name;
    this.needsLeadership = options.needsLeadership ?? true;
    this.#options = options;
    this.#parts = parts;
    this.#log = parts.log && loggerWith(parts.log, { controller: name });
    this.#sources = [{ kind, predicate: options.predicate, keysFor: () => ownKey }];
  }

  /** Keys that are being reconciled. */
  get inWork(): readonly string[] {
    return [...this.#inProgress.keys()];
  }

  /** The figures of the work queue. Before the controller runs they report waiting keys. */
  get queue(): QueueFigures {
    const isRunning = this.#state.kind === 'started';
    const name = isRunning ? this.name : `${this.name} (the manager does not run)`;
    return this.#queue ?? { name, length: 1, inWork: 0, retrying: 0 };
  }

  owns<T>(kind: KindLike, options: OwnsOptions<T> = {}): this {
    checkOptions('options of owns', options, OWNS_CHECKS);
    return this.#watch(kind, options, options.everyOwner ? (owner) => ownerKeys(owner) : controllerKeys);
  }

  from<E>(stream: AsyncIterable<E>, map: (event: E) => readonly string[]): this {
    this.#checkDeclared();
    if (typeof Object(stream)[Symbol.asyncIterator] !== 'function')
      invalidOption('stream', stream, 'an async iterable');
    callback('map', map);
    if (this.#parts.filter) {
      const message = `controller ${this.name} of a partition follows a stream, which cannot be partitioned: use a Manager`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    this.#streams.push({ stream, map: map as (event: unknown) => readonly string[] });
    return this;
  }

  watches<T>(kind: KindLike, map: MapToKeys<T>, options: WatchOptions<T> = {}): this {
    checkOptions('options of watches', options, WATCH_CHECKS);
    callback('map', map);
    const mapTo = map as MapToKeys<KubeObject>;
    return this.#watch(kind, options, (owner, cache) => mappedKeys(owner, (object) => mapTo(object, cache)));
  }

  reconcile(reconcile: Reconcile | URL): void {
    this.#checkDeclared();
    if (!(reconcile instanceof URL)) callback('reconcile', reconcile);
    else if (this.#parts.filter) {
      const message = `controller ${this.name} of a partition reconciles with the partition's own client: give a function, not a module`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    this.#state = { kind: 'declared', reconcile };
  }

  /** Ends the declaration. @throws ERR_KUBELOOM_OPTION when `reconcile` is missing */
  start(): void {
    const { reconcile } = this.#state;
    if (!reconcile) {
      const message = `controller ${this.name} lacks a function or module: call reconcile() of the declaration`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    this.#state = { kind: 'started', reconcile };
  }

  /**
   * Starts the informers of all kinds, and resolves when their caches are filled.
   *
   * @param failed called when an informer ends by itself
   * @throws NotSyncedError when the signal is aborted first; the errors of `informerFor`
   */
  async fill(signal: AbortSignal, failed: (error: unknown) => void): Promise<void> {
    const { cache, clock } = this.#parts;
    this.#followed = await Promise.all(
      this.#sources.map(async (source) => {
        const resource = await awaitedResource(source.kind, cache, signal, clock);
        const handle = await cache.informerFor(resource, { signal });
        this.#handles.push(handle);
        void handle.failed.then(failed);
        return [source, handle] as const;
      }),
    );
    for (const [, { resource }] of this.#followed)
      this.#checkDivisible(this.#followed[0]?.[1].resource, resource);
  }

  /** The filled caches of the controller's kinds. */
  get handles(): readonly InformerHandle<KubeObject>[] {
    return this.#handles;
  }

  /**
   * Queues all objects, at low priority, and reconciles until the signal is aborted. Resolves when the reconciliations
   * in progress have ended. If `workSignal` is not aborted, the keys of deleted objects are also reconciled, until no key
   * of any draining controller waits or is in work. A deletion is lost only if that last reconciliation fails, or if the deletion comes between that
   * end and the first list of the next owner.
   *
   * @param workSignal signal of the reconciliations
   * @param fence ends the writes of the client; undefined without an election
   */
  async run(signal: AbortSignal, workSignal: AbortSignal = signal, fence?: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const { concurrency = 1, rateLimiter } = this.#options;
    assert(this.#state.kind === 'started', 'a controller runs after its start');
    const { reconcile: work } = this.#state;
    const threads =
      work instanceof URL ? new ControllerThreads(work, this.handles, this.#options.concurrency) : undefined;
    const count = threads?.threads ?? concurrency;
    this.#log?.info({ workers: count }, 'starting controller');
    const limited = rateLimiter ? { rateLimiter } : {};
    const queue = new PriorityQueue<string>({ name: this.name, clock, ...limited });
    const { draining } = this.#parts;
    if (workSignal !== signal) draining.add(queue);
    const registrations = this.#followed.map(([source, handle]) => this.#register(source, handle, queue));
    try {
      const initialLists = registrations.map(({ registration }) => registration.hasSyncedChecker);
      await waitFor(`controller ${this.name}`, { signal, clock }, ...initialLists);
      this.#queue = queue;
      const hold = (key: string): Promise<void> | undefined => {
        const reconciliation = this.#inProgress.get(key);
        this.#inProgress.delete(key);
        return reconciliation?.writesArrived();
      };
      const options = { signal, clock, hold, ...this.#reports() };
      const parts: ReconciliationParts = {
        ...this.#parts,
        client: fence ? this.#parts.client.until(fence) : this.#parts.client,
        controller: this.name,
        handles: this.#handles,
        timeoutMs: this.#options.timeoutMs,
        stop: signal,
        work: workSignal,
      };
      const call = threads?.reconcile ?? (work as Reconcile);
      const reconcile = (key: string): Promise<ReconcileResult> => this.#reconcile(key, call, parts);
      await Promise.all([
        runWorkers(queue, count, reconcile, options),
        ...this.#streams.map((stream) => feed(stream, this.#own.resource, queue, signal)),
      ]);
      if (workSignal.aborted) return;
      // Another owner finds every existing object in the first list, but no deleted object.
      queue.ripenAll();
      shutDownIdle(draining);
      await runWorkers(queue, count, (key) => (this.#isGone(key) ? reconcile(key) : undefined), {
        ...options,
        signal: workSignal,
        hold: (key) => {
          shutDownIdle(draining, queue);
          return hold(key);
        },
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      queue.shutDown();
      draining.delete(queue);
      if (signal.aborted) shutDownIdle(draining);
      this.#log?.info('controller has stopped');
      await threads?.close();
      await Promise.all(
        registrations.map(({ handle, registration }) => handle.removeEventHandler(registration)),
      );
    }
  }

  /** The cache of the controller's kind. */
  get #own(): InformerHandle<KubeObject> {
    const [own] = this.#followed;
    assert(own !== undefined, 'the caches are filled before the controller runs');
    return own[1];
  }

  #isGone(key: string): boolean {
    return this.#own.get(key) === undefined;
  }

  #register(
    { predicate, keysFor }: Source,
    handle: InformerHandle<KubeObject>,
    queue: PriorityQueue<string>,
  ): { readonly handle: InformerHandle<KubeObject>; readonly registration: HandlerRegistration } {
    const { cache, filter } = this.#parts;
    const keysOf = keysFor(this.#own.resource, cache);
    const foreign = (key: string): void => this.#reportForeign(key);
    const ofPartition = filter ? keysOfPartition(filter, keysOf, foreign) : keysOf;
    const handler = queueingHandler(queue, ofPartition, predicate);
    return { handle, registration: handle.addEventHandler(handler, { name: `controller ${this.name}` }) };
  }

  #reportForeign(key: string): void {
    if (this.#hasReportedForeign) return;
    this.#hasReportedForeign = true;
    const message =
      `controller ${this.name}: map() returned ${key}, which is in another partition than the object, and is dropped: ` +
      'return keys of the same namespace';
    this.#parts.foreign?.(new KubeloomError('ERR_KUBELOOM_PARTITION', message));
  }

  /**
   * Refuses an owned kind that partitions cannot divide: the namespaced objects of a cluster-scoped controller belong
   * to all partitions.
   */
  #checkDivisible(own: KindLike | undefined, kind: KindLike): void {
    if (this.#parts.filter?.key !== 'namespace' || !own) return;
    if (!isKnownAs(own, false) || !isKnownAs(kind, true)) return;
    const message =
      `controller ${this.name} is of a cluster-scoped kind, and follows a namespaced kind, whose objects are in other partitions: ` +
      'run it in a separate Manager, with a leader elector';
    throw new KubeloomError('ERR_KUBELOOM_PARTITION', message);
  }

  #reconcile(key: string, call: Reconcile, parts: ReconciliationParts): Promise<ReconcileResult> {
    const reconciliation = new Reconciliation(key, parts);
    this.#inProgress.set(key, reconciliation);
    return reconciliation.run(call);
  }

  /** Returns the listener of the workers; without log and `onError`, the workers emit process warnings. */
  #reports(): Pick<ControllerOptions<KubeObject>, 'onError'> {
    const { onError } = this.#options;
    const log = this.#log;
    if (!log) return onError ? { onError } : {};
    return {
      onError: (error, key, retries) => {
        const own = this.#inProgress.get(key)?.log ?? loggerWith(log, { key });
        const code = error instanceof KubeloomError ? { code: error.code } : {};
        const message = `reconciling failed: ${escapeControls(firstLineOf(error))}`;
        own.error({ retries, ...code, err: error }, message);
        return onError?.(error, key, retries);
      },
    };
  }

  #watch<T>(kind: KindLike, { predicate }: WatchOptions<T>, keysFor: Source['keysFor']): this {
    this.#checkDeclared();
    if (this.#parts.filter?.key === 'uid') {
      const message = `controller ${this.name} follows a second kind, whose uids lead to other partitions: use the key 'namespace'`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    this.#checkDivisible(this.#sources[0]?.kind, kind);
    this.#sources.push({ kind, predicate: predicate as Predicate<KubeObject> | undefined, keysFor });
    return this;
  }

  #checkDeclared(): void {
    if (this.#state.kind === 'declared') return;
    throw new KubeloomError(
      'ERR_KUBELOOM_STARTED',
      `controller ${this.name} has started: declare it before the start`,
    );
  }
}

/** Shuts queues down when no key waits or is in work in any. @param ending queue whose last key ends now */
function shutDownIdle(queues: ReadonlySet<PriorityQueue<string>>, ending?: PriorityQueue<string>): void {
  const isIdle = [...queues].every((queue) => queue.length + queue.inWork === (queue === ending ? 1 : 0));
  if (isIdle) for (const queue of queues) queue.shutDown();
}

/** Returns whether the scope of a kind is known before discovery, and is the given scope. */
function isKnownAs(kind: KindLike, isNamespaced: boolean): boolean {
  return typeof kind === 'object' && 'isNamespaced' in kind && kind.isNamespaced === isNamespaced;
}
