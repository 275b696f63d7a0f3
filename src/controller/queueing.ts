/** Handlers that turn changes of objects into keys in a work queue. */
import { callGuarded } from '../base/callbacks.ts';
import { invalidOption } from '../base/option-checks.ts';
import { isThenable } from '../base/thenable.ts';
import { abortable, isAbortOf } from '../base/on-abort.ts';
import { parseObjectName } from '../kube/keys.ts';
import type { ShardFilter } from '../kube/shard-filter.ts';
import type { Borrowed, KubeObject, ResourceEventHandler, ResourceRef } from '../index.ts';
import type { PriorityQueue } from '../workqueue/priority-queue.ts';
import type { ObjectChange, Predicate } from './predicates.ts';

/** Returns the keys to reconcile because of a state of an object. */
export type KeysOf<T> = (object: Borrowed<T>) => readonly string[];

/** Returns the key of the object, for the kind of the controller. */
export const ownKey: KeysOf<unknown> = ({ key }) => [key];

/** Priority of objects that have not changed: the initial list, resyncs, objects that a relist found again. */
export const LOW_PRIORITY = -100;

/**
 * Returns a handler that queues the keys of a change; of an update, the keys of both states, because an object may move
 * to another owner. The handler throws an error of the program's functions at the end, and the informer reports it: if
 * the predicate throws, the change counts; if the keys of a state cannot be found, the keys of the other state are
 * still queued.
 */
export function queueingHandler<T>(
  queue: PriorityQueue<string>,
  keysOf: KeysOf<T>,
  predicate: Predicate<T> = () => true,
): ResourceEventHandler<T> {
  const changed = (change: ObjectChange<T>): void => {
    const faults: unknown[] = [];
    const attempt = <R>(call: () => R, otherwise: R): R => {
      try {
        return call();
      } catch (fault) {
        faults.push(fault);
        return otherwise;
      }
    };
    if (!attempt(() => answerOf(predicate(change)), true)) return;
    const states = change.type === 'update' ? [change.previous, change.object] : [change.object];
    // Both states of an update have the same own key.
    const keys =
      keysOf === ownKey
        ? ownKey(change.object)
        : new Set(states.flatMap((state) => attempt(() => keysOf(state), [])));
    const options = { priority: isOld(change) ? LOW_PRIORITY : 0 };
    // One change may affect every object, and the arguments of a call are limited.
    for (const key of keys) queue.addWithOptions(options, key);
    if (faults.length > 0) throw faults[0];
  };
  return {
    onAdd: (object, isInInitialList) => changed({ type: 'add', object, isInInitialList }),
    onUpdate: (previous, object) => changed({ type: 'update', object, previous }),
    onDelete: (deleted) =>
      changed({ type: 'delete', object: deleted.finalStateUnknown ? deleted.last : deleted }),
  };
}

/** A promise would count as true. */
function answerOf(answer: unknown): unknown {
  if (isThenable(answer)) invalidOption('what a predicate returns', answer, 'true or false');
  return answer;
}

/**
 * Returns the keys that belong to a partition. If partitions divide by `uid`, the cache contains only the partition's
 * objects, and all keys belong to it. If they divide by `namespace`, a key may belong to another partition.
 *
 * @param foreign called with such a key; another partition sees the same change of a cluster-scoped object
 */
export function keysOfPartition(
  filter: ShardFilter,
  keysOf: KeysOf<KubeObject>,
  foreign: (key: string) => void,
): KeysOf<KubeObject> {
  if (filter.key === 'uid') return keysOf;
  return (object) =>
    keysOf(object).filter((key) => {
      const isOwn = filter.matchesText(parseObjectName(key).namespace);
      if (!isOwn && object.namespace !== '') foreign(key);
      return isOwn;
    });
}

function isOld(change: ObjectChange): boolean {
  if (change.type === 'add') return change.isInInitialList;
  return change.type === 'update' && change.previous.resourceVersion === change.object.resourceVersion;
}

/**
 * Returns the key of the owner that controls the object, if the owner is of this kind: group and kind are compared, the
 * version is not.
 */
export function controllerKeys(owner: ResourceRef): KeysOf<KubeObject> {
  const keysOf = ownerKeys(owner, (reference) => reference.controller === true);
  return (object) => (object.controllerUid === undefined ? [] : keysOf(object));
}

/** Returns the keys of all owners of this kind that `counts` selects. */
export function ownerKeys(
  owner: ResourceRef,
  counts: (reference: { readonly controller?: boolean }) => boolean = () => true,
): KeysOf<KubeObject> {
  return ({ namespace, metadata }) => {
    const { ownerReferences = [] } = metadata;
    const owners = ownerReferences.filter(
      (reference) =>
        reference.kind === owner.kind && groupOf(reference.apiVersion) === owner.group && counts(reference),
    );
    const keys = owners.map(({ name }) => (owner.isNamespaced ? `${namespace}/${name}` : name));
    // A cluster-scoped object cannot have a namespaced owner.
    return keys.filter((key) => isKeyOf(owner, key));
  };
}

/** A source of keys other than a kind. */
export interface Stream {
  readonly stream: AsyncIterable<unknown>;
  readonly map: (event: unknown) => readonly string[];
}

/**
 * Queues the keys of a stream, until it or the signal ends. An event whose keys cannot be found is reported, and skipped.
 *
 * @param owner kind of the controller
 */
export async function feed(
  { stream, map }: Stream,
  owner: ResourceRef,
  queue: PriorityQueue<string>,
  signal: AbortSignal,
): Promise<void> {
  const iterator = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      // As with for await, an iterator may return a result without a promise.
      const { done, value } = await abortable(Promise.resolve(iterator.next()), signal);
      if (done) return;
      callGuarded('map', () => {
        for (const key of checkedKeys(owner, map(value))) queue.add(key);
      });
    }
  } catch (error) {
    if (!isAbortOf(error, signal)) throw error;
    // Not awaited: a generator returns only after its own wait.
    callGuarded('return', () => iterator.return?.());
  }
}

/** Returns a function that checks the keys from a function of the program. */
export function mappedKeys(owner: ResourceRef, map: KeysOf<KubeObject>): KeysOf<KubeObject> {
  return (object) => checkedKeys(owner, map(object));
}

/** A string instead of an array, or a malformed key, would be queued and fail again and again. @throws ERR_KUBELOOM_OPTION */
function checkedKeys(owner: ResourceRef, keys: unknown): readonly string[] {
  const want = (isRight: boolean, found: unknown): void => {
    const form = owner.isNamespaced ? 'namespace/name' : 'name';
    if (!isRight)
      invalidOption(`what map returns for ${owner.resource}`, found, `a list of keys in the form ${form}`);
  };
  want(Array.isArray(keys), keys);
  for (const key of keys as readonly unknown[]) want(isKeyOf(owner, key), key);
  return keys as readonly string[];
}

function isKeyOf({ isNamespaced }: ResourceRef, key: unknown): boolean {
  return typeof key === 'string' && (isNamespaced ? /^[^/]+\/[^/]+$/ : /^[^/]+$/).test(key);
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
