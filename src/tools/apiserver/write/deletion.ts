/** The marks of a DELETE on an object: the finalizers that the propagation policy adds, and the deletionTimestamp. */

import { isJsonObject, following } from '../store/json.ts';
import type { Json, KubeObject, ObjectMeta } from '../store/json.ts';
import { timestamp } from './object-preparation.ts';
import { qualifiedName } from '../store/status.ts';
import type { ServedResource } from '../store/resources.ts';

/** Policies for the dependents. */
export const PROPAGATIONS = ['Background', 'Foreground', 'Orphan'] as const;
/** Policy for the dependents of a deleted object. */
export type Propagation = (typeof PROPAGATIONS)[number];

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';
/** Keeps a CustomResourceDefinition until all objects of the kind are gone. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/** Returns everything that keeps a deleted object: the finalizers, and the finalizers in the spec of a namespace. */
export function keepersOf(definition: ServedResource, { metadata, spec }: KubeObject): readonly Json[] {
  const { finalizers = [] } = metadata;
  if (qualifiedName(definition) !== 'namespaces' || !isJsonObject(spec)) return finalizers;
  return [...finalizers, ...(Array.isArray(spec['finalizers']) ? spec['finalizers'] : [])];
}

/** Returns the object as a DELETE leaves it: with a deletionTimestamp, and with the finalizers of the policy. */
export function deleting(
  definition: ServedResource,
  object: KubeObject,
  propagation: Propagation | undefined,
): KubeObject {
  const { finalizers: _, deletionTimestamp, generation = 0, ...rest } = object.metadata;
  const isNamespace = qualifiedName(definition) === 'namespaces';
  // The registries of these two mark the objects themselves.
  const isMarkedAlone = isNamespace || definition.resource === 'customresourcedefinitions';
  const finalizers = finalizersAfter(definition, object.metadata, propagation);
  const marks =
    deletionTimestamp === undefined
      ? { deletionTimestamp: timestamp(), ...(isMarkedAlone ? {} : { deletionGracePeriodSeconds: 0 }) }
      : { deletionTimestamp };
  const counts = deletionTimestamp === undefined && generation > 0 && !isMarkedAlone;
  const next = counts ? following(generation) : generation;
  const metadata = {
    ...rest,
    ...(next > 0 ? { generation: next } : {}),
    ...(finalizers.length > 0 ? { finalizers } : {}),
    ...marks,
  };
  if (!isNamespace) return { ...object, metadata };
  const status = isJsonObject(object['status']) ? object['status'] : {};
  return { ...object, metadata, status: { ...status, phase: 'Terminating' } };
}

function finalizersAfter(
  definition: ServedResource,
  { finalizers: given = [], deletionTimestamp }: ObjectMeta,
  propagation: Propagation | undefined,
): string[] {
  const kept = given.filter((name) => name !== FOREGROUND && name !== ORPHAN);
  const isNew = definition.resource === 'customresourcedefinitions' && deletionTimestamp === undefined;
  const others = isNew && !kept.includes(CLEANUP) ? [...kept, CLEANUP] : kept;
  const present = given.includes(ORPHAN) ? 'Orphan' : given.includes(FOREGROUND) ? 'Foreground' : undefined;
  const byDefault = definition.orphansDependents === true ? 'Orphan' : 'Background';
  const policy = propagation ?? present ?? byDefault;
  if (policy === 'Orphan') return [...others, ORPHAN];
  return policy === 'Foreground' ? [...others, FOREGROUND] : others;
}
