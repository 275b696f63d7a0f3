/** client-go's functions that create shared informers. `new SharedIndexInformer` does the same. */
import type { ListerWatcher } from '../kube/list-watch.ts';
import type { ResourceOf } from '../kube/resource.ts';
import type { ServerSource } from '../kube/server-source.ts';
import type { Indexers } from '../replica/store/index-functions.ts';
import type { InformerOptions } from './options.ts';
import { SharedIndexInformer } from './shared-index-informer.ts';

/** Creates an informer. @param resyncPeriodMs of handlers without their own period; 0: never */
export function newSharedInformer<T>(
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceOf<T>,
  resyncPeriodMs: number,
): SharedIndexInformer<T> {
  return new SharedIndexInformer(source, resource, { resyncPeriodMs });
}

/** Creates an informer with indexes. @param resyncPeriodMs of handlers without their own period; 0: never */
export function newSharedIndexInformer<T>(
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceOf<T>,
  resyncPeriodMs: number,
  indexers: Indexers<T>,
): SharedIndexInformer<T> {
  return new SharedIndexInformer(source, resource, { resyncPeriodMs, indexers });
}

export function newSharedIndexInformerWithOptions<T>(
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceOf<T>,
  options: InformerOptions<T>,
): SharedIndexInformer<T> {
  return new SharedIndexInformer(source, resource, options);
}
