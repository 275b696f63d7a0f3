/**
 * Informers for code that follows all resources, such as a garbage collector. Resources of the typed factory have whole
 * objects, because other code is likely to watch them anyway. All other resources have metadata only.
 */
import type { ShutDownOptions } from '../handlers.ts';
import type { SharedIndexInformer } from '../shared-index-informer.ts';
import type { WaitOptions } from '../wait-for.ts';
import type { KubeObject, PartialObjectMetadata } from '../../kube/wire.ts';
import type { GenericInformer } from './informer-factory.ts';
import type { MetadataInformerFactory } from './dynamic-informer-factory.ts';
import type { ResourceQuery } from './resource-query.ts';
import type { SharedInformerFactory } from './shared-informer-factory.ts';

export class ObjectOrMetadataInformerFactory implements AsyncDisposable {
  readonly #typed: SharedInformerFactory;
  readonly #metadata: MetadataInformerFactory;

  /** Shares the informers of both factories, which the caller may still use directly. */
  constructor(typed: SharedInformerFactory, metadata: MetadataInformerFactory) {
    this.#typed = typed;
    this.#metadata = metadata;
  }

  /** Returns a typed informer if the resource is built in or the typed factory has an informer of it; else metadata. */
  forResource<T = PartialObjectMetadata>(resource: ResourceQuery): GenericInformer<T> {
    const factory = this.#typed.knows(resource) ? this.#typed : this.#metadata;
    return factory.forResource<T>(resource);
  }

  /** Informers of both factories. */
  get informers(): readonly SharedIndexInformer<KubeObject>[] {
    return [...this.#typed.informers, ...this.#metadata.informers];
  }

  /** Starts the informers of both factories. */
  start(signal?: AbortSignal): void {
    this.#typed.start(signal);
    this.#metadata.start(signal);
  }

  /** Waits for the started informers of both factories; rejects when one of the waits rejects. */
  async waitForCacheSync(signal?: AbortSignal, options: Omit<WaitOptions, 'signal'> = {}): Promise<void> {
    await Promise.all([
      this.#typed.waitForCacheSync(signal, options),
      this.#metadata.waitForCacheSync(signal, options),
    ]);
  }

  /** Shuts both factories down. */
  async shutdown(options: ShutDownOptions = {}): Promise<void> {
    const ends = await Promise.allSettled([this.#typed.shutdown(options), this.#metadata.shutdown(options)]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }
}
