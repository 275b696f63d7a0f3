/**
 * For those who follow everything that there is, as the garbage collector does: the whole objects of what the typed
 * factory knows, which others are likely to watch anyway, and the metadata of all else.
 */
import type { ShutDownOptions } from '../informer/handlers.ts';
import type { SharedIndexInformer } from '../informer/shared-index-informer.ts';
import type { WaitOptions } from '../informer/wait-for.ts';
import type { KubeObject, PartialObjectMetadata } from '../kube/wire.ts';
import type { GenericInformer } from './informer-factory.ts';
import type { MetadataInformerFactory } from './metadata-informer-factory.ts';
import type { ResourceWish } from './resource-wish.ts';
import type { SharedInformerFactory } from './shared-informer-factory.ts';

export class ObjectOrMetadataInformerFactory implements AsyncDisposable {
  readonly #typed: SharedInformerFactory;
  readonly #metadata: MetadataInformerFactory;

  /** Both remain usable by themselves; their informers are shared. */
  constructor(typed: SharedInformerFactory, metadata: MetadataInformerFactory) {
    this.#typed = typed;
    this.#metadata = metadata;
  }

  /** Typed if the resource is built in or the typed factory has an informer of it; else metadata. */
  forResource<T = PartialObjectMetadata>(resource: ResourceWish): GenericInformer<T> {
    const factory = this.#typed.knows(resource) ? this.#typed : this.#metadata;
    return factory.forResource<T>(resource);
  }

  /** Of both. */
  get informers(): readonly SharedIndexInformer<KubeObject>[] {
    return [...this.#typed.informers, ...this.#metadata.informers];
  }

  /** Starts what was asked for in both. */
  start(signal?: AbortSignal): void {
    this.#typed.start(signal);
    this.#metadata.start(signal);
  }

  /** Waits for what was started in both; fails when one of them does. */
  async waitForCacheSync(signal?: AbortSignal, options: Omit<WaitOptions, 'signal'> = {}): Promise<void> {
    await Promise.all([
      this.#typed.waitForCacheSync(signal, options),
      this.#metadata.waitForCacheSync(signal, options),
    ]);
  }

  /** Shuts both down. */
  async shutdown(options: ShutDownOptions = {}): Promise<void> {
    const ends = await Promise.allSettled([this.#typed.shutdown(options), this.#metadata.shutdown(options)]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }
}
