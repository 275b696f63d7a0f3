/**
 * Values as Go writes them. A member that is a struct, or whose tag lacks `omitempty`, is never absent: an absent value is the zero
 * value of the type.
 */

import { isJsonObject, memberOf, setMember } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { resolved } from './shapes.ts';
import type { ShapeNode } from './shapes.ts';

/** Zero values of scalars, by the type in OpenAPI, and of structs that Go writes as scalars. A time is null. */
const ZEROS: ReadonlyMap<unknown, Json> = new Map<unknown, Json>([
  ['string', ''],
  ['integer', 0],
  ['number', 0],
  ['boolean', false],
  ['api.resource.Quantity', '0'],
  ['util.intstr.IntOrString', 0],
]);

/** Returns the value with the zeros that Go writes. */
export function withZeros(value: Json | undefined, node: ShapeNode): Json {
  const { properties, items } = resolved(node);
  const { go = '', type, $ref: struct } = node;
  if (value === undefined && properties !== undefined && !go.startsWith('*')) return withZeros({}, node);
  if (value === undefined) return (go.startsWith('*') ? undefined : ZEROS.get(struct ?? type)) ?? null;
  if (Array.isArray(value) && items !== undefined) return value.map((item) => withZeros(item, items));
  if (!isJsonObject(value)) return value;
  const result: JsonObject = { ...value };
  for (const [name, property] of Object.entries(properties ?? {})) {
    const member = memberOf(value, name);
    if (member !== undefined || isWritten(property)) setMember(result, name, withZeros(member, property));
  }
  return result;
}

function isWritten({ omitempty, go = '', $ref: struct }: ShapeNode): boolean {
  return omitempty !== true || (struct !== undefined && !go.startsWith('*'));
}
