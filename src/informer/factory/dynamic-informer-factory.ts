/** Informers of any resource: built-in, custom, or of an aggregated server. The kind may be unknown. */
import type { ResourceRef } from '../../kube/resource.ts';
import { findBuiltIn } from '../../kube/resources.ts';
import type { KubeObject, PartialObjectMetadata } from '../../kube/wire.ts';
import { InformerFactory } from './informer-factory.ts';
import type { FactoryOptions, FactorySource } from './informer-factory.ts';
import type { ResourceQuery } from './resource-query.ts';

export class DynamicSharedInformerFactory extends InformerFactory<KubeObject> {
  /** @param source an apiserver, or functions on this thread instead */
  constructor(source: FactorySource, options: FactoryOptions = {}) {
    super(source, options, 'object');
  }

  protected override resolve(query: ResourceQuery): ResourceRef {
    return anyResource(query);
  }
}

/**
 * Returns the built-in resource of these names, or else a resource with the values of the query. Without a kind, objects
 * of any kind are accepted. Without a scope the resource is namespaced, which matters only with the option `namespace`.
 */
export function anyResource({ kind = '', isNamespaced = true, ...names }: ResourceQuery): ResourceRef {
  const { group, version, resource } = names;
  return findBuiltIn(names) ?? { group, version, resource, kind, isNamespaced };
}

export class MetadataInformerFactory extends InformerFactory<PartialObjectMetadata> {
  /** @param source an apiserver, or functions on this thread that return metadata only */
  constructor(source: FactorySource, options: FactoryOptions = {}) {
    super(source, options, 'metadata');
  }

  protected override resolve(query: ResourceQuery): ResourceRef {
    return anyResource(query);
  }
}
