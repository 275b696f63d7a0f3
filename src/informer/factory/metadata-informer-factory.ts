/**
 * Informers of any resource that receive and store only metadata: they request PartialObjectMetadata from the server. They
 * need a fraction of the bytes, and suit code that reads only labels, owners and finalizers.
 */
import type { ResourceRef } from '../../kube/resource.ts';
import type { PartialObjectMetadata } from '../../kube/wire.ts';
import { anyResource } from './dynamic-informer-factory.ts';
import { InformerFactory } from './informer-factory.ts';
import type { FactoryOptions, FactorySource } from './options.ts';
import type { ResourceQuery } from './resource-query.ts';

export class MetadataInformerFactory extends InformerFactory<PartialObjectMetadata> {
  /** @param source an apiserver, or functions on this thread that return metadata only */
  constructor(source: FactorySource, options: FactoryOptions = {}) {
    super(source, options, 'metadata');
  }

  protected override resolve(query: ResourceQuery): ResourceRef {
    return anyResource(query);
  }
}
