/**
 * One kind of a cache: its namespaces, the leases that keep it, and what is read from all namespaces together.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { KubeloomError } from '../errors.ts';
import { groupResource } from '../factory/resource-wish.ts';
import { abortable } from '../informer/abortable.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { KubeObject } from '../kube/wire.ts';
import type { CachedObject } from '../store/entry.ts';
import type { InformerIndexer } from '../store/indexer.ts';
import type { Depth, FieldIndexes } from './field-indexes.ts';
import { NotCachedError } from './not-cached-error.ts';
import { checkNamespaces, clusterScoped } from './options.ts';
import type { ResolvedKind } from './options.ts';
import { queryOf, runQuery } from './query.ts';
import type { CacheList, CacheListOptions } from './query.ts';
import { Scope } from './scope.ts';
import { waitForInformers } from './synced.ts';
import type { Informer, ViewRegistration } from './view-registration.ts';

export interface KindCacheParts {
  /** Of the cache, in messages. */
  readonly name: string;
  readonly source: KubeConfig;
  readonly resource: ResourceRef;
  readonly resolved: ResolvedKind;
  readonly indexes: FieldIndexes;
  /** The last lease is gone. */
  readonly onUnused: () => void;
}

/** What a lease keeps alive, and its handlers. */
export interface Holder {
  readonly depth: Depth;
  readonly registrations: Set<ViewRegistration>;
}

export class KindCache {
  readonly #parts: KindCacheParts;
  /** By namespace, '' for all: what is read and listened to. */
  readonly #scopes: Map<string, Scope> = new Map();
  /** Added, and not synced. */
  readonly #joining: Map<string, Scope> = new Map();
  readonly #holders: Set<Holder> = new Set();
  readonly #removals: Set<Promise<void>> = new Set();
  #closing: Promise<void> | undefined;

  constructor(parts: KindCacheParts) {
    this.#parts = parts;
    for (const namespace of parts.resolved.namespaces) this.#scopes.set(namespace, this.#newScope(namespace));
  }

  get resource(): ResourceRef {
    return this.#parts.resource;
  }

  /** `deployments.apps`. */
  get label(): string {
    return groupResource(this.#parts.resource);
  }

  /** Empty for all. */
  get namespaces(): readonly string[] {
    return [...this.#scopes.keys()].filter((namespace) => namespace !== '').toSorted();
  }

  /** All that run, of namespaces that are being added too. */
  get informers(): readonly Informer[] {
    return this.#allScopes.flatMap(({ informers }) => informers);
  }

  /** Starts what this depth needs, and keeps it until it is released. */
  acquire(depth: Depth): Holder {
    const holder: Holder = { depth, registrations: new Set() };
    this.#holders.add(holder);
    try {
      for (const scope of this.#allScopes) scope.ensure(depth);
    } catch (error) {
      void this.release(holder).catch(() => undefined);
      throw error;
    }
    return holder;
  }

  /** Resolves when its handlers' calls have returned and, if it was the last, everything has ended. */
  async release(holder: Holder): Promise<void> {
    if (!this.#holders.delete(holder)) return;
    const closing = [...holder.registrations].map((registration) => registration.close());
    const closed = Promise.allSettled(closing);
    if (this.#holders.size === 0) {
      this.#parts.onUnused();
      void this.close();
    } else if (holder.depth === 'object' && !this.#depths.includes('object')) {
      for (const scope of this.#allScopes) scope.abandonObjects();
    }
    for (const end of await closed) if (end.status === 'rejected') throw end.reason;
    await this.#closing;
  }

  /** Whether all namespaces can be read in this depth. */
  isReady(depth: Depth): boolean {
    return !this.#closing && [...this.#scopes.values()].every((scope) => scope.isReady(depth));
  }

  /** Resolves when they can; rejects when one of them cannot, or the signal is aborted first. */
  async ready(depth: Depth, signal: AbortSignal | undefined): Promise<void> {
    await this.#readyAll(
      () => [...this.#scopes.values()],
      () => [depth],
      signal,
    );
  }

  /** Joins all namespaces, and those that will be added. */
  register(holder: Holder, registration: ViewRegistration): void {
    const informers = [...this.#scopes.values()].map((scope) => scope.informer(holder.depth));
    registration.join(...informers.filter((informer) => informer !== undefined));
    holder.registrations.add(registration);
  }

  /** All or none: when one cannot be followed, or the signal is aborted first, nothing has changed. */
  async addNamespaces(names: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    this.#checkAdded(names);
    const added = new Map(names.map((name) => [name, this.#newScope(name)]));
    try {
      for (const depth of this.#depths) for (const scope of added.values()) scope.ensure(depth);
      for (const [name, scope] of added) this.#joining.set(name, scope);
      await this.#readyAll(
        () => [...added.values()],
        () => this.#depths,
        signal,
      );
      for (const { depth, registrations } of this.#holders) {
        const informers = [...added.values()].map((scope) => scope.informer(depth));
        for (const registration of registrations) {
          registration.join(...informers.filter((informer) => informer !== undefined));
        }
      }
      for (const [name, scope] of added) this.#scopes.set(name, scope);
    } catch (error) {
      const informers = [...added.values()].flatMap((scope) => scope.informers);
      for (const { registrations } of this.#holders) {
        for (const registration of registrations) registration.forget(...informers);
      }
      for (const scope of added.values()) this.#track(scope.close());
      throw error;
    } finally {
      for (const name of added.keys()) this.#joining.delete(name);
    }
  }

  /** Handlers are told that what was there is deleted; resolves when they have been. */
  async removeNamespaces(names: readonly string[]): Promise<void> {
    this.#checkRemoved(names);
    const removed = names.flatMap((name) => this.#scopes.get(name) ?? []);
    for (const name of names) this.#scopes.delete(name);
    const ends = removed.map((scope) => this.#leave(scope));
    for (const end of ends) this.#track(end);
    await Promise.all(ends);
  }

  addIndexers(): void {
    for (const scope of this.#allScopes) scope.addIndexers();
  }

  /** @throws NotCachedError when nobody follows it in this depth and namespace */
  get(depth: Depth, namespace: string, name: string): CachedObject<KubeObject> | undefined {
    const { isNamespaced } = this.resource;
    const [indexer] = this.#indexers(depth, isNamespaced ? namespace : '');
    return indexer?.getByKey(isNamespaced ? `${namespace}/${name}` : name);
  }

  /** @throws NotCachedError, and what `queryOf` throws */
  list(depth: Depth, options: CacheListOptions): CacheList<KubeObject> {
    if (options.namespace && !this.resource.isNamespaced) throw clusterScoped(this.resource);
    const query = queryOf(options, this.label, this.#parts.indexes, depth);
    return runQuery(query, this.#indexers(depth, this.resource.isNamespaced ? query.namespace : ''));
  }

  /** For good. Handlers are told nothing more, or with `drain` what was received. */
  close(drain: boolean = false): Promise<void> {
    this.#closing ??= this.#close(drain);
    return this.#closing;
  }

  async #close(drain: boolean): Promise<void> {
    await Promise.all(this.#allScopes.map((scope) => scope.close(drain)));
    await Promise.all(this.#removals);
  }

  get #allScopes(): readonly Scope[] {
    return [...this.#scopes.values(), ...this.#joining.values()];
  }

  get #depths(): readonly Depth[] {
    return [...new Set(Array.from(this.#holders, ({ depth }) => depth))];
  }

  #newScope(namespace: string): Scope {
    const { source, resource, indexes, resolved } = this.#parts;
    return new Scope({
      source,
      resource,
      indexes,
      options: resolved.optionsOf(namespace),
      metadataHandlers: () =>
        [...this.#holders]
          .filter(({ depth }) => depth === 'metadata')
          .flatMap(({ registrations }) => [...registrations]),
    });
  }

  /** Of one namespace, or of all for ''. */
  #indexers(depth: Depth, namespace: string): readonly InformerIndexer<KubeObject>[] {
    const all = this.#scopes.get('');
    const one = namespace === '' ? undefined : (all ?? this.#scopes.get(namespace));
    if (namespace !== '' && !one) {
      const followed = this.namespaces.join(', ');
      throw new NotCachedError(this.label, `namespace ${namespace} is not followed, only ${followed}`);
    }
    return (one ? [one] : [...this.#scopes.values()]).map((scope) => this.#indexer(scope, depth));
  }

  #indexer(scope: Scope, depth: Depth): InformerIndexer<KubeObject> {
    if (this.#closing) throw new NotCachedError(this.label, 'nobody follows it any more');
    const informer = scope.informer(depth);
    if (!informer) throw new NotCachedError(this.label, 'only its metadata are followed');
    if (informer.isStopped()) throw new NotCachedError(this.label, `${informer.name} has ended`);
    if (!informer.hasSynced()) throw new NotCachedError(this.label, `${informer.name} has not synced`);
    return informer.getIndexer();
  }

  async #readyAll(
    scopes: () => readonly Scope[],
    depths: () => readonly Depth[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (;;) {
      this.#wantOpen();
      const waiting = scopes().filter((scope) => !depths().every((depth) => scope.isReady(depth)));
      if (waiting.length === 0) return;
      try {
        const informers = waiting.flatMap((scope) => depths().map((depth) => scope.informer(depth)));
        const running = new Set(informers.filter((informer) => informer !== undefined));
        await waitForInformers(this.#parts.name, signal, [...running]);
        await abortable(Promise.all(waiting.map((scope) => scope.moved())), signal);
      } catch (error) {
        const isRemoved = waiting.some((scope) => !scopes().includes(scope));
        if (!isRemoved || signal?.aborted) throw error;
      }
    }
  }

  #checkAdded(names: readonly string[]): void {
    this.#wantNamespaces(names);
    if (this.#scopes.has('')) throw this.#refusal('all namespaces are followed already');
    const known = names.filter((name) => this.#scopes.has(name) || this.#joining.has(name));
    if (known.length > 0) throw this.#refusal(`followed, or being added, already: ${known.join(', ')}`);
  }

  #checkRemoved(names: readonly string[]): void {
    this.#wantNamespaces(names);
    const unknown = names.filter((name) => !this.#scopes.has(name));
    if (unknown.length > 0) throw this.#refusal(`not followed: ${unknown.join(', ')}`);
    if (names.length < this.#scopes.size) return;
    throw this.#refusal('none would be left; release the leases instead');
  }

  #wantNamespaces(names: readonly string[]): void {
    this.#wantOpen();
    if (!this.resource.isNamespaced) throw clusterScoped(this.resource);
    checkNamespaces(names);
  }

  #wantOpen(): void {
    if (!this.#closing) return;
    throw new KubeloomError(
      'ERR_KUBELOOM_STOPPED',
      `${this.#parts.name}: ${this.label} are not followed any more`,
    );
  }

  #refusal(why: string): KubeloomError {
    return new KubeloomError('ERR_KUBELOOM_OPTION', `namespaces of ${this.label}: ${why}`);
  }

  async #leave(scope: Scope): Promise<void> {
    const told = [...this.#holders].flatMap(({ depth, registrations }) => {
      const informer = scope.informer(depth);
      return informer ? Array.from(registrations, (registration) => registration.leave(informer)) : [];
    });
    await Promise.all([...told, scope.close(true)]);
  }

  #track(end: Promise<void>): void {
    const tracked = end.catch(() => undefined).finally(() => this.#removals.delete(tracked));
    this.#removals.add(tracked);
  }
}
