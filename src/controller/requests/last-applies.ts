/**
 * The last applies of this thread. A server stores some fields in another form: `0.1` as `100m`, an empty list not at all, others as a
 * webhook decides. The answer to an apply shows that form, so a later state of the object can be compared with the answer.
 */
import { createHash, randomUUID } from 'node:crypto';
import { RecentMap } from '../../base/recent-map.ts';
import { isRecord } from '../../kube/meta-shape.ts';

/** An apply, with digests of what it sent and of what the server answered. */
export interface LastApply {
  readonly manager: string;
  readonly subresource: string;
  readonly resourceVersion: unknown;
  readonly wanted: string;
  /** The answer's values of the members that were sent. */
  readonly stored: string;
  /** The fields that the manager owns, `fieldsV1`. */
  readonly owned: string;
}

const UIDS_MAX = 50_000;
const DIGEST_CHARACTERS = 20;
const applies = new RecentMap<readonly LastApply[]>(UIDS_MAX);

/** Returns the last apply of each manager and subresource to the object of a uid. */
export function lastApplies(uid: string): readonly LastApply[] {
  return applies.get(uid) ?? [];
}

export function noteApply(uid: string, apply: LastApply): void {
  const { manager, subresource } = apply;
  const others = lastApplies(uid).filter(
    (each) => each.manager !== manager || each.subresource !== subresource,
  );
  applies.set(uid, [...others, apply]);
}

/** Returns the values of the stored object in the places of the members that were sent. A list counts as a whole. */
export function valuesAt(wanted: unknown, stored: unknown): unknown {
  if (!isMap(wanted) || !isMap(stored)) return stored;
  const names = Object.keys(wanted).filter(
    (name) => wanted[name] !== undefined && Object.hasOwn(stored, name),
  );
  return Object.fromEntries(names.map((name) => [name, valuesAt(wanted[name], stored[name])]));
}

/** Returns a text that is equal for equal JSON, in any order of members. If the value is no JSON, or too deep, no text is equal. */
export function digestOf(value: () => unknown): string {
  try {
    const json = JSON.stringify(value(), (_name, member: unknown) =>
      isMap(member) ? sorted(member) : member,
    );
    return createHash('sha256').update(json).digest('base64').slice(0, DIGEST_CHARACTERS);
  } catch {
    return randomUUID();
  }
}

type Members = Readonly<Record<string, unknown>>;

function isMap(value: unknown): value is Members {
  return isRecord(value) && !Array.isArray(value);
}

function sorted(members: Members): object {
  return Object.fromEntries(Object.entries(members).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
