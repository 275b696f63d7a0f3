/** Conditions in the status of an object: `metav1.Condition`. */
import { anArrayOf, anObject, invalidOption } from '../../base/option-checks.ts';

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

/** A condition of an object whose type does not restrict the values of `status`, as the types of built-in kinds. */
type StoredCondition = Omit<Condition, 'status'> & { readonly status: string };

/**
 * Returns the conditions with this condition in the place of the condition of its type, or behind the others.
 * `lastTransitionTime` changes only with `status`. Returns the same array if the condition is unchanged, so that no
 * write is needed.
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
  const after: Condition = { ...before, ...condition, lastTransitionTime };
  if (!before) return [...present, after];
  return isSame(before, after) ? present : present.with(index, after);
}

/** Returns the time in Kubernetes' form, in whole seconds. */
export function timestamp(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}

function isSame(before: Condition, after: Condition): boolean {
  return Object.keys(after).every((name) => Reflect.get(before, name) === Reflect.get(after, name));
}
