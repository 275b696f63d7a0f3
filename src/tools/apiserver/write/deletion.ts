/** The marks of a DELETE on an object: the finalizers that the propagation policy adds, and the deletionTimestamp. */

import { isJsonObject } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { timestamp } from './object-preparation.ts';
import { invalid, qualifiedName } from '../store/status.ts';
import type { ServedResource } from '../store/resources.ts';

const PROPAGATIONS = ['Background', 'Foreground', 'Orphan'] as const;
/** Policy for the dependents of a deleted object. */
export type Propagation = (typeof PROPAGATIONS)[number];

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';
/** Keeps a CustomResourceDefinition until all objects of the kind are gone. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/** Kind of the options of a DELETE in messages. */
const OPTIONS = { kind: 'DeleteOptions', group: 'meta.k8s.io' };

/**
 * Reads `propagationPolicy`, or the older `orphanDependents`; undefined if both are absent.
 *
 * @throws StatusError 422 for both, and for a policy that does not exist
 */
export function propagationOf(query: URLSearchParams, options: JsonObject): Propagation | undefined {
  const { propagationPolicy = query.get('propagationPolicy'), orphanDependents } = options;
  const field = 'propagationPolicy';
  const given = JSON.stringify(propagationPolicy);
  if (propagationPolicy !== null && typeof orphanDependents === 'boolean') {
    const body = `Invalid value: ${given}: orphanDependents and deletionPropagation cannot be both set`;
    throw invalid(OPTIONS, '', [{ type: 'FieldValueInvalid', field, body }]);
  }
  if (propagationPolicy !== null && !PROPAGATIONS.some((known) => known === propagationPolicy)) {
    const body = `Unsupported value: ${given}: supported values: "Foreground", "Background", "Orphan", "nil"`;
    throw invalid(OPTIONS, '', [{ type: 'FieldValueNotSupported', field, body }]);
  }
  if (orphanDependents === true) return 'Orphan';
  if (orphanDependents === false) return 'Background';
  return PROPAGATIONS.find((known) => known === propagationPolicy);
}

/** True when a deletion is a dry run. @throws StatusError 422 for another value than `All` */
export function isDryDeletion(query: URLSearchParams, { dryRun }: JsonObject): boolean {
  const given = [...query.getAll('dryRun'), ...(Array.isArray(dryRun) ? dryRun : [])].filter(
    (value) => value !== '',
  );
  if (given.some((value) => value !== 'All')) {
    const body = `Unsupported value: ${JSON.stringify(given)}: supported values: "All"`;
    throw invalid(OPTIONS, '', [{ type: 'FieldValueNotSupported', field: 'dryRun', body }]);
  }
  return given.length > 0;
}

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
  const { finalizers: given = [], deletionTimestamp, generation = 0, ...rest } = object.metadata;
  const isNamespace = qualifiedName(definition) === 'namespaces';
  const finalizers = finalizersAfter(definition, given, propagation);
  const marks =
    deletionTimestamp === undefined
      ? { deletionTimestamp: timestamp(), ...(isNamespace ? {} : { deletionGracePeriodSeconds: 0 }) }
      : { deletionTimestamp };
  const next = deletionTimestamp === undefined && generation > 0 ? generation + 1 : generation;
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
  given: readonly string[],
  propagation: Propagation | undefined,
): string[] {
  const kept = given.filter((name) => name !== FOREGROUND && name !== ORPHAN);
  const isDefinition = definition.resource === 'customresourcedefinitions' && !kept.includes(CLEANUP);
  const others = isDefinition ? [...kept, CLEANUP] : kept;
  const present = given.includes(ORPHAN) ? 'Orphan' : given.includes(FOREGROUND) ? 'Foreground' : undefined;
  const byDefault = definition.orphansDependents === true ? 'Orphan' : 'Background';
  const policy = propagation ?? present ?? byDefault;
  if (policy === 'Orphan') return [...others, ORPHAN];
  return policy === 'Foreground' ? [...others, FOREGROUND] : others;
}
