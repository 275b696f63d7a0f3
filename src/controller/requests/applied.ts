/**
 * The comparison of an object that a controller would apply with the stored object: a controller that applies only
 * differences writes only when it must. If the stored object contains `managedFields`, the comparison is by ownership,
 * as the server's: a manager owns the fields of the last apply, and an apply without such a field removes it. Values that
 * the server stores in another form are compared with its answer to the last apply.
 */
import { createHash, randomUUID } from 'node:crypto';
import { text, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { KubeloomError } from '../../base/errors.ts';
import { containsJson, isEqualJson } from '../../base/json-equal.ts';
import { RecentMap } from '../../base/recent-map.ts';
import { parseJson } from '../../base/parse-json.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { Fields } from '../../kube/meta-shape.ts';
import { described, isOurs, metadataOf } from '../object-arguments.ts';

/** Options of `applied`. */
export interface AppliedOptions {
  /** Name of the manager that applies. Default: any manager of the object. */
  readonly fieldManager?: string;
  /** Subresource to which it applies. Default: the object itself. */
  readonly subresource?: string;
}

const CHECKS: OptionChecks<AppliedOptions> = { fieldManager: text, subresource: text };

const APPLIES_MAX = 100_000;

/** Members that identify the object: no manager owns them. */
const IDENTITY: ReadonlySet<string> = new Set(['apiVersion', 'kind']);
const IDENTITY_METADATA: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
]);

/**
 * Returns whether an apply of `desired` would leave `current` unchanged: the fields have equal values in both, and the
 * manager owns exactly these fields. It is also true if this thread's last apply to the object sent equal fields, and the
 * fields have the values and the owner of the server's answer, which may be in another form: `100m` for `0.1`. If
 * `current` lacks `managedFields`, as after a transform, only values are compared, and a field that is no longer desired
 * may stay unnoticed.
 *
 * @param desired object for `apply`
 * @param current object of the server or a cache; undefined if it does not exist
 * @throws ERR_KUBELOOM_OPTION
 */
export function applied(desired: object, current: object | undefined, options: AppliedOptions = {}): boolean {
  checkOptions('options of applied', options, CHECKS);
  checkObject('desired', desired);
  if (current === undefined) return false;
  checkObject('current', current);
  const wanted = withoutIdentity(desired);
  const stored = withoutIdentity(current);
  const owned = ownedIn(current, desired, options);
  if (!owned) return containsJson(stored, wanted) || isLastApply(desired, current, options);
  // The server keeps no entry for a manager without fields.
  if (Object.keys(wanted).length === 0) return options.fieldManager === undefined || owned.length === 0;
  const isEqual = owned.some((fields) => isRecord(fields) && isSame(fields, wanted, stored));
  return isEqual || isLastApply(desired, current, options);
}

/** The last applies of this thread, by manager and by any manager. */
const applies = new RecentMap<ReturnType<typeof applyOf>>(APPLIES_MAX);

/** Returns a function that notes the apply with the answer. The digest is made now: the caller may change the object. */
export function applying(desired: object, manager: string, subresource = ''): (answer: object) => void {
  const { sent } = applyOf(desired, {}, manager, subresource);
  return (answer) => {
    const apply = { ...applyOf(desired, answer, manager, subresource), sent };
    for (const by of [manager, '']) applies.set(keyOf(answer, by, subresource), apply);
  };
}

function isLastApply(desired: object, current: object, options: AppliedOptions): boolean {
  const { fieldManager = '', subresource = '' } = options;
  const last = applies.get(keyOf(current, fieldManager, subresource));
  if (!last) return false;
  const now = applyOf(desired, current, last.fieldManager, subresource);
  if (last.sent !== now.sent) return false;
  if (metadataOf(current).managedFields !== undefined && last.owned !== now.owned) return false;
  return last.values === now.values || last.resourceVersion === now.resourceVersion;
}

function keyOf(object: object, manager: string, subresource: string): string {
  return JSON.stringify([metadataOf(object).uid, manager, subresource]);
}

function applyOf(desired: object, object: object, fieldManager: string, subresource: string) {
  return {
    fieldManager,
    resourceVersion: metadataOf(object).resourceVersion,
    sent: digestOf(() => withoutIdentity(desired)),
    owned: digestOf(() => ownedIn(object, desired, { fieldManager, subresource })),
    // In the places of the members that are sent.
    values: digestOf(() => valuesAt(withoutIdentity(desired), withoutIdentity(object))),
  };
}

/** Returns the stored values in the places of the wanted members. A list counts as a whole. */
function valuesAt(wanted: unknown, stored: unknown): unknown {
  if (!isMap(wanted) || !isMap(stored)) return stored;
  const names = Object.keys(wanted).filter(
    (name) => wanted[name] !== undefined && Object.hasOwn(stored, name),
  );
  return Object.fromEntries(names.map((name) => [name, valuesAt(wanted[name], stored[name])]));
}

/** Returns a text that is equal for equal JSON, in any order of members. If the value is no JSON, or too deep, no text is equal. */
function digestOf(value: () => unknown): string {
  const sorted = (_name: string, member: unknown): unknown =>
    isMap(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member;
  try {
    const json = JSON.stringify(value(), sorted) ?? '';
    return createHash('sha1').update(json).digest('base64');
  } catch {
    return randomUUID();
  }
}

function isMap(value: unknown): value is Fields {
  return isRecord(value) && !Array.isArray(value);
}

function checkObject(name: string, value: unknown): void {
  if (isRecord(value) && !Array.isArray(value) && !isOurs(value)) return;
  const advice = isRecord(value) && isOurs(value) ? 'pass entry.object' : 'pass an object';
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `${name} is ${described(value)}: ${advice}`);
}

/** Returns the fields of each apply that `managedFields` name; undefined without `managedFields`. */
function ownedIn(object: object, desired: object, options: AppliedOptions): readonly unknown[] | undefined {
  const { managedFields } = metadataOf(object);
  if (!Array.isArray(managedFields)) return undefined;
  const entries = managedFields.filter(isRecord).filter((entry) => isOf(entry, desired, options));
  return entries.map(({ fieldsV1 }) => fieldsV1);
}

function isOf(entry: Fields, desired: object, { fieldManager, subresource = '' }: AppliedOptions): boolean {
  const { manager, operation, apiVersion, subresource: through = '' } = entry;
  if (operation !== 'Apply' || through !== subresource) return false;
  if (fieldManager !== undefined && manager !== fieldManager) return false;
  const { apiVersion: wanted = apiVersion } = desired as Fields;
  return apiVersion === wanted;
}

/** Returns the members that a manager may own. */
function withoutIdentity(object: object): Fields {
  const members = Object.entries(object).filter(([name]) => !IDENTITY.has(name) && name !== 'metadata');
  const metadata = Object.entries(metadataOf(object)).filter(([name]) => !IDENTITY_METADATA.has(name));
  if (metadata.length > 0) members.push(['metadata', Object.fromEntries(metadata)]);
  return Object.fromEntries(members);
}

/**
 * Compares a value with the set of fields that the manager owns.
 *
 * @param owned part of `fieldsV1`: `f:NAME` is a field, `k:{…}` an item of a list by its keys, `v:…` an item by its
 *   value, `i:N` an item by its index; `.` the value itself. Empty: the value is owned as a whole
 */
function isSame(owned: Fields, wanted: unknown, stored: unknown): boolean {
  const paths = Object.keys(owned).filter((path) => path !== '.');
  if (paths.length === 0) return isEqualJson(wanted, stored);
  if (!isRecord(wanted) || !isRecord(stored) || sizeOf(wanted) !== paths.length) return false;
  const places: (readonly [wanted: number, stored: number])[] = [];
  for (const path of paths) {
    const [at, storedAt] = [placeOf(wanted, path), placeOf(stored, path)];
    const part = owned[path];
    if (at === undefined || storedAt === undefined) return false;
    if (!isSame(isRecord(part) ? part : {}, wanted[at], stored[storedAt])) return false;
    places.push([Number(at), Number(storedAt)]);
  }
  return !Array.isArray(wanted) || isInOrder(places);
}

/** Returns whether the items of a list are in the same order in both. */
function isInOrder(places: readonly (readonly [wanted: number, stored: number])[]): boolean {
  const stored = places.toSorted(([a], [b]) => a - b).map(([, place]) => place);
  return stored.every((place, index) => index === 0 || place > (stored[index - 1] ?? 0));
}

function sizeOf(value: object): number {
  return Array.isArray(value)
    ? value.length
    : Object.values(value).filter((member) => member !== undefined).length;
}

/** Returns the name of the member, or the index of the item, that a path element of `fieldsV1` names. */
function placeOf(value: Fields, path: string): string | undefined {
  const name = path.slice(2);
  if (!Array.isArray(value)) return path.startsWith('f:') && Object.hasOwn(value, name) ? name : undefined;
  const items: readonly unknown[] = value;
  if (path.startsWith('i:')) return name;
  const index = path.startsWith('v:')
    ? indexByValue(items, parseJson(name))
    : indexByKeys(items, parseJson(name));
  return index === -1 ? undefined : String(index);
}

function indexByValue(items: readonly unknown[], value: unknown): number {
  return items.findIndex((item) => isEqualJson(item, value));
}

function indexByKeys(items: readonly unknown[], keys: unknown): number {
  if (!isRecord(keys)) return -1;
  const entries = Object.entries(keys);
  const has = (item: unknown, isKey: (value: unknown, key: unknown) => boolean): boolean =>
    isRecord(item) && entries.every(([name, key]) => isKey(item[name], key));
  const exact = items.findIndex((item) => has(item, isEqualJson));
  if (exact !== -1) return exact;
  // A key that the item omits stands for the default of the field: `protocol: TCP`.
  return items.findIndex((item) => has(item, (value, key) => value === undefined || isEqualJson(value, key)));
}
