/**
 * Operations on typed values: the fields of a value, the difference of two values, the union of two values, and a value
 * without some fields. Pure functions.
 */

import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, memberOf, setMember } from '../store/json.ts';
import { goSyntax, goText, goTypeOf } from '../store/go-text.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { FieldSet } from './field-set.ts';
import type { FieldPath } from './field-set.ts';
import { UNTYPED, elementOfItem, formOf } from './schema-types.ts';
import type { FieldType, ItemRule } from './schema-types.ts';

export function fieldsOf(value: Json, type: FieldType): FieldSet {
  const paths: FieldPath[] = [];
  collect(value, type, [], paths);
  return FieldSet.of(paths);
}

function collect(value: Json, type: FieldType, path: FieldPath, paths: FieldPath[]): void {
  const form = formOf(type, value);
  if (form === 'leaf') {
    paths.push(path);
  } else if (form === 'items') {
    for (const [element, items] of grouped(type.items, value)) {
      const inside = [...path, element];
      paths.push(inside);
      const [first = null] = items;
      if (items.length === 1) collectItem(first, type.item, inside, paths);
    }
  } else {
    for (const [name, member] of membersOf(value)) {
      const inside = [...path, `f:${name}`];
      collect(member, type.member(name) ?? UNTYPED, inside, paths);
      const isEmpty = isJsonObject(member) && Object.keys(member).length === 0;
      if (isEmpty || !type.names(name)) paths.push(inside);
    }
  }
}

/** An item is itself a member, so a leaf needs no second entry. */
function collectItem(item: Json, type: FieldType, path: FieldPath, paths: FieldPath[]): void {
  if (formOf(type, item) !== 'leaf') collect(item, type, path, paths);
}

function membersOf(value: Json | undefined): [string, Json][] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined);
}

/** Returns the items of a list by their element, in the order of the list. Items without their keys are left out. */
function grouped(rule: ItemRule | undefined, list: Json | undefined): Map<string, Json[]> {
  const groups = new Map<string, Json[]>();
  if (rule === undefined || !Array.isArray(list)) return groups;
  for (const item of list) {
    const element = elementOfItem(rule, item);
    if (element === undefined) continue;
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

interface Findings {
  readonly added: FieldPath[];
  readonly modified: FieldPath[];
  readonly removed: FieldPath[];
}

export function compare(before: Json | undefined, after: Json | undefined, type: FieldType): Comparison {
  const found: Findings = { added: [], modified: [], removed: [] };
  contrast(before, after, type, [], found);
  return {
    added: FieldSet.of(found.added),
    modified: FieldSet.of(found.modified),
    removed: FieldSet.of(found.removed),
  };
}

function contrast(
  given: Json | undefined,
  wanted: Json | undefined,
  type: FieldType,
  path: FieldPath,
  found: Findings,
): void {
  if (given === wanted && typeof given !== 'object') return;
  const before = given ?? (type.isAlwaysPresent ? {} : given);
  const after = wanted ?? (type.isAlwaysPresent ? {} : wanted);
  // A null has the form of the other value, as far as the type allows both.
  const forms = [before, after]
    .filter((value) => (value ?? null) !== null)
    .map((value) => formOf(type, value));
  const isTree = forms.length > 0 && !forms.includes('leaf') && !(isHollow(before) && isHollow(after));
  if (forms.includes('items')) contrastItems(before, after, type, path, found);
  if (forms.includes('fields')) contrastMembers(before, after, type, path, found);
  if (path.length === 0) return;
  if (before === undefined && after !== undefined) found.added.push(path);
  else if (after === undefined && before !== undefined) found.removed.push(path);
  else if (!isTree && !isDeepStrictEqual(before, after)) found.modified.push(path);
}

function isHollow(value: Json | undefined): boolean {
  return (
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

function contrastMembers(
  before: Json | undefined,
  after: Json | undefined,
  type: FieldType,
  path: FieldPath,
  found: Findings,
): void {
  const names = new Set([...membersOf(before), ...membersOf(after)].map(([name]) => name));
  for (const name of names) {
    const member = type.member(name) ?? UNTYPED;
    contrast(memberOf(before, name), memberOf(after, name), member, [...path, `f:${name}`], found);
  }
}

function contrastItems(
  before: Json | undefined,
  after: Json | undefined,
  type: FieldType,
  path: FieldPath,
  found: Findings,
): void {
  const [old, present] = [grouped(type.items, before), grouped(type.items, after)];
  for (const element of new Set([...old.keys(), ...present.keys()])) {
    const [one = [], other = []] = [old.get(element), present.get(element)];
    const inside = [...path, element];
    if (one.length < 2 && other.length < 2) contrast(one[0], other[0], type.item, inside, found);
    else if (!isDeepStrictEqual(one, other)) found.modified.push(inside);
  }
}

/** Returns the live value with all values that the configuration sets. */
export function merge(live: Json | undefined, config: Json | undefined, type: FieldType): Json | undefined {
  if (config === undefined) return live;
  const form = formOf(type, config);
  // A null does not empty a tree: a null has no members that could replace the members of the tree.
  if (config === null && formOf(type, live) !== 'leaf' && !isHollow(live)) return live;
  if (form === 'leaf' || formOf(type, live) !== form) return config;
  if (form === 'items') return mergeItems(live, config, type);
  const result: JsonObject = {};
  for (const [name, value] of membersOf(live)) setMember(result, name, value);
  for (const [name, value] of membersOf(config)) {
    setMember(result, name, merge(memberOf(live, name), value, type.member(name) ?? UNTYPED));
  }
  return result;
}

/**
 * Merges lists: shared items follow the order of the configuration, other items stay behind the item that they
 * followed. The cost is linear.
 */
function mergeItems(live: Json | undefined, config: Json, type: FieldType): Json {
  const [old, wanted] = [grouped(type.items, live), grouped(type.items, config)];
  const order = [...wanted.keys()];
  const shared = order.filter((element) => old.has(element));
  const result: Json[] = [];
  let [position, sharedTaken] = [0, 0];
  const takeTo = (end: number): void => {
    for (; position < end; position++) {
      const element = order[position] ?? '';
      if (element === shared[sharedTaken]) sharedTaken++;
      const [present, ...others] = old.get(element) ?? [];
      const base = others.length > 0 ? undefined : present;
      result.push(merge(base, wanted.get(element)?.[0], type.item) ?? null);
    }
  };
  const places = new Map(order.map((element, index) => [element, index]));
  for (const [element, items] of old) {
    const place = places.get(element);
    if (place === undefined) result.push(...items);
    else if (element === shared[sharedTaken]) takeTo(place + 1);
  }
  takeTo(order.length);
  return result;
}

/**
 * Returns the value without the fields of the set; null if no member is left. A member that becomes empty stays as a
 * null, because only the set decides which members go.
 */
export function without(value: Json, fields: FieldSet, type: FieldType): Json {
  const form = formOf(type, value);
  if (form === 'leaf') return typeof value === 'object' ? null : value;
  if (form === 'items') {
    const rule = type.items;
    const kept = (value as Json[]).flatMap((item): Json[] => {
      const element = rule && elementOfItem(rule, item);
      if (element === undefined) return [item];
      return fields.has(element) ? [] : [lessened(item, fields.under(element), type.item)];
    });
    return kept.length === 0 ? null : kept;
  }
  const result: JsonObject = {};
  for (const [name, member] of membersOf(value)) {
    const element = `f:${name}`;
    if (fields.has(element)) continue;
    setMember(result, name, lessened(member, fields.under(element), type.member(name) ?? UNTYPED));
  }
  return Object.keys(result).length === 0 ? null : result;
}

function lessened(member: Json, fields: FieldSet, type: FieldType): Json {
  return fields.isEmpty ? member : without(member, fields, type);
}

/**
 * Adds the named fields that contain members of the set: the owner of `.spec.replicas` also owns a share of `.spec`.
 */
export function withNamedParents(fields: FieldSet, type: FieldType): FieldSet {
  return fields.withParents(type, isNamed, below);
}

function isNamed(type: FieldType, element: string): boolean {
  return element.startsWith('f:') && type.names(element.slice(2));
}

function below(type: FieldType, element: string): FieldType {
  return element.startsWith('f:') ? (type.member(element.slice(2)) ?? UNTYPED) : type.item;
}

/** Returns why the value does not match the type, in the words of structured-merge-diff. */
export function typeErrors(value: Json, type: FieldType, path = ''): string[] {
  if (value === null) return [];
  const found = kindOf(value);
  if (type.value !== undefined && type.value !== found) return [`${path}: ${expectation(type.value, value)}`];
  if (Array.isArray(value)) return itemErrors(value, type, path);
  return membersOf(value).flatMap(([name, member]) => {
    const inside = `${path}.${name}`;
    const memberType = type.member(name);
    return memberType === undefined
      ? [`${inside}: field not declared in schema`]
      : typeErrors(member, memberType, inside);
  });
}

function itemErrors(list: readonly Json[], type: FieldType, path: string): string[] {
  const rule = type.items;
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    const fault = rule && itemFault(rule, item);
    if (fault !== undefined) return [`${path}: element ${index}: ${fault}`];
    const element = rule && elementOfItem(rule, item);
    const text =
      element === undefined
        ? `[${index}]`
        : FieldSet.of([[element]])
            .texts()
            .join('');
    if (element !== undefined && seen.has(element)) return [`${path}: duplicate entries for key ${text}`];
    if (element !== undefined) seen.add(element);
    return typeErrors(item, type.item, `${path}${text}`);
  });
}

/** Returns why an item has no element; undefined for an item with an element. */
function itemFault(rule: ItemRule, item: Json): string | undefined {
  if (rule.form === 'set') {
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements';
    const found = item === null ? 'an explicit null' : isJsonObject(item) ? 'a map type' : '';
    return found === '' ? undefined : `associative list without keys has an element that's ${found}`;
  }
  const what = 'associative list with keys';
  if (item === null) return `${what} may not have a null element`;
  if (!isJsonObject(item)) return `${what} may not have non-map elements`;
  if (elementOfItem(rule, item) !== undefined) return undefined;
  const keys = `[${rule.keys.map((key) => JSON.stringify(key)).join(', ')}]`;
  return `${what} has an element that omits all key fields ${keys} (and doesn't have default values for any key fields)`;
}

function kindOf(value: Json): FieldType['value'] {
  if (Array.isArray(value)) return 'list';
  if (isJsonObject(value)) return 'map';
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'boolean' : 'numeric';
}

/** Shows the value as Go's formats do: its type, its syntax, or the text of a pointer. */
function expectation(wanted: NonNullable<FieldType['value']>, value: Json): string {
  if (wanted === 'numeric') return `expected numeric (int or float), got ${goTypeOf(value)}`;
  if (wanted === 'string') return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
  return `expected ${wanted}, got &{${goText(value)}}`;
}
