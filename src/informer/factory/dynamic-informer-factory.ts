/** Informers of any resource: built-in, custom, or of an aggregated server. The kind may be unknown. */
import { having } from '../../base/option-checks.ts';
import type { SignalOptions } from '../../base/signal-options.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import { findBuiltIn } from '../../kube/resources.ts';
import type { KubeObject, PartialObjectMetadata } from '../../kube/wire.ts';
import { InformerFactory } from './informer-factory.ts';
import type { FactoryOptions, FactorySource, GenericInformer } from './informer-factory.ts';
import type { ResourceQuery, ResourceQueryOf } from './resource-query.ts';
import type { ShutDownOptions } from '../handlers.ts';
import type { SharedIndexInformer } from '../shared-index-informer.ts';
import type { WaitOptions } from '../wait-for.ts';
import type { SharedInformerFactory } from './shared-informer-factory.ts';

/** Informers of any resource, shared: an informer is made by the first request for its resource. */
export class DynamicSharedInformerFactory extends InformerFactory<'object'> {
  /** @param source an apiserver, or functions on this thread instead */
  constructor(source: FactorySource, options: FactoryOptions = {}) {
    super(source, options, 'object');
  }

  /** Returns the built-in resource of these names, or else a resource with the values of the query. */
  protected override resolve(query: ResourceQuery): ResourceRef {
    return anyResource(query);
  }
}

/**
 * Returns the built-in resource of these names, or else a resource with the values of the query. If the kind is absent,
 * objects of any kind are accepted. If the scope is absent, the resource counts as namespaced, which matters only with
 * the option `namespace`.
 */
export function anyResource({ kind = '', isNamespaced = true, ...names }: ResourceQuery): ResourceRef {
  const { group, version, resource } = names;
  return findBuiltIn(names) ?? { group, version, resource, kind, isNamespaced };
}

/**
 * Informers that receive and store only metadata: they request PartialObjectMetadata from the server. They need a fraction
 * of the bytes, and suit code that reads only labels, owners and finalizers.
 */
export class MetadataInformerFactory extends InformerFactory<'metadata'> {
  /** @param source an apiserver, or functions on this thread that return metadata only */
  constructor(source: FactorySource, options: FactoryOptions = {}) {
    super(source, options, 'metadata');
  }

  /** Returns the built-in resource of these names, or else a resource with the values of the query. */
  protected override resolve(query: ResourceQuery): ResourceRef {
    return anyResource(query);
  }
}

const aFactory = having('a factory of informers', 'forResource', 'shutdown');

/**
 * Informers for code that follows all resources, such as a garbage collector. Resources of the typed factory are cached
 * as whole objects, because other code is likely to watch them anyway. All other resources are cached as metadata only.
 */
export class ObjectOrMetadataInformerFactory implements AsyncDisposable {
  readonly #typed: SharedInformerFactory;
  readonly #metadata: MetadataInformerFactory;

  /** Shares the informers of both factories, which the caller may still use directly. */
  constructor(typed: SharedInformerFactory, metadata: MetadataInformerFactory) {
    aFactory('typed', typed);
    aFactory('metadata', metadata);
    this.#typed = typed;
    this.#metadata = metadata;
  }

  /**
   * Returns a typed informer if the resource is built in or the typed factory holds an informer of it; otherwise an
   * informer of metadata.
   */
  forResource<T = PartialObjectMetadata>(resource: ResourceQueryOf<T>): GenericInformer<T> {
    const factory = this.#typed.knows(resource) ? this.#typed : this.#metadata;
    return factory.forResource(resource) as GenericInformer<T>;
  }

  /** Informers of both factories. */
  get informers(): readonly SharedIndexInformer<KubeObject>[] {
    return [...this.#typed.informers, ...this.#metadata.informers];
  }

  /** Starts the informers of both factories. */
  start(options?: SignalOptions): void {
    this.#typed.start(options);
    this.#metadata.start(options);
  }

  /** Waits for the started informers of both factories; rejects when either wait rejects. */
  async waitForCacheSync(options: WaitOptions = {}): Promise<void> {
    await Promise.all([this.#typed.waitForCacheSync(options), this.#metadata.waitForCacheSync(options)]);
  }

  /** Shuts both factories down. */
  async shutdown(options: ShutDownOptions = {}): Promise<void> {
    const ends = await Promise.allSettled([this.#typed.shutdown(options), this.#metadata.shutdown(options)]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** Shuts both factories down. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }
}
