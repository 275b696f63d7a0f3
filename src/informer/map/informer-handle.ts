/** Result of `informerFor`: reads a kind and registers handlers for it, until it is released. */
import { wrongRegistration } from '../handlers.ts';
import type { HandlerOptions } from '../handlers.ts';
import { NotFoundError } from '../lister.ts';
import type { ErrorReporter } from '../error-reporter.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { HandlerRegistration, ResourceEventHandler } from '../../replica/deliver/handler.ts';
import type { CachedObject } from '../../replica/store/cached-object.ts';
import { NotCachedError } from './kind-cache.ts';
import type { KindCache, ObjectKey, Subscription } from './kind-cache.ts';
import type { CacheList, CacheListOptions } from './query.ts';
import type { Shareable } from '../shareable.ts';
import { ViewRegistration } from './view-registration.ts';
import { handlerOfPart } from './part.ts';
import type { IsInPart } from './part.ts';
import { show } from './view.ts';
import type { InformerView } from '../informer-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';

/** @internal */
export interface InformerHandleParts {
  readonly kind: KindCache;
  readonly subscription: Subscription;
  readonly reports: ErrorReporter;
  /** The objects that the handle shows; undefined for all. */
  readonly isIn: IsInPart | undefined;
}

/** Metadata of the server's answer to a write. */
export interface WrittenMetadata {
  /** Absent or '' for a cluster-scoped object. */
  readonly namespace?: string;
  /** The version that the cache must reach. */
  readonly resourceVersion?: string;
}

/** Reads a kind of a cache and registers handlers for it, until it is released. */
export class InformerHandle<T> implements AsyncDisposable {
  /** The resource of the kind. */
  readonly resource: ResourceRef;
  /** The view that `informerFor` requested. */
  readonly view: InformerView;
  readonly #parts: InformerHandleParts;
  #released: Promise<void> | undefined;

  /** @internal */
  constructor(parts: InformerHandleParts) {
    this.#parts = parts;
    this.resource = parts.kind.resource;
    this.view = parts.subscription.view;
  }

  /**
   * Returns whether all namespaces of the kind have synced; always true unless `informerFor` was called with `wait:
   * false`.
   */
  hasSynced(): boolean {
    return !this.#released && this.#parts.kind.isReady(this.#parts.subscription.view);
  }

  /** Resolves with the error of an informer of this kind that ended by itself, which only three failures cause. */
  get failed(): Promise<unknown> {
    return this.#parts.kind.failed;
  }

  /**
   * Registers a handler, as for an informer. The calls run in sequence, also with several namespaces. The objects of a
   * namespace that is added later are delivered as an initial list; the objects of a removed namespace as deleted, with
   * unknown final state. Releasing this handle removes the handlers.
   *
   * @throws NotCachedError when this handle was released
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    const { subscription, reports, isIn } = this.#parts;
    const kind = this.#open();
    const registration = new ViewRegistration({
      handler: isIn ? handlerOfPart(isIn, handler) : handler,
      options,
      show: (entry) => show(this.view, entry, this.resource),
      reports,
      syncName: `InformersMap ${kind.label}`,
    });
    kind.register(subscription, registration);
    return registration;
  }

  /**
   * Removes a handler; resolves when the call in progress has returned. Ignores registrations of other handles.
   *
   * @throws ERR_KUBELOOM_OWN_CALL if the handler itself waits for it; the handler is removed anyway
   */
  async removeEventHandler(registration: HandlerRegistration): Promise<void> {
    const { registrations } = this.#parts.subscription;
    if (!(registration instanceof ViewRegistration)) throw wrongRegistration();
    if (registrations.delete(registration)) await registration.close();
  }

  /** Returns an object. @throws NotCachedError if this handle was released, or the namespace is not cached */
  get(key: ObjectKey): CachedObject<T> | undefined {
    return this.#open().get(this.view, key, this.#parts.isIn) as CachedObject<T> | undefined;
  }

  /** Returns an object. @throws NotFoundError (ERR_KUBELOOM_NOT_FOUND) if it does not exist, and the errors of `get` */
  require(key: ObjectKey): CachedObject<T> {
    const found = this.get(key);
    if (found) return found;
    const { kind } = this.#parts;
    throw new NotFoundError(`${kind.label} ${JSON.stringify(kind.keyOf(key).text)} not found`);
  }

  /** Returns the selected objects, as `InformersMap.list`. */
  list(options: CacheListOptions = {}): CacheList<T> {
    return this.#open().list(this.view, options, this.#parts.isIn) as CacheList<T>;
  }

  /**
   * Resolves when the cache contains a write: pass the server's answer to the write. Resolves at once when the
   * namespace of the object is not cached. See `waitForResourceVersion` of informers for objects that a selector leaves
   * out.
   *
   * @throws NotCachedError when this handle was released; the errors of `waitForResourceVersion`
   */
  async waitForWrite(
    { metadata = {} }: { readonly metadata?: WrittenMetadata },
    options?: SignalOptions,
  ): Promise<void> {
    const informer = this.#open().informerOf(this.#parts.subscription.view, metadata.namespace ?? '');
    await informer?.waitForResourceVersion(metadata.resourceVersion ?? '', options);
  }

  /** @internal Returns the version of the cache of a namespace; '' if it is not cached. */
  versionOf(namespace: string): string {
    return this.#open().informerOf(this.#parts.subscription.view, namespace)?.lastSyncResourceVersion() ?? '';
  }

  /**
   * @internal Returns the informer of the kind, for other threads. @throws ERR_KUBELOOM_OPTION if the kind has several
   *   namespaces
   */
  share(): Shareable {
    return this.#open().share(this.#parts.subscription.view);
  }

  /**
   * Releases this handle: removes the handlers; releasing the last handle of a kind ends the watch. Resolves when calls
   * in progress have also returned, so a handler must never await it.
   */
  release(): Promise<void> {
    this.#released ??= this.#parts.kind.release(this.#parts.subscription);
    return this.#released;
  }

  /** Releases this handle. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #open(): KindCache {
    const { kind } = this.#parts;
    if (this.#released) throw new NotCachedError(kind.label, 'this informer handle was released');
    return kind;
  }
}
