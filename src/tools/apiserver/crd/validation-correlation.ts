/**
 * Finds the values before an update that belong to values after it: members by name, items of lists with keys by their
 * keys. A value that an update leaves unchanged stays valid although its schema became stricter.
 */

import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, memberOf, textOf, writeJson } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';

/** Returns the node of a member: a named property, or an entry of a map. */
export function memberNode(node: JsonObject, name: string): JsonObject | undefined {
  const property = memberOf(node['properties'], name) ?? node['additionalProperties'];
  return isJsonObject(property) ? property : undefined;
}

/** Returns the values of the keys of an item as text; undefined for an item that lacks a key. */
function keysOf(item: Json, keys: readonly Json[]): string | undefined {
  const values = keys.map((key) => memberOf(item, textOf(key)));
  return values.includes(undefined) ? undefined : writeJson(values);
}

/** Returns a search for the item before the update; undefined for a list whose items have no keys. */
export function itemsBefore(
  node: JsonObject,
  before: Json | undefined,
): ((item: Json) => Json | undefined) | undefined {
  const keys = node['x-kubernetes-list-map-keys'];
  if (node['x-kubernetes-list-type'] !== 'map' || !Array.isArray(keys) || !Array.isArray(before))
    return undefined;
  const items = new Map<string, Json>();
  for (const item of before) {
    const key = keysOf(item, keys);
    if (key !== undefined && !items.has(key)) items.set(key, item);
  }
  return (item) => items.get(keysOf(item, keys) ?? '');
}

/** True for a value that an update leaves as it was. Members without a schema count as changed, as on a real server. */
export function isUnchanged(value: Json, before: Json, node: JsonObject): boolean {
  if (Array.isArray(value) && Array.isArray(before)) {
    if (value.length !== before.length) return false;
    const itemOf = itemsBefore(node, before);
    const { items } = node;
    if (itemOf === undefined || !isJsonObject(items)) return isDeepStrictEqual(value, before);
    return value.every((item) => {
      const old = itemOf(item);
      return old !== undefined && isUnchanged(item, old, items);
    });
  }
  if (!isJsonObject(value) || !isJsonObject(before)) return isDeepStrictEqual(value, before);
  const entries = Object.entries(value);
  if (entries.length !== Object.keys(before).length) return false;
  return entries.every(([name, member]) => {
    const [child, old] = [memberNode(node, name), memberOf(before, name)];
    if (child === undefined || old === undefined || member === undefined) return false;
    return isUnchanged(member, old, child);
  });
}
