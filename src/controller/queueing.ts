/** Handlers that turn changes of objects into keys in a work queue. */
import { parseObjectName } from '../kube/keys.ts';
import type { ShardFilter } from '../kube/shard-filter.ts';
import type { Borrowed, KubeObject, PriorityQueue, ResourceEventHandler, ResourceRef } from '../index.ts';
import type { ObjectChange, Predicate } from './predicates.ts';

/** Returns the keys to reconcile because of one state of an object. */
export type KeysOf<T> = (object: Borrowed<T>) => readonly string[];

/** Priority of objects that have not changed: the initial list, resyncs, objects that a relist found again. */
export const LOW_PRIORITY = -100;

/** An update queues the keys of both states: an object may move from one owner to another. */
export function queueingHandler<T>(
  queue: PriorityQueue<string>,
  keysOf: KeysOf<T>,
  predicate: Predicate<T> = () => true,
): ResourceEventHandler<T> {
  const changed = (change: ObjectChange<T>): void => {
    if (!predicate(change)) return;
    const before = change.type === 'update' ? keysOf(change.previous) : [];
    const keys = new Set([...before, ...keysOf(change.object)]);
    queue.addWithOptions({ priority: isOld(change) ? LOW_PRIORITY : 0 }, ...keys);
  };
  return {
    onAdd: (object, isInInitialList) => changed({ type: 'add', object, isInInitialList }),
    onUpdate: (previous, object) => changed({ type: 'update', object, previous }),
    onDelete: (deleted) =>
      changed({ type: 'delete', object: deleted.finalStateUnknown ? deleted.last : deleted }),
  };
}

/**
 * Returns those keys that belong to a partition: by the namespace of the key, or by the uid of the object, which is the
 * controller's own then.
 */
export function keysOfPartition(filter: ShardFilter, keysOf: KeysOf<KubeObject>): KeysOf<KubeObject> {
  if (filter.key === 'uid') return (object) => (filter.matchesText(object.uid) ? keysOf(object) : []);
  return (object) => keysOf(object).filter((key) => filter.matchesText(parseObjectName(key).namespace));
}

function isOld(change: ObjectChange): boolean {
  if (change.type === 'add') return change.isInInitialList;
  return change.type === 'update' && change.previous.resourceVersion === change.object.resourceVersion;
}

/**
 * Returns the key of the owner that controls the object, if it is of this kind: group and kind count, whatever the
 * version.
 */
export function controllerKeys(owner: ResourceRef): KeysOf<KubeObject> {
  return ({ namespace, controllerUid, metadata }) => {
    if (controllerUid === undefined) return [];
    const controller = metadata.ownerReferences?.find((reference) => reference.controller);
    if (controller?.kind !== owner.kind || groupOf(controller.apiVersion) !== owner.group) return [];
    return [owner.isNamespaced ? `${namespace}/${controller.name}` : controller.name];
  };
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
