/** A kind of an InformersMap: the namespaces, the subscriptions that keep the kind, and reads across the namespaces. */
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { groupResource } from '../factory/resource-query.ts';
import { abortable } from '../../base/on-abort.ts';
import { parseObjectName } from '../../kube/keys.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { ServerSource } from '../../kube/server-source.ts';
import type { KubeObject } from '../../kube/wire.ts';
import type { CachedObject } from '../../replica/store/cached-object.ts';
import type { InformerIndexer } from '../../replica/store/indexer.ts';
import type { FieldIndexes } from './field-indexes.ts';
import type { InformerView } from '../informer-options.ts';
import { checkNamespaces, clusterScoped } from './map-options.ts';
import type { ResolvedKind } from './map-options.ts';
import { queryOf, runQuery } from './query.ts';
import type { CacheList, CacheListOptions } from './query.ts';
import { NamespaceInformer } from './namespace-informer.ts';
import { waitForCheckers } from '../wait-for.ts';
import type { IsInPart } from './part.ts';
import { show } from './view.ts';
import type { Informer, ViewRegistration } from './view-registration.ts';

/** `namespace/name`, or only `name` for cluster-scoped objects. */
export type ObjectKey = string | { readonly namespace?: string; readonly name: string };

/** @internal */
export interface KindCacheParts {
  readonly name: string;
  readonly source: ServerSource;
  readonly resource: ResourceRef;
  readonly resolved: ResolvedKind;
  readonly indexes: FieldIndexes;
  /** Called when the last subscription was released. */
  readonly onUnused: () => void;
}

/** @internal The view that an informer handle keeps, and the handlers of that handle. */
export interface Subscription {
  readonly view: InformerView;
  readonly registrations: Set<ViewRegistration>;
}

/** Error of a read for which no informer runs or is synced; an object that does not exist is `undefined` instead. */
export class NotCachedError extends KubeloomError {
  /** Resource such as `deployments.apps`, or the caller's text if it is unknown. */
  readonly kind: string;

  /** @param why reason in the message */
  constructor(kind: string, why: string) {
    super('ERR_KUBELOOM_NOT_CACHED', `${messageOf(kind)} cannot be read from the cache: ${messageOf(why)}`);
    this.kind = kind;
  }
}

/** @internal */
export class KindCache {
  readonly resource: ResourceRef;
  /** Name in messages: `deployments.apps`. */
  readonly label: string;
  readonly #parts: KindCacheParts;
  /** Informers by namespace, '' for all namespaces. */
  readonly #byNamespace: Map<string, NamespaceInformer> = new Map();
  /** Added informers that have not synced yet. */
  readonly #joining: Map<string, NamespaceInformer> = new Map();
  readonly #subscriptions: Set<Subscription> = new Set();
  readonly #removals: Set<Promise<void>> = new Set();
  #closing: Promise<void> | undefined;
  #isShared = false;
  /** Resolves with the error of an informer that ended by itself. */
  readonly failed: Promise<unknown>;
  #fail: (error: unknown) => void = () => undefined;

  constructor(parts: KindCacheParts) {
    this.#parts = parts;
    this.failed = new Promise((resolve) => (this.#fail = resolve));
    this.resource = parts.resource;
    this.label = groupResource(parts.resource);
    for (const namespace of parts.resolved.namespaces)
      this.#byNamespace.set(namespace, this.#newNamespaceInformer(namespace));
  }

  /** Namespaces, sorted; empty for all. */
  get namespaces(): readonly string[] {
    return [...this.#byNamespace.keys()].filter((namespace) => namespace !== '').toSorted();
  }

  /** All running informers, including informers of namespaces that are being added. */
  get informers(): readonly Informer[] {
    return this.#all.flatMap(({ informers }) => informers);
  }

  /** Starts the missing informers of a view and keeps them until the subscription is released. */
  acquire(view: InformerView): Subscription {
    const subscription: Subscription = { view, registrations: new Set() };
    this.#subscriptions.add(subscription);
    try {
      for (const each of this.#all) each.ensure(subscription.view);
    } catch (error) {
      void this.release(subscription).catch(() => undefined);
      throw error;
    }
    return subscription;
  }

  /**
   * Releases a subscription; resolves when the handlers' calls have returned and, after the last, the informers ended.
   */
  async release(subscription: Subscription): Promise<void> {
    if (!this.#subscriptions.delete(subscription)) return;
    const closing = [...subscription.registrations].map((registration) => registration.close());
    const closed = Promise.allSettled(closing);
    if (this.#subscriptions.size === 0) {
      this.#parts.onUnused();
      void this.close();
    } else if (subscription.view === 'object' && !this.#views.includes('object')) {
      for (const each of this.#all) each.abandonObjects();
    }
    for (const end of await closed) if (end.status === 'rejected') throw end.reason;
    await this.#closing;
  }

  /** Returns whether all namespaces can be read in this view. */
  isReady(view: InformerView): boolean {
    return !this.#closing && [...this.#byNamespace.values()].every((each) => each.isReady(view));
  }

  /**
   * Resolves when all namespaces are readable; rejects if a namespace cannot be read, or the signal is aborted first.
   */
  async ready(view: InformerView, signal: AbortSignal | undefined): Promise<void> {
    await this.#readyAll(
      () => [...this.#byNamespace.values()],
      () => [view],
      signal,
    );
  }

  /** Returns the informer with the objects of a namespace; undefined if the namespace is not cached. */
  informerOf(view: InformerView, namespace: string): Informer | undefined {
    return (this.#byNamespace.get('') ?? this.#byNamespace.get(namespace))?.informer(view);
  }

  /**
   * Returns the informer with all objects, for other threads. From now on no namespace can be added: the threads would
   * not see it.
   */
  share(view: InformerView): Informer {
    const [only, ...others] = this.#all;
    const informer = only?.informer(view);
    if (!informer || others.length > 0)
      throw this.#refusal('other threads read one namespace or all; give the kind one of these');
    this.#isShared = true;
    return informer;
  }

  /** Registers a handler with all namespaces, including namespaces that are added later. */
  register(subscription: Subscription, registration: ViewRegistration): void {
    registration.join(...informersOf(this.#byNamespace.values(), subscription.view));
    subscription.registrations.add(registration);
  }

  /** Adds all namespaces, or none if an informer fails or the signal is aborted first. */
  async addNamespaces(names: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    this.#checkAdded(names);
    const added = new Map(names.map((name) => [name, this.#newNamespaceInformer(name)]));
    try {
      for (const view of this.#views) for (const each of added.values()) each.ensure(view);
      for (const [name, each] of added) this.#joining.set(name, each);
      await this.#readyAll(
        () => [...added.values()],
        () => this.#views,
        signal,
      );
      for (const { view, registrations } of this.#subscriptions) {
        for (const registration of registrations) registration.join(...informersOf(added.values(), view));
      }
      for (const [name, each] of added) this.#byNamespace.set(name, each);
    } catch (error) {
      const informers = [...added.values()].flatMap((each) => each.informers);
      for (const { registrations } of this.#subscriptions) {
        for (const registration of registrations) registration.forget(...informers);
      }
      for (const each of added.values()) track(this.#removals, each.close());
      throw error;
    } finally {
      for (const name of added.keys()) this.#joining.delete(name);
    }
  }

  /** Removes namespaces; resolves when handlers have received the objects there as deleted. */
  async removeNamespaces(names: readonly string[]): Promise<void> {
    this.#checkRemoved(names);
    const removed = names.flatMap((name) => this.#byNamespace.get(name) ?? []);
    for (const name of names) this.#byNamespace.delete(name);
    const ends = removed.map((each) => this.#leave(each));
    for (const end of ends) track(this.#removals, end);
    await Promise.all(ends);
  }

  addIndexers(): void {
    for (const each of this.#all) each.addIndexers();
  }

  /**
   * Returns an object. @throws NotCachedError if there is no informer of this view and namespace; the error of `keyOf`
   */
  get(view: InformerView, key: ObjectKey, isIn?: IsInPart): CachedObject<unknown> | undefined {
    const { namespace, text } = this.keyOf(key);
    const [indexer] = this.#indexers(view, namespace);
    const entry = indexer?.getByKey(text);
    if (entry && isIn?.(entry) === false) return undefined;
    return entry && show(view, entry, this.resource);
  }

  /** Parses a key. @throws ERR_KUBELOOM_KEY if it does not fit the scope of the resource */
  keyOf(key: ObjectKey): { readonly namespace: string; readonly text: string } {
    const { namespace = '', name } = typeof key === 'string' ? parseObjectName(key) : (key ?? {});
    const { isNamespaced } = this.resource;
    if (typeof name === 'string' && name !== '' && (namespace !== '') === isNamespaced) {
      return { namespace, text: isNamespaced ? `${namespace}/${name}` : name };
    }
    throw new KubeloomError(
      'ERR_KUBELOOM_KEY',
      `unexpected key format: ${JSON.stringify(key)}; a key of ${this.label} is ` +
        (isNamespaced ? 'namespace/name' : 'a name without a namespace'),
    );
  }

  /** Returns a page of objects. @throws NotCachedError, and the errors of `queryOf` */
  list(view: InformerView, options: CacheListOptions, isIn?: IsInPart): CacheList<unknown> {
    const { isNamespaced } = this.resource;
    if (options.namespace && !isNamespaced) throw clusterScoped(this.resource);
    const query = queryOf(options, this.label, this.#parts.indexes, view);
    const list = runQuery(query, this.#indexers(view, isNamespaced ? query.namespace : ''), isIn);
    if (view === 'object') return list;
    return { ...list, items: list.items.map((entry) => show(view, entry, this.resource)) };
  }

  /** Ends the informers for good. Drops pending notifications, or delivers them with `drain`. */
  close(drain: boolean = false): Promise<void> {
    this.#closing ??= this.#close(drain);
    return this.#closing;
  }

  async #close(drain: boolean): Promise<void> {
    await Promise.all(this.#all.map((each) => each.close(drain)));
    await Promise.all(this.#removals);
  }

  get #all(): readonly NamespaceInformer[] {
    return [...this.#byNamespace.values(), ...this.#joining.values()];
  }

  get #views(): readonly InformerView[] {
    return [...new Set(Array.from(this.#subscriptions, ({ view }) => view))];
  }

  #newNamespaceInformer(namespace: string): NamespaceInformer {
    const { source, resource, indexes, resolved } = this.#parts;
    return new NamespaceInformer({
      source,
      resource,
      indexes,
      options: resolved.optionsOf(namespace),
      onFailure: this.#fail,
      metadataHandlers: () =>
        [...this.#subscriptions]
          .filter(({ view }) => view === 'metadata')
          .flatMap(({ registrations }) => [...registrations]),
    });
  }

  /** Returns the indexer of a namespace, or the indexers of all namespaces for ''. */
  #indexers(view: InformerView, namespace: string): readonly InformerIndexer<KubeObject>[] {
    const all = this.#byNamespace.get('');
    const one = namespace === '' ? undefined : (all ?? this.#byNamespace.get(namespace));
    if (namespace !== '' && !one) {
      const followed = this.namespaces.join(', ');
      throw new NotCachedError(this.label, `namespace ${namespace} is not cached, only ${followed}`);
    }
    return (one ? [one] : [...this.#byNamespace.values()]).map((each) => this.#indexer(each, view));
  }

  #indexer(namespaceInformer: NamespaceInformer, view: InformerView): InformerIndexer<KubeObject> {
    if (this.#closing) throw new NotCachedError(this.label, 'its informers have been stopped');
    const informer = namespaceInformer.informer(view);
    if (!informer) throw new NotCachedError(this.label, 'only its metadata is cached');
    if (informer.isStopped()) throw new NotCachedError(this.label, `${informer.name} has ended`);
    if (!informer.hasSynced()) throw new NotCachedError(this.label, `${informer.name} has not synced`);
    return informer.getIndexer();
  }

  /**
   * Waits until all are readable. Both sets may change during the wait: the wait for a removed namespace ends without
   * an error.
   */
  async #readyAll(
    namespaceInformers: () => readonly NamespaceInformer[],
    views: () => readonly InformerView[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (;;) {
      this.#checkOpen();
      const waiting = namespaceInformers().filter((each) => !views().every((view) => each.isReady(view)));
      if (waiting.length === 0) return;
      try {
        const running = new Set(views().flatMap((view) => informersOf(waiting, view)));
        await waitForCheckers(this.#parts.name, signal ? { signal } : {}, [...running]);
        await abortable(Promise.all(waiting.map(({ moving }) => moving)), signal);
      } catch (error) {
        const isRemoved = waiting.some((each) => !namespaceInformers().includes(each));
        if (!isRemoved || signal?.aborted) throw error;
      }
    }
  }

  #checkAdded(names: readonly string[]): void {
    this.#checkNamespaces(names);
    if (this.#byNamespace.has('')) throw this.#refusal('all namespaces are cached already');
    if (this.#isShared) throw this.#refusal('none can be added, because other threads read the cache');
    const known = names.filter((name) => this.#byNamespace.has(name) || this.#joining.has(name));
    if (known.length > 0) throw this.#refusal(`already cached or being added: ${known.join(', ')}`);
  }

  #checkRemoved(names: readonly string[]): void {
    this.#checkNamespaces(names);
    const unknown = names.filter((name) => !this.#byNamespace.has(name));
    if (unknown.length > 0) throw this.#refusal(`not cached: ${unknown.join(', ')}`);
    if (names.length < this.#byNamespace.size) return;
    throw this.#refusal('the last namespace cannot be removed; release the informer handles instead');
  }

  #checkNamespaces(names: readonly string[]): void {
    this.#checkOpen();
    if (!this.resource.isNamespaced) throw clusterScoped(this.resource);
    checkNamespaces(names);
  }

  #checkOpen(): void {
    if (!this.#closing) return;
    throw new KubeloomError(
      'ERR_KUBELOOM_STOPPED',
      `${this.#parts.name}: the informers of ${this.label} have been stopped`,
    );
  }

  #refusal(why: string): KubeloomError {
    return new KubeloomError('ERR_KUBELOOM_OPTION', `namespaces of ${this.label}: ${why}`);
  }

  async #leave(left: NamespaceInformer): Promise<void> {
    const leaving = [...this.#subscriptions].flatMap(({ view, registrations }) => {
      const informer = left.informer(view);
      return informer ? Array.from(registrations, (registration) => registration.leave(informer)) : [];
    });
    await Promise.all([...leaving, left.close(true)]);
  }
}

/** @internal Keeps a promise in the set until it settles. */
export function track(pending: Set<Promise<void>>, end: Promise<void>): void {
  const tracked = end.catch(() => undefined).finally(() => pending.delete(tracked));
  pending.add(tracked);
}

/** Returns the running informers of a view. */
function informersOf(namespaceInformers: Iterable<NamespaceInformer>, view: InformerView): Informer[] {
  return [...namespaceInformers].flatMap((each) => each.informer(view) ?? []);
}
