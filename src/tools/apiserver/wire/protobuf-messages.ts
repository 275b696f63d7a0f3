/** The protobuf messages of the built-in kinds: the numbers of fields in the shapes. */

import { resolved } from '../shapes/shapes.ts';
import type { ShapeNode } from '../shapes/shapes.ts';

/** A field on the wire: a property of a shape. */
export interface MessageField {
  readonly name: string;
  readonly node: ShapeNode;
  /** Fields of an embedded message, which are properties of the shape itself. */
  readonly embedded?: MessageFields;
}

type MessageFields = ReadonlyMap<number, MessageField>;

const known = new Map<ShapeNode, MessageFields>();

/** Returns the fields of a shape by their numbers. */
export function messageFields(node: ShapeNode): MessageFields {
  const shape = resolved(node);
  const present = known.get(shape);
  if (present !== undefined) return present;
  const { properties = {}, inline = {} } = shape;
  const fields = new Map<number, MessageField>();
  for (const [name, property] of Object.entries(properties))
    if (property.number !== undefined) fields.set(property.number, { name, node: property });
  for (const [number, names] of Object.entries(inline)) {
    const embedded = Object.entries(names).map(([name, each]): [number, MessageField] => [
      each,
      { name, node: properties[name] ?? {} },
    ]);
    fields.set(Number(number), { name: '', node: {}, embedded: new Map(embedded) });
  }
  known.set(shape, fields);
  return fields;
}
