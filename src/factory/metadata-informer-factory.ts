/**
 * Informers of any resource that hold nothing but metadata, and receive nothing else: the server is asked for
 * PartialObjectMetadata. For those who look at labels, owners and finalizers only, at a fraction of the bytes.
 */
import type { ResourceRef } from '../kube/resource.ts';
import type { PartialObjectMetadata } from '../kube/wire.ts';
import { anyResource } from './dynamic-informer-factory.ts';
import { InformerFactory } from './informer-factory.ts';
import type { FactoryOptions, FactorySource } from './options.ts';
import type { ResourceWish } from './resource-wish.ts';

export class MetadataInformerFactory extends InformerFactory<PartialObjectMetadata> {
  /** @param source an apiserver, or functions on this thread that give metadata only */
  constructor(source: FactorySource, options: FactoryOptions = {}) {
    super(source, options, 'metadata');
  }

  protected override resolve(wish: ResourceWish): ResourceRef {
    return anyResource(wish);
  }
}
