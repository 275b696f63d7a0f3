/**
 * Listers: client-go's reading side of a cache, by name, by namespace and by label selector. Answers come
 * from one state, without parsing an object, and stay good for as long as you hold them.
 */
import { KubeloomError } from '../errors.ts';
import { LabelSelector, parseLabelSelector } from '../kube/label-selector.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { CachedObject } from '../store/entry.ts';
import type { SelectableStore } from '../store/indexer.ts';

/** `app=web,tier in (a,b)`, or parsed already. Absent or empty: everything. */
export type SelectorLike = string | LabelSelector;

export class Lister<T> {
  readonly #store: SelectableStore<T>;
  readonly #resource: ResourceRef;

  constructor(store: SelectableStore<T>, resource: ResourceRef) {
    this.#store = store;
    this.#resource = resource;
  }

  /**
   * Objects of all namespaces, in the order in which the server first listed them.
   *
   * @throws ERR_KUBELOOM_SELECTOR when the text is no label selector
   */
  list(selector: SelectorLike = ''): CachedObject<T>[] {
    return this.#store.select(selectorOf(selector), '');
  }

  /** A cluster-scoped object. Undefined when it is not in the cache. */
  get(name: string): CachedObject<T> | undefined {
    return this.#store.getByKey(name);
  }

  /** @throws ERR_KUBELOOM_NOT_FOUND when it is not in the cache */
  require(name: string): CachedObject<T> {
    return this.get(name) ?? notFound(this.#resource, name);
  }

  /** The same, within one namespace. */
  namespace(namespace: string): NamespaceLister<T> {
    return new NamespaceLister(this.#store, this.#resource, namespace);
  }

  /** As in client-go's generic lister: `namespace`. */
  byNamespace(namespace: string): NamespaceLister<T> {
    return this.namespace(namespace);
  }
}

export class NamespaceLister<T> {
  readonly #store: SelectableStore<T>;
  readonly #resource: ResourceRef;
  readonly #namespace: string;

  constructor(store: SelectableStore<T>, resource: ResourceRef, namespace: string) {
    this.#store = store;
    this.#resource = resource;
    this.#namespace = namespace;
  }

  /** @throws ERR_KUBELOOM_SELECTOR when the text is no label selector */
  list(selector: SelectorLike = ''): CachedObject<T>[] {
    return this.#store.select(selectorOf(selector), this.#namespace);
  }

  /** Undefined when it is not in the cache. */
  get(name: string): CachedObject<T> | undefined {
    return this.#store.getByKey(this.#namespace === '' ? name : `${this.#namespace}/${name}`);
  }

  /** @throws ERR_KUBELOOM_NOT_FOUND when it is not in the cache */
  require(name: string): CachedObject<T> {
    return this.get(name) ?? notFound(this.#resource, name);
  }
}

/** As a server would say it: what looks for a 404 finds one. */
export class NotFoundError extends KubeloomError {
  readonly httpStatus: number = 404;
  readonly reason: string = 'NotFound';

  constructor(message: string) {
    super('ERR_KUBELOOM_NOT_FOUND', message);
  }
}

function notFound({ resource, group }: ResourceRef, name: string): never {
  const qualified = group === '' ? resource : `${resource}.${group}`;
  throw new NotFoundError(`${qualified} ${JSON.stringify(name)} not found`);
}

function selectorOf(selector: SelectorLike): LabelSelector {
  return selector instanceof LabelSelector ? selector : parseLabelSelector(selector);
}
