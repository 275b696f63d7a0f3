/**
 * A part of a cache: the objects of a shard. If an object is deleted and created again under the same name in another
 * shard, it is gone from the first part, and new in the second.
 */
import type { ResourceRef } from '../../kube/resource.ts';
import type { ShardFilter } from '../../kube/shard-filter.ts';
import type { ResourceEventHandler } from '../../replica/deliver/handler.ts';

/** Returns whether an object belongs to the part. */
export type IsInPart = (object: { readonly uid: string; readonly namespace: string }) => boolean;

/** @internal Cluster-scoped objects belong to each part of the namespaces. */
export function partOf(filter: ShardFilter, { isNamespaced }: ResourceRef): IsInPart | undefined {
  if (filter.key === 'uid') return ({ uid }) => filter.matchesText(uid);
  return isNamespaced ? ({ namespace }) => filter.matchesText(namespace) : undefined;
}

/** @internal Returns a handler that receives the changes of the part. */
export function handlerOfPart<T>(isIn: IsInPart, handler: ResourceEventHandler<T>): ResourceEventHandler<T> {
  return {
    onAdd: (added, isInInitialList) => (isIn(added) ? handler.onAdd?.(added, isInInitialList) : undefined),
    onUpdate: (previous, current) => {
      if (!isIn(current)) return isIn(previous) ? handler.onDelete?.(previous) : undefined;
      return isIn(previous) ? handler.onUpdate?.(previous, current) : handler.onAdd?.(current, false);
    },
    onDelete: (deleted) =>
      isIn(deleted.finalStateUnknown ? deleted.last : deleted) ? handler.onDelete?.(deleted) : undefined,
  };
}
