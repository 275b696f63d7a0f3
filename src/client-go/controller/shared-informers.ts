/** client-go's functions that create a shared informer. */
import { SharedIndexInformer } from '../../informer/shared-index-informer.ts';
import type { InformerOptions } from '../../informer/informer-options.ts';
import type { ListerWatcher } from '../../kube/lister-watcher.ts';
import type { ResourceOf } from '../../kube/resource.ts';
import type { ServerSource } from '../../kube/server-source.ts';

/** Creates an informer. @param resyncPeriodMs of handlers without their own period; 0: never */
export function newSharedInformer<T>(
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceOf<T>,
  resyncPeriodMs: number,
): SharedIndexInformer<T> {
  return new SharedIndexInformer(source, resource, { resyncPeriodMs });
}

/** Creates an informer with indexes. @param resyncPeriodMs of handlers without their own period; 0: never */
export function newSharedIndexInformer<T, Name extends string>(
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceOf<T>,
  resyncPeriodMs: number,
  indexers: Required<InformerOptions<T, Name>>['indexers'],
): SharedIndexInformer<T, Name> {
  return new SharedIndexInformer(source, resource, { resyncPeriodMs, indexers });
}

/** Creates an informer by options. */
export function newSharedIndexInformerWithOptions<T, Name extends string = string>(
  source: ServerSource | ListerWatcher<T>,
  resource: ResourceOf<T>,
  options: InformerOptions<T, Name>,
): SharedIndexInformer<T, Name> {
  return new SharedIndexInformer(source, resource, options);
}
