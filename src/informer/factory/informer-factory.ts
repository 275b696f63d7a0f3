/**
 * Base of all factories: informers by group, version and resource. The first request creates an informer, later
 * requests share it. The factory starts, awaits and stops the informers together.
 */
import { setMaxListeners } from 'node:events';
import { KubeloomError } from '../../base/errors.ts';
import type { ShutDownOptions } from '../handlers.ts';
import { Lister } from '../lister.ts';
import type { InformerOptions, InformerView } from '../informer-options.ts';
import { SharedIndexInformer } from '../shared-index-informer.ts';
import { WAIT_CHECKS, waitForCheckers } from '../wait-for.ts';
import type { WaitOptions } from '../wait-for.ts';
import type { ListerWatcher } from '../../kube/lister-watcher.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { ServerSource } from '../../kube/server-source.ts';
import type { KubeObject, PartialObjectMetadata } from '../../kube/wire.ts';
import { checkAgrees, checkQuery, keyOfResource, groupResource } from './resource-query.ts';
import type { ResourceQuery, ResourceQueryOf, GroupVersionResource } from './resource-query.ts';
import { INFORMER_CHECKS, resolveInformerOptions } from '../informer-options.ts';
import { assertServerSource } from '../../kube/server-source.ts';
import { invalidOption, text, checkNumber, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { signalOfRun } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';

/** Function that returns the ListerWatcher of a resource, instead of a server. @param namespace '' for all */
export type ListerWatcherSource = (resource: ResourceRef, namespace: string) => ListerWatcher<unknown>;

/** Source from which a factory's informers list and watch. */
export type FactorySource = ServerSource | ListerWatcherSource;

/**
 * Resync periods in ms by resource: `deployments.apps` or `pods` for all versions. A Map may also contain keys of
 * group, version and resource; such a key takes precedence.
 */
export type CustomResync =
  | ReadonlyMap<string | GroupVersionResource, number>
  | Readonly<Record<string, number>>;

/** Options of all the factory's informers. Cluster-scoped resources ignore the namespace. */
export interface FactoryOptions extends Omit<
  InformerOptions<KubeObject>,
  'indexers' | 'view' | 'resyncPeriodMs'
> {
  /** Name in messages. Default: the name of the factory's class. */
  readonly name?: string;
  /** Resync period of handlers that do not request a period; 0 (default): never. */
  readonly defaultResyncMs?: number;
  /** Resync periods of single resources, which replace the default. */
  readonly customResync?: CustomResync;
}

const { indexers: _indexers, view: _view, resyncPeriodMs, ...SHARED_CHECKS } = INFORMER_CHECKS;
const CHECKS: OptionChecks<FactoryOptions> = {
  ...SHARED_CHECKS,
  name: text,
  defaultResyncMs: resyncPeriodMs,
  customResync: (name, value) => {
    if (typeof value !== 'object' || value === null)
      invalidOption(name, value, 'periods by resource, or a Map of them');
  },
};

function periodsOf(customResync: CustomResync): ReadonlyMap<string, number> {
  const entries = customResync instanceof Map ? [...customResync] : Object.entries(customResync);
  const periods = new Map<string, number>();
  for (const [resource, periodMs] of entries as Iterable<[string | GroupVersionResource, number]>) {
    const key = typeof resource === 'string' ? resource : keyOfResource(resource);
    checkNumber(`customResync of ${key}`, periodMs, 0, Number.MAX_SAFE_INTEGER);
    if (periods.has(key)) {
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `customResync has ${key} twice`);
    }
    periods.set(key, periodMs);
  }
  return periods;
}

/** An informer and the lister of the informer's cache. */
export interface GenericInformer<T> {
  /** The informer that the factory shares. */
  readonly informer: SharedIndexInformer<T>;
  /** Lister of the cache. Reads throw ERR_KUBELOOM_NOT_STARTED if the informer was never started. */
  readonly lister: Lister<T>;
}

/** Function that creates an informer for the factory, with the options of the factory and of the informer. */
export type NewInformer<T> = (
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceRef,
  options: InformerOptions<T>,
) => SharedIndexInformer<T>;

function newInformer<T>(...args: Parameters<NewInformer<T>>): SharedIndexInformer<T> {
  const [source, resource, options] = args;
  return new SharedIndexInformer<T>(source, resource, options);
}

interface Held {
  readonly informer: SharedIndexInformer<KubeObject>;
  readonly lister: Lister<KubeObject>;
  isStarted: boolean;
}

/** The type of stored objects of type `T`. */
export type ViewOf<T, V extends InformerView> = V extends 'metadata' ? PartialObjectMetadata : T;

/** Base class of the factories. @typeParam V the part of objects that their informers keep */
export abstract class InformerFactory<V extends InformerView> implements AsyncDisposable {
  /** Name in messages: the option `name`, or the name of the class. */
  readonly name: string;
  readonly #source: FactorySource;
  /** Options of the informers, without the namespace. */
  readonly #options: InformerOptions<KubeObject>;
  readonly #defaultResyncMs: number;
  readonly #customResyncMs: ReadonlyMap<string, number>;
  readonly #namespace: string;
  readonly #view: V;
  /** Informers in the order of the first requests. */
  readonly #held: Map<string, Held> = new Map();
  #isShutDown = false;

  protected constructor(source: FactorySource, options: FactoryOptions, view: V) {
    if (typeof source !== 'function') assertServerSource(source);
    checkOptions('options of a factory', options, CHECKS);
    const { name, defaultResyncMs = 0, customResync = {}, ...all } = options;
    resolveInformerOptions(all);
    const { namespace = '', ...ofInformers } = all;
    this.name = name ?? this.constructor.name;
    this.#source = source;
    this.#options = ofInformers;
    this.#defaultResyncMs = defaultResyncMs;
    this.#customResyncMs = periodsOf(customResync);
    this.#namespace = namespace;
    this.#view = view;
  }

  /**
   * Returns the informer of a resource and the lister; every request returns the same informer and lister.
   * `resources.core.v1.pods` carries the type of the objects; for other resources the type is the caller's claim.
   *
   * @throws ERR_KUBELOOM_OPTION if kind or scope do not match the resource
   * @throws ERR_KUBELOOM_STOPPED if the informer does not exist and the factory was shut down
   */
  forResource<T = KubeObject>(resource: ResourceQueryOf<T>): GenericInformer<ViewOf<T, V>> {
    const held = this.#find(resource) ?? this.#make(resource, newInformer);
    return { informer: held.informer, lister: held.lister } as unknown as GenericInformer<ViewOf<T, V>>;
  }

  /**
   * Returns the informer of a resource. The first request may create the informer with `make`, for example with
   * indexers.
   */
  informerFor<T = KubeObject>(
    resource: ResourceQueryOf<T>,
    make: NewInformer<ViewOf<T, V>> = newInformer,
  ): SharedIndexInformer<ViewOf<T, V>> {
    const held = this.#find(resource) ?? this.#make(resource, make as unknown as NewInformer<KubeObject>);
    return held.informer as unknown as SharedIndexInformer<ViewOf<T, V>>;
  }

  /** All informers of this factory, started or not. */
  get informers(): readonly SharedIndexInformer<KubeObject>[] {
    return Array.from(this.#held.values(), ({ informer }) => informer);
  }

  /**
   * Starts the informers that are not started; informers requested later need another call. They end with the signal. If
   * an informer ends for another cause (a module that cannot be loaded, dead threads), the error goes to `onError` and
   * rejects `waitForCacheSync`. No effect after shutdown, as in client-go.
   */
  start(options?: SignalOptions): void {
    const signal = signalOfRun('start()', options);
    if (this.#isShutDown) return;
    for (const held of this.#held.values()) {
      held.isStarted = true;
      // Skips informers that the caller started; `waitForCacheSync` still waits for them. `onError` reports failures.
      if (!held.informer.hasStarted()) held.informer.run(signal ? { signal } : {}).catch(() => {});
    }
  }

  /**
   * Resolves when all informers started so far are synced; at once if there are none. Does not wait for an informer
   * that was not started, as in client-go; such an informer reports ERR_KUBELOOM_NOT_STARTED.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED) when the signal is aborted or an informer ends first; the `cause`
   *   is the signal's reason or the error that ended the informer
   */
  async waitForCacheSync(options: WaitOptions = {}): Promise<void> {
    checkOptions('options of waitForCacheSync()', options, WAIT_CHECKS);
    const all = [...this.#held.values()];
    const started = all.filter(({ isStarted }) => isStarted);
    if (!this.#isShutDown)
      for (const { informer, isStarted } of all) if (!isStarted) informer.reportNotStarted();
    await waitForCheckers(
      this.name,
      options,
      started.map(({ informer }) => informer),
    );
  }

  /**
   * Stops all informers for good, even if they were never started. Resolves when all parts have ended, including the
   * calls of handlers. With `drain`, handlers first receive all pending notifications. A second call also waits.
   *
   * @throws ERR_KUBELOOM_STILL_RUNNING when `signal` is aborted first, naming the handlers that still run
   */
  async shutdown(options: ShutDownOptions = {}): Promise<void> {
    this.#isShutDown = true;
    const { signal, ...how } = options;
    const given = signal ? { ...how, signal: forMany(signal) } : how;
    const ends = await Promise.allSettled(this.informers.map((informer) => informer.shutdown(given)));
    const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
    if (reasons.length === 0) return;
    throw new KubeloomError(
      'ERR_KUBELOOM_STILL_RUNNING',
      `${this.name}: ${reasons.map(({ message }) => message).join('; ')}`,
      { cause: reasons[0]?.cause },
    );
  }

  /** Calls `shutdown()`, which drops pending notifications. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  /** Returns the resource of a query, with kind and scope. */
  protected abstract resolve(query: ResourceQuery, namespace: string): ResourceRef;

  /** Returns whether the informer exists. */
  protected holds(query: ResourceQuery): boolean {
    return this.#held.has(keyOfResource(query));
  }

  #find(query: ResourceQuery): Held | undefined {
    checkQuery(query);
    const held = this.#held.get(keyOfResource(query));
    if (held) checkAgrees(query, held.informer.resource);
    return held;
  }

  #make(query: ResourceQuery, make: NewInformer<KubeObject>): Held {
    const resource = this.resolve(query, this.#namespace);
    checkAgrees(query, resource);
    if (this.#isShutDown) {
      throw new KubeloomError(
        'ERR_KUBELOOM_STOPPED',
        `${this.name} was shut down: an informer of ${resource.resource} could never be started`,
      );
    }
    const informer = this.#informer(resource, make);
    const lister = new Lister(informer.getIndexer(), resource);
    const held: Held = { informer, lister, isStarted: false };
    this.#held.set(keyOfResource(resource), held);
    return held;
  }

  #informer(resource: ResourceRef, make: NewInformer<KubeObject>): SharedIndexInformer<KubeObject> {
    const namespace = resource.isNamespaced ? this.#namespace : '';
    const periods = this.#customResyncMs;
    const custom = periods.get(keyOfResource(resource)) ?? periods.get(groupResource(resource));
    const resyncPeriodMs = custom ?? this.#defaultResyncMs;
    const options: InformerOptions<KubeObject> = { ...this.#options, resyncPeriodMs, view: this.#view };
    if (typeof this.#source !== 'function') {
      return make(this.#source, resource, namespace === '' ? options : { ...options, namespace });
    }
    const listerWatcher = this.#source(resource, namespace);
    return make(listerWatcher as ListerWatcher<KubeObject>, resource, options);
  }
}

/** Returns a copy of a signal that any number of informers may listen to without a warning. */
function forMany(signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal]);
  setMaxListeners(0, own);
  return own;
}
