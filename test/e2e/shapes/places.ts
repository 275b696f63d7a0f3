/**
 * The places of a manifest: members of structs, items of lists and entries of maps, each with the node of the table that describes
 * the place; and the bodies in which a place is left out or has another value. Pure.
 */
import { isJsonObject } from '../../../src/tools/apiserver/store/json.ts';
import type { Json } from '../../../src/tools/apiserver/store/json.ts';
import type { ShapeNode } from '../../../src/tools/apiserver/shapes/shapes.ts';

export type Shapes = Readonly<Record<string, ShapeNode>>;

export interface Place {
  readonly path: readonly (string | number)[];
  /** Path as the errors of a server show it: `spec.ports[0].name`. */
  readonly field: string;
  readonly node: ShapeNode;
  readonly value: Json;
}

/** Parts of an object that have rules of their own. */
const COMMON: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

export function shapeAt(shapes: Shapes, node: ShapeNode): ShapeNode {
  return node.$ref === undefined ? node : (shapes[node.$ref] ?? {});
}

/** Returns the places below a value, the outer before the inner. */
export function placesIn(
  shapes: Shapes,
  value: Json,
  node: ShapeNode,
  { path = [], field = '' }: Partial<Pick<Place, 'path' | 'field'>> = {},
): Place[] {
  const { properties, items, additionalProperties } = shapeAt(shapes, node);
  const place = (key: string | number, shown: string, child: ShapeNode, member: Json): Place[] => {
    const found = { path: [...path, key], field: shown, node: child, value: member };
    return [found, ...placesIn(shapes, member, child, found)];
  };
  if (Array.isArray(value))
    return value.flatMap((item, index) => (items ? place(index, `${field}[${index}]`, items, item) : []));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member = null]) => {
    if (field === '' && COMMON.has(name)) return [];
    const property = properties?.[name];
    if (property !== undefined)
      return place(name, field === '' ? name : `${field}.${name}`, property, member);
    return typeof additionalProperties === 'object'
      ? place(name, `${field}[${name}]`, additionalProperties, member)
      : [];
  });
}

/** Returns the value with another value at the path; undefined leaves the place out. */
export function withValue(object: Json, path: readonly (string | number)[], value: Json | undefined): Json {
  const [key, ...rest] = path;
  const inner = (child: Json): Json | undefined =>
    rest.length === 0 ? value : withValue(child, rest, value);
  if (Array.isArray(object))
    return object.flatMap((item, index) => {
      const kept = index === key ? inner(item) : item;
      return kept === undefined ? [] : [kept];
    });
  if (!isJsonObject(object) || typeof key !== 'string') return object;
  const { [key]: child = null, ...others } = object;
  const kept = inner(child);
  return kept === undefined ? others : { ...object, [key]: kept };
}

const WRONG = 'Not Valid!';

/** Returns values for a place that a server may refuse; undefined leaves the place out. */
export function valuesFor(shapes: Shapes, { node, value }: Place): (Json | undefined)[] {
  const { properties, additionalProperties } = shapeAt(shapes, node);
  const special = node.$ref ?? '';
  const texts = special.endsWith('Quantity') ? ['-1'] : special.endsWith('IntOrString') ? [WRONG] : [];
  if (typeof value === 'string') return [undefined, WRONG, '', ...texts];
  if (typeof value === 'number') return [undefined, -1, 0, 70000, ...texts];
  if (Array.isArray(value)) return [undefined, [], [...value, value.at(-1) ?? null]];
  if (!isJsonObject(value)) return [undefined];
  const [first = null] = Object.values(value);
  if (properties !== undefined) return [undefined, {}];
  return typeof additionalProperties === 'object' ? [undefined, { ...value, [WRONG]: first }] : [undefined];
}

/** Returns other values for a place that a server may accept in a new object, to find what an update may change. */
export function othersFor(shapes: Shapes, { node, value }: Place): (Json | undefined)[] {
  const { enum: names = [] } = shapeAt(shapes, node);
  const other = names.find((name) => name !== value);
  if (typeof value === 'string') return [undefined, other ?? `${value}x`];
  if (typeof value === 'number') return [undefined, value + 1];
  if (typeof value === 'boolean') return [undefined, !value];
  return [undefined];
}
