/**
 * Strategic merge patch of built-in kinds. The shape of the kind says which lists merge, and by which key. The directives are `$patch`, `$retainKeys`, `$setElementOrder` and
 * `$deleteFromPrimitiveList`.
 */

import { UNTYPED } from '../fields/schema-types.ts';
import type { FieldType } from '../fields/schema-types.ts';
import { isJsonObject, memberOf, setMember, textOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { bareFailure } from '../store/status.ts';

const PATCH = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_VALUES = '$deleteFromPrimitiveList/';
const ORDER = '$setElementOrder/';

/** @throws StatusError 500 for an unknown directive, and for an item without the key */
export function strategicMerge(target: JsonObject, patch: JsonObject, type: FieldType): JsonObject {
  const directive = patch[PATCH];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') {
    throw bareFailure(`unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);
  }
  const retained = patch[RETAIN_KEYS];
  const kept = Object.entries(target).filter(([name]) => !Array.isArray(retained) || retained.includes(name));
  const result: JsonObject = Object.fromEntries(kept);
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) continue;
    if (value === null) delete result[name];
    else setMember(result, name, mergeField(memberOf(result, name), value, type.member(name) ?? UNTYPED));
  }
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(DELETE_VALUES)) deleteValues(result, name.slice(DELETE_VALUES.length), value);
    if (name.startsWith(ORDER)) setOrder(result, target, name.slice(ORDER.length), value, type);
  }
  return result;
}

function mergeField(target: Json | undefined, patch: Json | undefined, type: FieldType): Json | undefined {
  if (isJsonObject(patch)) return strategicMerge(isJsonObject(target) ? target : {}, patch, type);
  if (!Array.isArray(patch)) return patch;
  const present = Array.isArray(target) ? target : [];
  if (!type.isMerged) return patch;
  const { mergeKey } = type;
  if (mergeKey !== undefined) return mergeItems(mergeKey, present, patch, type.item);
  return ordered([...new Set([...present, ...patch])], patch, present, textOf);
}

function mergeItems(key: string, target: readonly Json[], patch: readonly Json[], type: FieldType): Json[] {
  const entries = patch.filter((entry) => isJsonObject(entry));
  if (entries.some((entry) => entry[PATCH] === 'replace' && entry[key] === undefined)) {
    return entries.filter((entry) => entry[PATCH] === undefined).map(withoutDirectives);
  }
  const result: (JsonObject | undefined)[] = target.filter((entry) => isJsonObject(entry));
  const places = new Map<Json | undefined, number>();
  for (const [place, item] of result.entries()) if (!places.has(item?.[key])) places.set(item?.[key], place);
  for (const entry of entries) {
    if (entry[key] === undefined) {
      throw bareFailure(`map: ${goText(entry)} does not contain declared merge key: ${key}`);
    }
    const place = places.get(entry[key]);
    if (entry[PATCH] === 'delete') {
      if (place !== undefined) result[place] = undefined;
      places.delete(entry[key]);
    } else if (place === undefined) {
      places.set(entry[key], result.push(strategicMerge({}, entry, type)) - 1);
    } else {
      result[place] = strategicMerge(result[place] ?? {}, entry, type);
    }
  }
  const kept = result.filter((entry) => entry !== undefined);
  return ordered(kept, entries, target, (item) => textOf(memberOf(item, key)));
}

/**
 * Orders the items of a merged list: items of the patch in the order of the patch, other items as they were. A new item
 * precedes the items that the patch does not name.
 */
function ordered(
  merged: readonly Json[],
  patch: readonly Json[],
  before: readonly Json[],
  nameOf: (item: Json) => string,
): Json[] {
  const [wanted, present] = [ranks(patch, nameOf), ranks(before, nameOf)];
  const isNamed = (item: Json): boolean => wanted.has(nameOf(item));
  const rank = (names: ReadonlyMap<string, number>, item: Json): number => names.get(nameOf(item)) ?? -1;
  const patched = merged.filter(isNamed);
  patched.sort((one, other) => rank(wanted, one) - rank(wanted, other));
  const result: Json[] = [];
  let taken = 0;
  for (const item of merged.filter((each) => !isNamed(each))) {
    for (
      let next = patched[taken];
      next !== undefined && rank(present, next) < rank(present, item);
      next = patched[++taken]
    )
      result.push(next);
    result.push(item);
  }
  return [...result, ...patched.slice(taken)];
}

/** Returns the first position of each name. */
function ranks(items: readonly Json[], nameOf: (item: Json) => string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [index, item] of items.entries()) if (!found.has(nameOf(item))) found.set(nameOf(item), index);
  return found;
}

function deleteValues(result: JsonObject, field: string, values: Json | undefined): void {
  const present = memberOf(result, field);
  if (!Array.isArray(present)) return;
  const dead = new Set(Array.isArray(values) ? values : []);
  setMember(
    result,
    field,
    present.filter((entry) => !dead.has(entry)),
  );
}

function setOrder(
  result: JsonObject,
  target: JsonObject,
  field: string,
  order: Json | undefined,
  type: FieldType,
): void {
  const present = memberOf(result, field);
  if (!Array.isArray(present) || !Array.isArray(order)) return;
  const key = type.member(field)?.mergeKey;
  const before = memberOf(target, field);
  const nameOf = (item: Json): string => textOf(key === undefined ? item : memberOf(item, key));
  setMember(result, field, ordered(present, order, Array.isArray(before) ? before : [], nameOf));
}

function withoutDirectives(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !name.startsWith('$')));
}

/** Writes a value as Go's %v does. */
export function goText(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isJsonObject(value)) return value === null || value === undefined ? '<nil>' : String(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `map[${members.map(([name, member]) => `${name}:${goText(member)}`).join(' ')}]`;
}
