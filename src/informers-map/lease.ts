/** What `informerFor` gives: the right to read one kind and to be told of it, until it is given back. */
import { KubeloomError } from '../errors.ts';
import type { HandlerOptions } from '../informer/handlers.ts';
import { NotFoundError } from '../informer/lister.ts';
import type { Reports } from '../informer/reports.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { HandlerRegistration, ResourceEventHandler } from '../processor/handler.ts';
import type { CachedObject } from '../store/entry.ts';
import type { Holder, KindCache } from './kind-cache.ts';
import { objectKey } from './object-key.ts';
import type { ObjectKey } from './object-key.ts';
import { NotCachedError } from './not-cached-error.ts';
import type { CacheList, CacheListOptions } from './query.ts';
import { ViewRegistration } from './view-registration.ts';
import { show, showList } from './view.ts';
import type { View } from './view.ts';

export interface LeaseParts {
  readonly view: View;
  readonly kind: KindCache;
  readonly holder: Holder;
  readonly reports: Reports;
}

export class InformerLease<T> implements AsyncDisposable {
  readonly resource: ResourceRef;
  readonly view: View;
  readonly #parts: LeaseParts;
  #released: Promise<void> | undefined;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.resource = parts.kind.resource;
    this.view = parts.view;
  }

  /** Whether everything that it reads is in the cache; true from the start unless it was made with `wait: false`. */
  hasSynced(): boolean {
    return !this.#released && this.#parts.kind.isReady(this.#parts.holder.depth);
  }

  /**
   * As of an informer; of several namespaces the handler is still called once at a time. What a namespace that is
   * added later has comes as an initial list; what a removed one had comes as deleted, with unknown final state.
   * The lease's handlers end with it.
   *
   * @throws NotCachedError when it was released
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    const { holder, reports, view } = this.#parts;
    const kind = this.#open();
    const registration = new ViewRegistration({
      handler,
      options,
      show: (entry) => show(view, entry, this.resource),
      reports,
      syncName: `InformersMap ${kind.label}`,
    });
    kind.register(holder, registration);
    return registration;
  }

  /**
   * No more calls; resolves when the one in progress has returned. Of one that is not of this lease nothing happens.
   *
   * @throws ERR_KUBELOOM_OWN_CALL when the handler itself waits for it; it is removed all the same
   */
  async removeEventHandler(registration: HandlerRegistration): Promise<void> {
    const { registrations } = this.#parts.holder;
    if (!(registration instanceof ViewRegistration)) {
      const message = 'a handler is removed by the registration that addEventHandler() returned for it';
      throw new KubeloomError('ERR_KUBELOOM_REGISTRATION', message);
    }
    if (registrations.delete(registration)) await registration.close();
  }

  /** @throws NotCachedError when it was released, or does not follow that namespace */
  get(key: ObjectKey): CachedObject<T> | undefined {
    const { namespace, name } = objectKey(key, this.resource);
    const entry = this.#open().get(this.#parts.holder.depth, namespace, name);
    return entry && (show(this.view, entry, this.resource) as CachedObject<T>);
  }

  /** @throws NotFoundError (ERR_KUBELOOM_NOT_FOUND) when it does not exist, and what `get` throws */
  require(key: ObjectKey): CachedObject<T> {
    const found = this.get(key);
    if (found) return found;
    const { namespace, name } = objectKey(key, this.resource);
    const { label } = this.#parts.kind;
    throw new NotFoundError(
      `${label} ${JSON.stringify(namespace === '' ? name : `${namespace}/${name}`)} not found`,
    );
  }

  /** As `InformersMap.list`. */
  list(options: CacheListOptions = {}): CacheList<T> {
    return showList(this.view, this.#open().list(this.#parts.holder.depth, options), this.resource);
  }

  /**
   * Gives it back: its handlers are not called again, and the last lease of a kind ends its watch. Resolves when
   * that is over, calls in progress included; so a handler must never await it.
   */
  release(): Promise<void> {
    this.#released ??= this.#parts.kind.release(this.#parts.holder);
    return this.#released;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #open(): KindCache {
    const { kind } = this.#parts;
    if (this.#released) throw new NotCachedError(kind.label, 'this lease was released');
    return kind;
  }
}
