/** The values that a server assigns to members that a body leaves out: constants, or constants that a sibling chooses. */

import { isJsonObject, textOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { isUnset } from './refusals.ts';
import { resolved } from './shapes.ts';
import { STRUCT_RULES } from './struct-rules.ts';
import type { Assigned, ShapeNode } from './shapes.ts';

/** True if the object chooses the value: always, or by the text of a sibling. */
function isChosen(object: JsonObject, { sibling, texts = [] }: Assigned): boolean {
  return sibling === undefined || texts.includes(textOf(object[sibling]));
}

/** Assigns missing members. Values that siblings choose come last, because a sibling may be missing as well. */
function assignMembers(object: JsonObject, properties: Record<string, ShapeNode>, isTop: boolean): void {
  for (const isBySibling of [false, true]) {
    for (const [name, node] of Object.entries(properties)) {
      const { assigned } = node;
      if (assigned === undefined || (assigned.sibling !== undefined) !== isBySibling) continue;
      const isMeant = isTop || assigned.top !== true;
      if (isMeant && isUnset(object[name], node) && isChosen(object, assigned))
        object[name] = structuredClone(assigned.value);
    }
  }
}

/**
 * Assigns missing members of the value and of the values in it.
 * @param value a decoded value, which no other part has
 * @param depth number of structs around the value
 */
export function assignMissing(value: Json, node: ShapeNode, depth = 0): void {
  const { properties, items, additionalProperties } = resolved(node);
  if (Array.isArray(value)) {
    if (items !== undefined) for (const item of value) assignMissing(item, items, depth + 1);
    return;
  }
  if (!isJsonObject(value)) return;
  if (properties !== undefined) assignMembers(value, properties, depth === 1);
  STRUCT_RULES.get(node.$ref ?? '')?.assign?.(value, depth === 1);
  for (const [name, member = null] of Object.entries(value)) {
    const child = properties === undefined ? additionalProperties : properties[name];
    if (typeof child === 'object' && typeof member === 'object') assignMissing(member, child, depth + 1);
  }
}
