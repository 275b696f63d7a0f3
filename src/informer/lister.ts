/**
 * Listers, as in client-go: they read a cache by name, by namespace and by label selector. Each result comes from a
 * single state of the cache, needs no parsing, and stays readable as long as the caller keeps it.
 */
import { KubeloomError } from '../base/errors.ts';
import { LabelSelector, parseLabelSelector } from '../kube/label-selector.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { groupResource } from './factory/resource-query.ts';
import type { Borrowed, CachedObject } from '../replica/store/cached-object.ts';
import type { SelectableStore } from '../replica/store/indexer.ts';

/** A label selector as text (`app=web,tier in (a,b)`) or parsed. Absent or empty selects everything. */
export type SelectorLike = string | LabelSelector;

/** Reader of a cache. Every read throws ERR_KUBELOOM_NOT_STARTED if the informer was never started. */
export class Lister<T> {
  readonly #store: SelectableStore<T>;
  readonly #resource: ResourceRef;
  readonly #all: NamespaceLister<T>;

  constructor(store: SelectableStore<T>, resource: ResourceRef) {
    this.#store = store;
    this.#resource = resource;
    this.#all = this.namespace('');
  }

  /**
   * Returns the objects of all namespaces, in the order in which the server first listed them.
   *
   * @throws ERR_KUBELOOM_SELECTOR for an invalid label selector
   */
  list(selector: SelectorLike = ''): CachedObject<T>[] {
    return this.#all.list(selector);
  }

  /**
   * Walks over a snapshot of the objects of all namespaces, for collections so large that reading them at once would
   * block the event loop: other tasks run after every `drainBudgetMs`. Each object is readable until the next is
   * requested; `retain()` keeps it. Leave the loop with `break` or `return`, so that the snapshot is released.
   *
   * @throws ERR_KUBELOOM_SELECTOR for an invalid label selector
   */
  scan(selector: SelectorLike = ''): AsyncGenerator<Borrowed<T>, void, undefined> {
    return this.#all.scan(selector);
  }

  /** Returns a cluster-scoped object; undefined if it is not in the cache. */
  get(name: string): CachedObject<T> | undefined {
    return this.#all.get(name);
  }

  /**
   * Returns a cluster-scoped object.
   *
   * @throws NotFoundError (ERR_KUBELOOM_NOT_FOUND) if it is not in the cache
   */
  require(name: string): CachedObject<T> {
    return this.#all.require(name);
  }

  /** Returns a lister of a single namespace. */
  namespace(namespace: string): NamespaceLister<T> {
    return new NamespaceLister(this.#store, this.#resource, namespace);
  }

  /** Alias of `namespace`, the name in client-go's generic lister. */
  byNamespace(namespace: string): NamespaceLister<T> {
    return this.namespace(namespace);
  }
}

/** Reads the objects of a single namespace from a cache. */
export class NamespaceLister<T> {
  readonly #store: SelectableStore<T>;
  readonly #resource: ResourceRef;
  readonly #namespace: string;

  constructor(store: SelectableStore<T>, resource: ResourceRef, namespace: string) {
    this.#store = store;
    this.#resource = resource;
    this.#namespace = namespace;
  }

  /**
   * Returns the objects of this namespace.
   *
   * @throws ERR_KUBELOOM_SELECTOR for an invalid label selector
   */
  list(selector: SelectorLike = ''): CachedObject<T>[] {
    this.#store.checkStarted?.();
    return this.#store.select(selectorOf(selector), this.#namespace);
  }

  /** Walks over the objects of this namespace, as `Lister.scan` over all. */
  scan(selector: SelectorLike = ''): AsyncGenerator<Borrowed<T>, void, undefined> {
    this.#store.checkStarted?.();
    return this.#store.scan(selectorOf(selector), this.#namespace);
  }

  /** Returns the object; undefined if it is not in the cache. */
  get(name: string): CachedObject<T> | undefined {
    this.#store.checkStarted?.();
    return this.#store.getByKey(this.#namespace === '' ? name : `${this.#namespace}/${name}`);
  }

  /**
   * Returns the object.
   *
   * @throws NotFoundError (ERR_KUBELOOM_NOT_FOUND) if it is not in the cache
   */
  require(name: string): CachedObject<T> {
    const found = this.get(name);
    if (found) return found;
    throw new NotFoundError(`${groupResource(this.#resource)} ${JSON.stringify(name)} not found`);
  }
}

/** Error with the status and reason of an apiserver, so that code that checks for a 404 works. */
export class NotFoundError extends KubeloomError {
  /** Always 404, although no request was made. */
  readonly httpStatus: number = 404;
  /** Always `NotFound`. */
  readonly reason: string = 'NotFound';

  constructor(message: string) {
    super('ERR_KUBELOOM_NOT_FOUND', message);
  }
}

export function selectorOf(selector: SelectorLike): LabelSelector {
  return selector instanceof LabelSelector ? selector : parseLabelSelector(selector);
}
