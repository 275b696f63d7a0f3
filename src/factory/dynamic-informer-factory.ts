/** Informers of any resource: built-in, custom, or of an aggregated server. Nobody needs to know its kind. */
import type { ResourceRef } from '../kube/resource.ts';
import { findBuiltIn } from '../kube/resources.ts';
import type { KubeObject } from '../kube/wire.ts';
import { InformerFactory } from './informer-factory.ts';
import type { FactoryOptions, FactorySource } from './options.ts';
import type { ResourceWish } from './resource-wish.ts';

export class DynamicSharedInformerFactory extends InformerFactory<KubeObject> {
  /** @param source an apiserver, or functions on this thread in its place */
  constructor(source: FactorySource, options: FactoryOptions = {}) {
    super(source, options, 'object');
  }

  protected override resolve(wish: ResourceWish): ResourceRef {
    return anyResource(wish);
  }
}

/**
 * What is not in the table is what the wish says. Without a kind objects are taken as they come; without a scope
 * it is namespaced, which matters only to those who ask for one namespace.
 */
export function anyResource({ kind = '', isNamespaced = true, ...names }: ResourceWish): ResourceRef {
  const { group, version, resource } = names;
  return findBuiltIn(names) ?? { group, version, resource, kind, isNamespaced };
}
