/**
 * A cache of caches, in the manner of controller-runtime: informers by kind, started when they are first asked for,
 * shared by everybody who asks again, and ended by the last who gives his back. Structured, unstructured and metadata
 * views of a kind share one watch and one copy of the bytes.
 *
 * Reading never starts anything: what nobody follows is a `NotCachedError`, which is not the same as an object that
 * does not exist.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { realClock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import { keyOfResource } from '../factory/resource-wish.ts';
import { abortable } from '../informer/abortable.ts';
import type { ShutDownOptions } from '../informer/handlers.ts';
import { Reports } from '../informer/reports.ts';
import type { SharedIndexInformer } from '../informer/shared-index-informer.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { RestMapper } from '../kube/rest-mapper.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import type { KubeObject, PartialObjectMetadata } from '../kube/wire.ts';
import { refuse } from '../options.ts';
import type { CachedObject } from '../store/entry.ts';
import { jsonGetter } from './api-get.ts';
import { FieldIndexes } from './field-indexes.ts';
import type { FieldExtractor } from './field-indexes.ts';
import { KindCache } from './kind-cache.ts';
import { InformerLease } from './lease.ts';
import { NotCachedError } from './not-cached-error.ts';
import { objectKey } from './object-key.ts';
import type { ObjectKey } from './object-key.ts';
import { CacheOptions } from './options.ts';
import type { InformersMapOptions } from './options.ts';
import type { CacheList, CacheListOptions } from './query.ts';
import { waitForInformers } from './synced.ts';
import { depthOf, show, showList } from './view.ts';
import type { View } from './view.ts';

export interface InformerForOptions<V extends View = View> {
  /** Default: structured. */
  readonly view?: V;
  /** false: do not wait until it has synced. Until then reading is a NotCachedError. Default: true. */
  readonly wait?: boolean;
  /** Ends the waiting, and gives back what was asked for. */
  readonly signal?: AbortSignal;
}

interface ViewOption<V extends View> {
  readonly view?: V;
}

type ObjectView = 'structured' | 'unstructured';

export class InformersMap implements AsyncDisposable {
  readonly name: string;
  /** What kinds there are. */
  readonly restMapper: RestMapper;
  readonly #source: KubeConfig;
  readonly #options: CacheOptions;
  /** By group, version and resource: what somebody has a lease of. */
  readonly #kinds: Map<string, KindCache> = new Map();
  /** They stay when a kind is not followed any more. */
  readonly #indexes: Map<string, FieldIndexes> = new Map();
  readonly #reports: Reports;
  readonly #stop: AbortController = new AbortController();
  readonly #ends: Set<Promise<void>> = new Set();

  /** @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_SELECTOR */
  constructor(source: KubeConfig, options: InformersMapOptions = {}) {
    if (typeof source !== 'object' || source === null)
      refuse('the source of a cache', source, 'a KubeConfig');
    this.#options = new CacheOptions(options);
    this.name = this.#options.name;
    this.#source = source;
    const { clock = realClock, onError, onMutation } = options;
    this.#reports = new Reports(this.name, onError, clock, onMutation);
    const getJson = jsonGetter(source, this.#stop.signal);
    this.restMapper = options.restMapper ?? new RestMapper({ getJson, clock });
  }

  /**
   * Follows a kind, if nobody does yet, and resolves when it has synced. What it resolves with keeps the kind
   * followed until it is released.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), naming what is missing, when the signal is aborted first
   * @throws ERR_KUBELOOM_UNKNOWN_RESOURCE, ERR_KUBELOOM_AMBIGUOUS_RESOURCE, ERR_KUBELOOM_NOT_WATCHABLE
   * @throws ERR_KUBELOOM_STOPPED after shutdown
   */
  informerFor<T = KubeObject>(
    kind: KindLike,
    options?: InformerForOptions<ObjectView>,
  ): Promise<InformerLease<T>>;
  informerFor(
    kind: KindLike,
    options: InformerForOptions<'metadata'> & { readonly view: 'metadata' },
  ): Promise<InformerLease<PartialObjectMetadata>>;
  async informerFor(kind: KindLike, options: InformerForOptions = {}): Promise<InformerLease<unknown>> {
    const { view = 'structured', wait = true, signal } = options;
    const depth = depthOf(view);
    this.#wantRunning();
    signal?.throwIfAborted();
    const resource = await abortable(this.restMapper.resourceFor(kind), signal);
    this.#wantRunning();
    const followed = this.#kinds.get(keyOfResource(resource)) ?? this.#newKind(resource);
    const holder = followed.acquire(depth);
    try {
      if (wait) await followed.ready(depth, signal);
    } catch (error) {
      this.#track(followed.release(holder));
      throw error;
    }
    return new InformerLease({ view, kind: followed, holder, reports: this.#reports });
  }

  /**
   * Reads one object. Undefined when it does not exist.
   *
   * @throws NotCachedError (ERR_KUBELOOM_NOT_CACHED) when nobody follows the kind in this view and namespace, or it
   *   has not synced
   */
  get<T = KubeObject>(
    kind: KindLike,
    key: ObjectKey,
    options?: ViewOption<ObjectView>,
  ): CachedObject<T> | undefined;
  get(
    kind: KindLike,
    key: ObjectKey,
    options: { readonly view: 'metadata' },
  ): CachedObject<PartialObjectMetadata> | undefined;
  get(
    kind: KindLike,
    key: ObjectKey,
    { view = 'structured' }: ViewOption<View> = {},
  ): CachedObject<unknown> | undefined {
    const depth = depthOf(view);
    const followed = this.#followed(kind);
    const { namespace, name } = objectKey(key, followed.resource);
    const entry = followed.get(depth, namespace, name);
    return entry && (show(view, entry, followed.resource) as CachedObject<unknown>);
  }

  /**
   * Reads what the selectors select, in the order of keys, in pages if wanted. Each page is of the moment in which
   * it is asked for: what exists all the time is in exactly one page; what comes or goes meanwhile may be missing.
   *
   * A field selector needs an index for each of its fields (`indexField`); the one with the fewest objects is used.
   * `!=` narrows nothing: alone it looks at everything.
   *
   * @throws NotCachedError as `get`; ERR_KUBELOOM_SELECTOR, ERR_KUBELOOM_FIELD_NOT_INDEXED, ERR_KUBELOOM_CONTINUE
   */
  list<T = KubeObject>(kind: KindLike, options?: CacheListOptions & ViewOption<ObjectView>): CacheList<T>;
  list(
    kind: KindLike,
    options: CacheListOptions & { readonly view: 'metadata' },
  ): CacheList<PartialObjectMetadata>;
  list(kind: KindLike, options: CacheListOptions & ViewOption<View> = {}): CacheList<unknown> {
    const { view = 'structured' } = options;
    const depth = depthOf(view);
    const followed = this.#followed(kind);
    return showList(view, followed.list(depth, options), followed.resource);
  }

  /**
   * Lets lists of this kind select by a field. Best before the kind is followed: a path is then read off the bytes,
   * later every object is parsed for it. Values are compared as text; an array has each of its values, and a path
   * that an object does not have is '', as on servers. Functions are for whole objects only, and so are paths
   * outside `metadata`.
   *
   * @throws ERR_KUBELOOM_INDEXER_CONFLICT when the name has another meaning already
   */
  async indexField(kind: KindLike, name: string, extractor: FieldExtractor = name): Promise<void> {
    this.#wantRunning();
    const resource = await this.restMapper.resourceFor(kind);
    this.#wantRunning();
    if (!this.#indexesOf(resource).add(name, extractor)) return;
    this.#kinds.get(keyOfResource(resource))?.addIndexers();
  }

  /** All that run, of all kinds and namespaces: for looking at, not for stopping. */
  get informers(): readonly SharedIndexInformer<KubeObject>[] {
    return [...this.#kinds.values()].flatMap((kind) => kind.informers);
  }

  /** Namespaces of a kind that is followed, sorted; empty for all. @throws NotCachedError when it is not followed */
  namespaces(kind: KindLike): readonly string[] {
    return this.#followed(kind).namespaces;
  }

  /**
   * Follows a kind in more namespaces; resolves when all of them have synced and can be read. All or none.
   *
   * @throws NotSyncedError when the signal is aborted first, ERR_KUBELOOM_OPTION for what is followed already,
   *   NotCachedError when the kind is not followed
   */
  async addNamespaces(
    kind: KindLike,
    names: readonly string[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    await this.#followed(kind).addNamespaces(names, signal);
  }

  /**
   * Follows a kind in these namespaces no more. Handlers are told that what was there is deleted, with unknown
   * final state; resolves when they have been.
   *
   * @throws ERR_KUBELOOM_OPTION for what is not followed, and when none would be left
   */
  async removeNamespaces(kind: KindLike, names: readonly string[]): Promise<void> {
    await this.#followed(kind).removeNamespaces(names);
  }

  /**
   * Resolves when everything that is followed by now has synced.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), naming what is missing and why
   */
  async waitForCacheSync(signal?: AbortSignal): Promise<void> {
    await waitForInformers(this.name, signal, this.informers);
  }

  /**
   * Ends everything, for good: leases are worth nothing any more. Resolves when the calls of handlers have returned;
   * with `drain` they are first told what was received.
   *
   * @throws ERR_KUBELOOM_STILL_RUNNING when `signal` is aborted first
   */
  async shutdown({ drain = false, signal }: ShutDownOptions = {}): Promise<void> {
    this.#stop.abort(stoppedError(this.name));
    const kinds = [...this.#kinds.values()];
    this.#kinds.clear();
    for (const kind of kinds) this.#track(kind.close(drain));
    try {
      await abortable(Promise.all(this.#ends), signal);
    } catch (cause) {
      const labels = kinds.map(({ label }) => label).join(', ');
      const message = `${this.name} is stopping, but has not ended: ${labels}`;
      throw new KubeloomError('ERR_KUBELOOM_STILL_RUNNING', message, { cause });
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
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
        this.#track(kind.close());
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

  #followed(kind: KindLike): KindCache {
    const resource = this.restMapper.find(kind);
    const followed = resource && this.#kinds.get(keyOfResource(resource));
    if (followed) return followed;
    const label = typeof kind === 'string' ? kind : JSON.stringify(kind);
    throw new NotCachedError(label, 'nobody follows it: informerFor() does');
  }

  #wantRunning(): void {
    if (this.#stop.signal.aborted) throw stoppedError(this.name);
  }

  #track(end: Promise<void>): void {
    const tracked = end.catch(() => undefined).finally(() => this.#ends.delete(tracked));
    this.#ends.add(tracked);
  }
}

/** The name that those know who come from controller-runtime. */
export { InformersMap as Cache };

function stoppedError(name: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_STOPPED', `${name} was shut down`);
}
