/**
 * What all factories are: informers by group, version and resource, made when they are first asked for, shared by
 * everybody who asks again, and started, waited for and stopped together.
 */
import { setMaxListeners } from 'node:events';
import type { KubeConfig } from '@kubernetes/client-node';
import { KubeloomError } from '../errors.ts';
import type { ShutDownOptions } from '../informer/handlers.ts';
import { Lister } from '../informer/lister.ts';
import type { InformerOptions } from '../informer/options.ts';
import { SharedIndexInformer } from '../informer/shared-index-informer.ts';
import { waitFor } from '../informer/wait-for.ts';
import type { WaitOptions } from '../informer/wait-for.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { KubeObject } from '../kube/wire.ts';
import { splitOptions } from './options.ts';
import type { FactoryOptions, FactorySource, SplitOptions } from './options.ts';
import { checkAgrees, checkWish, keyOfResource } from './resource-wish.ts';
import type { ResourceWish } from './resource-wish.ts';

/** An informer with the reading side of its cache. */
export interface GenericInformer<T> {
  readonly informer: SharedIndexInformer<T>;
  readonly lister: Lister<T>;
}

/** Makes an informer in the factory's place, with the factory's options and more. */
export type NewInformer<T> = (
  source: KubeConfig | ListerWatcher<T>,
  resource: ResourceRef,
  options: InformerOptions<T>,
) => SharedIndexInformer<T>;

interface Held {
  readonly resource: ResourceRef;
  readonly informer: SharedIndexInformer<KubeObject>;
  readonly lister: Lister<KubeObject>;
  isStarted: boolean;
}

/** @typeParam Default the objects of informers that are asked for without a type */
export abstract class InformerFactory<Default> implements AsyncDisposable {
  readonly name: string;
  readonly #source: FactorySource;
  readonly #options: SplitOptions;
  readonly #namespace: string;
  readonly #projection: 'object' | 'metadata';
  /** In the order in which they were asked for. */
  readonly #held: Map<string, Held> = new Map();
  #isShutDown = false;

  protected constructor(source: FactorySource, options: FactoryOptions, projection: 'object' | 'metadata') {
    this.name = options.name ?? this.constructor.name;
    this.#source = source;
    this.#options = splitOptions(source, options);
    this.#namespace = options.namespace ?? '';
    this.#projection = projection;
  }

  /**
   * The informer of a resource and its lister; the same ones whenever they are asked for.
   *
   * @throws ERR_KUBELOOM_OPTION when kind or scope are not those of the resource
   * @throws ERR_KUBELOOM_STOPPED when it would have to be made after shutdown
   */
  forResource<T = Default>(resource: ResourceWish): GenericInformer<T> {
    const held = this.#find(resource) ?? this.#make(resource, newInformer);
    return { informer: held.informer, lister: held.lister } as unknown as GenericInformer<T>;
  }

  /** As `forResource`; the first to ask may make it himself, e.g. with indexers. */
  informerFor<T = Default>(
    resource: ResourceWish,
    make: NewInformer<T> = newInformer,
  ): SharedIndexInformer<T> {
    const held = this.#find(resource) ?? this.#make(resource, make as unknown as NewInformer<KubeObject>);
    return held.informer as unknown as SharedIndexInformer<T>;
  }

  /** All that were asked for, started or not. */
  get informers(): readonly SharedIndexInformer<KubeObject>[] {
    return Array.from(this.#held.values(), ({ informer }) => informer);
  }

  /**
   * Starts the informers that were asked for and have not been started; what is asked for later needs another call.
   * They end with `signal`. What ends one of them otherwise (a module that cannot be loaded, dead threads) goes to
   * `onError` and rejects `waitForCacheSync`. After shutdown this does nothing, as in client-go.
   */
  start(signal?: AbortSignal): void {
    if (this.#isShutDown) return;
    for (const held of this.#held.values()) {
      held.isStarted = true;
      // An informer runs once. One that somebody runs by himself is not ours to start, only to wait for. Why it ends, it reports itself.
      if (!held.informer.hasStarted()) held.informer.run(signal).catch(() => {});
    }
  }

  /**
   * Resolves when all informers that have been started by now have synced; at once, when there is none.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED) when the signal is aborted or one of them ends first; its
   *   `cause` is the signal's reason or what ended it
   */
  async waitForCacheSync(signal?: AbortSignal, options: Omit<WaitOptions, 'signal'> = {}): Promise<void> {
    const started = [...this.#held.values()].filter(({ isStarted }) => isStarted);
    const over = new AbortController();
    const isOver = forMany(over.signal);
    for (const { informer } of started) {
      informer.waitForSync(isOver).catch((error: unknown) => over.abort(error));
    }
    const signals = signal ? [signal, over.signal] : [over.signal];
    try {
      await waitFor(
        this.name,
        { ...options, signal: AbortSignal.any(signals) },
        ...started.map(({ informer }) => informer.hasSyncedChecker),
      );
    } finally {
      over.abort();
    }
  }

  /**
   * Stops all informers, also those that were never started, for good. Resolves when everything of them has ended,
   * the calls of their handlers included; with `drain` the handlers are first told all that has been received.
   * May be called again, and then waits as well.
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  /** Kind and scope of what was asked for by name. */
  protected abstract resolve(wish: ResourceWish, namespace: string): ResourceRef;

  /** Whether its informer exists. */
  protected holds(wish: ResourceWish): boolean {
    return this.#held.has(keyOfResource(wish));
  }

  #find(wish: ResourceWish): Held | undefined {
    checkWish(wish);
    const held = this.#held.get(keyOfResource(wish));
    if (held) checkAgrees(wish, held.resource);
    return held;
  }

  #make(wish: ResourceWish, make: NewInformer<KubeObject>): Held {
    const resource = this.resolve(wish, this.#namespace);
    checkAgrees(wish, resource);
    if (this.#isShutDown) {
      throw new KubeloomError(
        'ERR_KUBELOOM_STOPPED',
        `${this.name} was shut down: an informer of ${resource.resource} could never be started`,
      );
    }
    const informer = this.#informer(resource, make);
    const lister = new Lister<KubeObject>(informer.getIndexer(), resource);
    const held: Held = { resource, informer, lister, isStarted: false };
    this.#held.set(keyOfResource(resource), held);
    return held;
  }

  #informer(resource: ResourceRef, make: NewInformer<KubeObject>): SharedIndexInformer<KubeObject> {
    const { namespace: _all, ...ofInformers } = this.#options.ofInformers;
    const namespace = resource.isNamespaced ? this.#namespace : '';
    const options: InformerOptions<KubeObject> = {
      ...ofInformers,
      resyncPeriodMs: this.#options.resyncPeriodMs(resource),
      projection: this.#projection,
    };
    if (typeof this.#source !== 'function') {
      return make(this.#source, resource, namespace === '' ? options : { ...options, namespace });
    }
    const listerWatcher = this.#source(resource, namespace);
    return make(listerWatcher as ListerWatcher<KubeObject>, resource, options);
  }
}

/** The same signal, that any number of informers may listen to without a warning. */
function forMany(signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal]);
  setMaxListeners(0, own);
  return own;
}

function newInformer<T>(
  source: KubeConfig | ListerWatcher<T>,
  resource: ResourceRef,
  options: InformerOptions<T>,
): SharedIndexInformer<T> {
  return new SharedIndexInformer(source, resource, options);
}
