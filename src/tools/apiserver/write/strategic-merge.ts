/**
 * Strategic merge patch of built-in kinds. The shape of the kind says which lists merge, and by which key. The directives are `$patch`, `$retainKeys`, `$setElementOrder` and
 * `$deleteFromPrimitiveList`.
 */

import { UNTYPED } from '../fields/schema-types.ts';
import type { FieldType } from '../fields/schema-types.ts';
import { goText, goTypeOf } from '../store/go-text.ts';
import { isJsonObject, memberOf, setMember, textOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { badRequest, bareFailure } from '../store/status.ts';

const PATCH = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_VALUES = '$deleteFromPrimitiveList';
const ORDER = '$setElementOrder';

function isDirective(name: string): boolean {
  return name === RETAIN_KEYS || name.startsWith(DELETE_VALUES) || name.startsWith(ORDER);
}

/** @throws StatusError 400 and 500 for directives that a cluster refuses, and 500 for an item without the key */
export function strategicMerge(target: JsonObject, patch: JsonObject, type: FieldType): JsonObject {
  const { [PATCH]: directive, ...fields } = patch;
  if (directive === 'replace') return fields;
  if (directive === 'delete') return {};
  if (directive !== undefined) throw unknownDirective(patch);
  const result = retained(target, fields);
  for (const [name, order] of Object.entries(fields)) {
    if (!name.startsWith(ORDER)) continue;
    if (!Array.isArray(order)) throw unexpected([], order);
    const field = fieldOf(name, ORDER, 'setElementOrder list');
    const merged = inOrder(memberOf(result, field), memberOf(fields, field), order, type.member(field));
    delete fields[name];
    if (merged === undefined) continue;
    setMember(result, field, merged);
    delete fields[field];
  }
  for (const [name, value] of Object.entries(fields)) {
    if (name === RETAIN_KEYS) continue;
    if (name.startsWith(DELETE_VALUES))
      deleteValues(result, fieldOf(name, DELETE_VALUES, 'primitive list'), value);
    else setMerged(result, name, mergeField(memberOf(result, name), value, type.member(name) ?? UNTYPED));
  }
  return result;
}

function setMerged(result: JsonObject, name: string, merged: Json | undefined): void {
  if (merged === undefined || merged === null) delete result[name];
  else setMember(result, name, merged);
}

function unknownDirective(patch: JsonObject): Error {
  return bareFailure(`unknown patch type: ${goText(patch[PATCH])} in map: ${goText(patch)}`);
}

function unexpected(wanted: Json, found: Json | undefined): Error {
  return bareFailure(`expected a ${goTypeOf(wanted)}, but received a ${goTypeOf(found)}`);
}

/** Returns the field that a directive such as `$setElementOrder/ports` names. */
function fieldOf(name: string, directive: string, what: string): string {
  if (!name.startsWith(`${directive}/`)) throw badRequest(`invalid patch format of ${what}`);
  return name.slice(directive.length + 1);
}

/** Returns the members that `$retainKeys` retains, which must name every member of the patch. */
function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const { [RETAIN_KEYS]: keys } = patch;
  if (keys === undefined) return { ...target };
  const given = Object.entries(patch).filter(([name, value]) => value !== null && !isDirective(name));
  if (!Array.isArray(keys) || !given.every(([name]) => keys.includes(name)))
    throw badRequest('invalid patch format of retainKeys');
  return Object.fromEntries(Object.entries(target).filter(([name]) => keys.includes(name)));
}

function mergeField(target: Json | undefined, patch: Json | undefined, type: FieldType): Json | undefined {
  if (isJsonObject(patch) && isJsonObject(target)) return strategicMerge(target, patch, type);
  if (!Array.isArray(patch) || !Array.isArray(target)) return withoutDirectives(patch);
  return type.isMerged ? mergeList(target, patch, type) : patch;
}

/** Returns a value that replaces an absent value: without nulls, directives, and the maps and items of `$patch`. */
function withoutDirectives(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, PATCH)) return undefined;
  const result: JsonObject = {};
  for (const [name, member] of Object.entries(value))
    if (!isDirective(name)) setMerged(result, name, withoutDirectives(member));
  return result;
}

function mergeList(target: Json[], patch: Json[], { mergeKey, item }: FieldType): Json[] {
  checkTypes(target, patch);
  if (mergeKey !== undefined) return mergeItems(mergeKey, target, patch, item);
  return ordered([...new Set([...target, ...patch])], patch, target, textOf);
}

/** @throws StatusError 500 for items of several types */
function checkTypes(...lists: Json[][]): void {
  if (new Set(lists.flat().map(goTypeOf)).size > 1)
    throw bareFailure(`list element types are not identical: ${goText(lists)}`);
}

function nameOf(key: string | undefined, item: Json): string {
  if (key === undefined) return textOf(item);
  if (!isJsonObject(item)) throw unexpected({}, item);
  if (!Object.hasOwn(item, key))
    throw bareFailure(`map: ${goText(item)} does not contain declared merge key: ${key}`);
  return textOf(item[key]);
}

function mergeItems(key: string, target: Json[], patch: Json[], type: FieldType): Json[] {
  const dead = new Set<string>();
  let isReplaced = false;
  const entries = patch.filter((entry) => {
    if (!isJsonObject(entry) || !Object.hasOwn(entry, PATCH)) return true;
    const { [PATCH]: directive } = entry;
    if (directive === 'merge') throw bareFailure('merging lists cannot yet be specified in the patch');
    if (directive === 'replace') isReplaced = true;
    else if (directive === 'delete') dead.add(nameOf(key, entry));
    else throw unknownDirective(entry);
    return false;
  });
  if (isReplaced) return entries;
  const name = (item: Json): string => nameOf(key, item);
  const present = target.filter((item) => !dead.has(name(item)));
  const result = [...present];
  const places = ranks(present, name);
  for (const entry of entries) {
    const place = places.get(name(entry));
    if (place === undefined) places.set(name(entry), result.push(withoutDirectives(entry) ?? null) - 1);
    else result[place] = mergeField(result[place], entry, type) ?? null;
  }
  return ordered(result, entries, present, name);
}

/**
 * Orders the items of a merged list: items of the patch in the order of the patch, other items as they were. A new item
 * precedes the items that the patch does not name.
 */
function ordered(
  merged: readonly Json[],
  patch: readonly Json[],
  before: readonly Json[],
  name: (item: Json) => string,
): Json[] {
  const [wanted, present] = [ranks(patch, name), ranks(before, name)];
  const isNamed = (item: Json): boolean => wanted.has(name(item));
  const rank = (names: ReadonlyMap<string, number>, item: Json): number => names.get(name(item)) ?? -1;
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
function ranks(items: readonly Json[], name: (item: Json) => string): Map<string, number> {
  const found = new Map<string, number>();
  for (const [index, item] of items.entries()) if (!found.has(name(item))) found.set(name(item), index);
  return found;
}

function deleteValues(result: JsonObject, field: string, values: Json | undefined): void {
  const present = memberOf(result, field);
  if (!Array.isArray(present) || !Array.isArray(values)) return;
  checkTypes(present, values);
  const kept = present.filter((entry) => !values.includes(entry));
  setMember(result, field, kept);
}

/** Returns the merged list of a field in the order of a directive, which names every item of the patch; undefined if there is no list. */
function inOrder(
  target: Json | undefined,
  patch: Json | undefined,
  order: readonly Json[],
  type: FieldType = UNTYPED,
): Json[] | undefined {
  const name = (item: Json): string => nameOf(type.mergeKey, item);
  const names = order.map(name);
  for (const list of [target, patch])
    if (list !== undefined && !Array.isArray(list)) throw unexpected([], list);
  const given = Array.isArray(patch) ? patch : [];
  const items = given.filter((item) => !isJsonObject(item) || !Object.hasOwn(item, PATCH)).map(name);
  let place = -1;
  const isOrdered = items.every((item) => (place = names.indexOf(item, place + 1)) >= 0);
  if (order.length > 0 && !isOrdered)
    throw bareFailure(
      `The order in patch list:\n${goText(given)}\n doesn't match ${ORDER} list:\n${goText([...order])}\n`,
    );
  const merged = patch === undefined ? target : mergeField(target, patch, type);
  return Array.isArray(merged)
    ? ordered(merged, order, Array.isArray(target) ? target : [], name)
    : undefined;
}
