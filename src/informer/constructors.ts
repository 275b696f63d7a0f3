/** client-go's functions that make shared informers; `new SharedIndexInformer` is the same. */
import type { KubeConfig } from '@kubernetes/client-node';
import type { ListerWatcher } from '../kube/list-watch.ts';
import type { ResourceOf } from '../kube/resource.ts';
import type { Indexers } from '../store/index-functions.ts';
import type { InformerOptions } from './options.ts';
import { SharedIndexInformer } from './shared-index-informer.ts';

/** @param resyncPeriodMs of handlers without a wish of their own; 0: never */
export function newSharedInformer<T>(
  source: KubeConfig | ListerWatcher<T>,
  resource: ResourceOf<T>,
  resyncPeriodMs: number,
): SharedIndexInformer<T> {
  return new SharedIndexInformer(source, resource, { resyncPeriodMs });
}

/** @param resyncPeriodMs of handlers without a wish of their own; 0: never */
export function newSharedIndexInformer<T>(
  source: KubeConfig | ListerWatcher<T>,
  resource: ResourceOf<T>,
  resyncPeriodMs: number,
  indexers: Indexers<T>,
): SharedIndexInformer<T> {
  return new SharedIndexInformer(source, resource, { resyncPeriodMs, indexers });
}

export function newSharedIndexInformerWithOptions<T>(
  source: KubeConfig | ListerWatcher<T>,
  resource: ResourceOf<T>,
  options: InformerOptions<T>,
): SharedIndexInformer<T> {
  return new SharedIndexInformer(source, resource, options);
}
