/**
 * A cache of kinds, as in controller-runtime. The first `informerFor` of a kind starts the informer, later calls share
 * it, and releasing the last handle ends it. The views of a kind share a watch and a copy of the bytes.
 *
 * Reading never starts an informer: reading a kind without a handle throws `NotCachedError`. An object that does not
 * exist is `undefined` instead.
 */
import { realClock } from '../../base/clock.ts';
import { ApiClient } from '../../http/api-client.ts';
import { KubeloomError } from '../../base/errors.ts';
import { keyOfResource } from '../factory/resource-query.ts';
import { abortable } from '../../base/on-abort.ts';
import type { ShutDownOptions } from '../handlers.ts';
import { ErrorReporter } from '../error-reporter.ts';
import type { SharedIndexInformer } from '../shared-index-informer.ts';
import type { ResourceOf, ResourceRef } from '../../kube/resource.ts';
import { RestMapper } from '../../kube/rest-mapper.ts';
import type { ShardFilter } from '../../kube/shard-filter.ts';
import type { KindLike } from '../../kube/rest-mapper.ts';
import { assertServerSource } from '../../kube/server-source.ts';
import type { ServerSource } from '../../kube/server-source.ts';
import type { KubeObject, PartialObjectMetadata } from '../../kube/wire.ts';
import { flag, signal as aSignal, text, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { signalOf } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';
import type { CachedObject } from '../../replica/store/cached-object.ts';
import { FieldIndexes } from './field-indexes.ts';
import type { FieldExtractor } from './field-indexes.ts';
import { KindCache, NotCachedError, track } from './kind-cache.ts';
import type { ObjectKey } from './kind-cache.ts';
import { InformerHandle } from './informer-handle.ts';
import { CacheOptions } from './map-options.ts';
import type { InformersMapOptions } from './map-options.ts';
import type { CacheList, CacheListOptions } from './query.ts';
import { WAIT_CHECKS, waitForCheckers } from '../wait-for.ts';
import type { WaitOptions } from '../wait-for.ts';
import type { InformerView } from '../informer-options.ts';
import { partOf } from './part.ts';
import type { IsInPart } from './part.ts';
import { checkView } from './view.ts';

/** Options of a handle. */
export interface InformerForOptions<V extends InformerView = InformerView> {
  /** Default: structured. */
  readonly view?: V;
  /** false: does not wait for the sync; before the sync, reading throws NotCachedError. Default: true. */
  readonly wait?: boolean;
  /** Ends the wait and releases the kind. */
  readonly signal?: AbortSignal;
}

const INFORMER_FOR_CHECKS: OptionChecks<InformerForOptions> = { view: text, wait: flag, signal: aSignal };

interface ViewOption<V extends InformerView> {
  readonly view?: V;
}

/** A cache of kinds: an informer for each kind that a program asked for, shared and released by handles. */
export class InformersMap implements AsyncDisposable {
  /** Name in messages: the option `name`. */
  readonly name: string;
  /** Mapper from names of kinds to resources. */
  readonly restMapper: RestMapper;
  readonly #source: ServerSource;
  readonly #options: CacheOptions;
  /** Kinds with handles, by group, version and resource. */
  #kinds: Map<string, KindCache> = new Map();
  /** Field indexes by resource. They remain after the last handle of a kind is released. */
  #indexes: Map<string, FieldIndexes> = new Map();
  #reports: ErrorReporter;
  #stop: AbortController = new AbortController();
  #ends: Set<Promise<void>> = new Set();
  /** The part of all objects that this cache shows; undefined for all. */
  #part: ShardFilter | undefined;
  #create: (resource: ResourceRef) => KindCache = (resource) => this.#newKind(resource);

  /** @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_SELECTOR */
  constructor(source: ServerSource, options: InformersMapOptions = {}) {
    assertServerSource(source);
    this.#options = new CacheOptions(options);
    this.name = this.#options.name;
    this.#source = source;
    const { clock = realClock, onError, debug, log } = options;
    this.#reports = new ErrorReporter(this.name, onError, clock, debug?.onMutation, log);
    const client = new ApiClient(source);
    const getJson = (path: string): Promise<unknown> => client.getJson(path, this.#stop.signal);
    this.restMapper = options.restMapper ?? new RestMapper({ getJson, clock });
  }

  /** @internal Reports an error of a kind before the kind's first informer. */
  report(error: KubeloomError): void {
    this.#reports.report(error, 'list');
  }

  /** @internal Returns a cache on the same informers that returns and delivers only the objects of a shard. */
  part(filter: ShardFilter): InformersMap {
    const part = new InformersMap(this.#source, { name: this.name, restMapper: this.restMapper });
    part.#kinds = this.#kinds;
    part.#indexes = this.#indexes;
    part.#stop = this.#stop;
    part.#ends = this.#ends;
    part.#reports = this.#reports;
    part.#create = this.#create;
    part.#part = filter;
    return part;
  }

  /**
   * Starts the informers of a kind, if they do not run yet, and resolves when they are synced. The informers run until
   * every returned handle is released.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), naming the missing informers, when the signal is aborted first
   * @throws ERR_KUBELOOM_UNKNOWN_RESOURCE, ERR_KUBELOOM_AMBIGUOUS_RESOURCE, ERR_KUBELOOM_NOT_WATCHABLE
   * @throws ERR_KUBELOOM_STOPPED after shutdown
   */
  informerFor<T = KubeObject>(
    kind: KindLike | ResourceOf<T>,
    options?: InformerForOptions<'object'>,
  ): Promise<InformerHandle<T>>;
  /** Starts the informers of a kind for the metadata view: objects are only their metadata. */
  informerFor(
    kind: KindLike,
    options: InformerForOptions<'metadata'> & { readonly view: 'metadata' },
  ): Promise<InformerHandle<PartialObjectMetadata>>;
  async informerFor(kind: KindLike, options: InformerForOptions = {}): Promise<InformerHandle<unknown>> {
    checkOptions('options of informerFor', options, INFORMER_FOR_CHECKS);
    const { view = 'object', wait = true, signal } = options;
    checkView(view);
    this.#checkRunning();
    signal?.throwIfAborted();
    const resource = await abortable(this.restMapper.resourceFor(kind), signal);
    this.#checkRunning();
    const followed = this.#kinds.get(keyOfResource(resource)) ?? this.#create(resource);
    const subscription = followed.acquire(view);
    try {
      if (wait) await followed.ready(subscription.view, signal);
    } catch (error) {
      track(this.#ends, followed.release(subscription));
      throw error;
    }
    return new InformerHandle({
      kind: followed,
      subscription,
      reports: this.#reports,
      isIn: this.#isIn(resource),
    });
  }

  /**
   * Returns an object; undefined if it does not exist.
   *
   * @throws NotCachedError (ERR_KUBELOOM_NOT_CACHED) if no handle keeps the kind in this view and namespace, or the
   *   kind is not synced
   */
  get<T = KubeObject>(
    kind: KindLike | ResourceOf<T>,
    key: ObjectKey,
    options?: ViewOption<'object'>,
  ): CachedObject<T> | undefined;
  /** Returns the metadata of an object; undefined if it does not exist. @throws NotCachedError */
  get(
    kind: KindLike,
    key: ObjectKey,
    options: { readonly view: 'metadata' },
  ): CachedObject<PartialObjectMetadata> | undefined;
  get(
    kind: KindLike,
    key: ObjectKey,
    { view = 'object' }: ViewOption<InformerView> = {},
  ): CachedObject<unknown> | undefined {
    const followed = this.#followed(kind, view);
    return followed.get(view, key, this.#isIn(followed.resource));
  }

  /**
   * Returns the selected objects in the order of keys, in pages if `limit` is set. Each page reads the state at the
   * time of the call. An object that exists during all calls is in exactly one page; an object that was added or
   * deleted in between may be missing.
   *
   * A field selector needs an index for each field (`indexField`); the list uses the index with the fewest objects.
   * `!=` cannot use an index: alone it examines all objects.
   *
   * @throws NotCachedError as `get`; ERR_KUBELOOM_SELECTOR, ERR_KUBELOOM_NO_INDEX, ERR_KUBELOOM_CONTINUE
   */
  list<T = KubeObject>(
    kind: KindLike | ResourceOf<T>,
    options?: CacheListOptions & ViewOption<'object'>,
  ): CacheList<T>;
  /** Returns the metadata of the selected objects. Field selectors may name only indexed fields of the metadata. */
  list(
    kind: KindLike,
    options: CacheListOptions & { readonly view: 'metadata' },
  ): CacheList<PartialObjectMetadata>;
  list(kind: KindLike, options: CacheListOptions & ViewOption<InformerView> = {}): CacheList<unknown> {
    const { view = 'object' } = options;
    const followed = this.#followed(kind, view);
    return followed.list(view, options, this.#isIn(followed.resource));
  }

  /**
   * Adds a field by which lists of this kind can select. Call it before `informerFor`, so that the shards extract a
   * path from the bytes; after that, every object is parsed for the field. Values are compared as text. An array
   * matches with each of the values, and a missing path counts as '', as on servers. Functions, and paths outside
   * `metadata`, need whole objects.
   *
   * @throws ERR_KUBELOOM_INDEXER_CONFLICT if the name is taken by another extractor
   */
  async indexField(kind: KindLike, name: string, extractor: FieldExtractor = name): Promise<void> {
    this.#checkRunning();
    const resource = await this.restMapper.resourceFor(kind);
    this.#checkRunning();
    if (!this.#indexesOf(resource).add(name, extractor)) return;
    this.#kinds.get(keyOfResource(resource))?.addIndexers();
  }

  /** All running informers, of all kinds and namespaces. Read them, but do not stop them. */
  get informers(): readonly SharedIndexInformer<KubeObject>[] {
    return [...this.#kinds.values()].flatMap((kind) => kind.informers);
  }

  /** Returns the namespaces of a kind, sorted; empty for all. @throws NotCachedError if no handle keeps the kind */
  namespaces(kind: KindLike): readonly string[] {
    return this.#followed(kind).namespaces;
  }

  /**
   * Adds namespaces to a kind; resolves when all of them are synced and readable. Adds all of them or none.
   *
   * @throws NotSyncedError when the signal is aborted first, ERR_KUBELOOM_OPTION for a namespace that was already
   *   added, NotCachedError if no handle keeps the kind
   */
  async addNamespaces(kind: KindLike, names: readonly string[], options?: SignalOptions): Promise<void> {
    const signal = signalOf('addNamespaces()', options);
    await this.#followed(kind).addNamespaces(names, signal);
  }

  /**
   * Removes namespaces from a kind. Handlers receive the objects there as deleted, with unknown final state; resolves
   * when these calls have returned.
   *
   * @throws ERR_KUBELOOM_OPTION for an unknown namespace, and for the last namespace
   */
  async removeNamespaces(kind: KindLike, names: readonly string[]): Promise<void> {
    await this.#followed(kind).removeNamespaces(names);
  }

  /**
   * Resolves when all running informers are synced.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), naming the missing informers and the reasons
   */
  async waitForCacheSync(options: WaitOptions = {}): Promise<void> {
    checkOptions('options of waitForCacheSync()', options, WAIT_CHECKS);
    await waitForCheckers(this.name, options, this.informers);
  }

  /**
   * Stops all informers for good; handles can no longer read. Resolves when the calls of handlers have returned. With
   * `drain`, handlers first receive all pending notifications.
   *
   * @throws ERR_KUBELOOM_STILL_RUNNING when `signal` is aborted first
   */
  async shutdown({ drain = false, signal }: ShutDownOptions = {}): Promise<void> {
    this.#stop.abort(stoppedError(this.name));
    const kinds = [...this.#kinds.values()];
    this.#kinds.clear();
    for (const kind of kinds) track(this.#ends, kind.close(drain));
    try {
      await abortable(Promise.all(this.#ends), signal);
    } catch (cause) {
      const labels = kinds.map(({ label }) => label).join(', ');
      const message = `${this.name} is stopping, but has not ended: ${labels}`;
      throw new KubeloomError('ERR_KUBELOOM_STILL_RUNNING', message, { cause });
    }
  }

  /** Stops all informers: calls `shutdown` without options. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  #isIn(resource: ResourceRef): IsInPart | undefined {
    return this.#part && partOf(this.#part, resource);
  }

  #newKind(resource: ResourceRef): KindCache {
    const key = keyOfResource(resource);
    const kind = new KindCache({
      name: this.name,
      source: this.#source,
      resource,
      resolved: this.#options.resolve(resource),
      indexes: this.#indexesOf(resource),
      onUnused: () => {
        if (this.#kinds.get(key) === kind) this.#kinds.delete(key);
        track(this.#ends, kind.close());
      },
    });
    this.#kinds.set(key, kind);
    return kind;
  }

  #indexesOf(resource: ResourceRef): FieldIndexes {
    const key = keyOfResource(resource);
    const indexes = this.#indexes.get(key) ?? new FieldIndexes();
    this.#indexes.set(key, indexes);
    return indexes;
  }

  #followed(kind: KindLike, view: InformerView = 'object'): KindCache {
    checkView(view);
    const resource = this.restMapper.find(kind);
    const followed = resource && this.#kinds.get(keyOfResource(resource));
    if (followed) return followed;
    throw new NotCachedError(
      labelOf(kind),
      'it has no informer: await informerFor() of the cache, or declare the kind in your controller with owns() or watches(kind, () => [])',
    );
  }

  #checkRunning(): void {
    if (this.#stop.signal.aborted) throw stoppedError(this.name);
  }
}

function stoppedError(name: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_STOPPED', `${name} was shut down: create a new cache`);
}

/** Returns the name of a kind in messages: `deployments.apps`, or the Kind if the resource is unknown. */
function labelOf(kind: KindLike): string {
  if (typeof kind === 'string') return kind;
  const { group = '', resource = '', kind: name = '' } = kind as Partial<ResourceRef>;
  const plural = resource === '' ? name : resource;
  return group === '' ? plural : `${plural}.${group}`;
}
