/** Conditions in the status of an object: `metav1.Condition`. */
import { anArrayOf, anObject, having, invalidOption } from '../../base/option-checks.ts';
import { isEqualJson } from '../../base/json-equal.ts';
import type { ResourceOf, ResourceRef } from '../../kube/resource.ts';
import type { KubeObject } from '../../kube/wire.ts';
import type { ObjectClient } from '../object-client.ts';
import type { RequestOptions } from '../requests/request-options.ts';
import { versionOf } from './finalizers.ts';
import type { Finalized } from './finalizers.ts';

/** A condition of an object's status. */
export interface Condition {
  /** Name of the condition in CamelCase, unique among the conditions of the object: `Ready`. */
  readonly type: string;
  /** `Unknown` if the controller cannot determine the condition. */
  readonly status: 'True' | 'False' | 'Unknown';
  /** Cause of the last transition, in CamelCase. */
  readonly reason: string;
  /** Details for people; may be empty. */
  readonly message: string;
  /** `metadata.generation` of the object for which the condition was determined. */
  readonly observedGeneration?: number;
  /** Time at which `status` changed last. */
  readonly lastTransitionTime: string;
}

/** A condition as the types of objects have it: those of built-in kinds take any text as `status`, and require little more. */
type StoredCondition = Partial<Omit<Condition, 'status'>> &
  Pick<Condition, 'type'> & { readonly status: string };

/**
 * Writes the condition into the status of an object, with the version that was read: a merge patch replaces the whole list, and
 * another program may own conditions in the list. Returns the object as stored; undefined if the condition is unchanged.
 *
 * @throws ERR_KUBELOOM_CONFLICT when the object changed since it was read, and the other errors of `patchStatus`
 */
export async function patchCondition<T = KubeObject>(
  client: ObjectClient,
  resource: ResourceOf<T>,
  object: Finalized & { readonly status?: { readonly conditions?: readonly StoredCondition[] } | undefined },
  condition: Omit<Condition, 'lastTransitionTime'>,
  options: RequestOptions = {},
): Promise<T | undefined> {
  having('an ObjectClient', 'patchStatus')('client', client);
  anObject('object', object);
  const { resourceVersion, ...key } = versionOf(object);
  const before = object.status?.conditions;
  const conditions = setCondition(before, condition);
  if (conditions === before) return undefined;
  const patch = { metadata: { resourceVersion }, status: { conditions } };
  return (await client.patchStatus(resource as ResourceRef, key, patch, options)) as T;
}

/**
 * Returns the conditions with this condition in the place of the condition of its type, or behind the others.
 * `lastTransitionTime` changes only with `status`; `observedGeneration` is the generation of this condition, or absent. Returns the
 * same array if the condition is unchanged, so that no write is needed.
 */
export function setCondition(
  conditions: readonly StoredCondition[] | undefined,
  condition: Omit<Condition, 'lastTransitionTime'>,
  now: Date = new Date(),
): readonly Condition[] {
  if (conditions !== undefined) anArrayOf(anObject)('conditions', conditions);
  anObject('condition', condition);
  if (!(now instanceof Date) || Number.isNaN(now.getTime())) invalidOption('now', now, 'a date');
  const present = (conditions ?? []) as readonly Condition[];
  const index = present.findIndex(({ type }) => type === condition.type);
  const before = present[index];
  const isTransition = before?.status !== condition.status;
  const lastTransitionTime = isTransition || !before ? timestamp(now) : before.lastTransitionTime;
  const { observedGeneration: _earlier, ...others } = before ?? {};
  const after: Condition = { ...others, ...condition, lastTransitionTime };
  if (!before) return [...present, after];
  return isEqualJson(before, after) ? present : present.with(index, after);
}

/** Returns the time in Kubernetes' form, in whole seconds. */
export function timestamp(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
