/** The rules for the contents of a built-in kind: the shape that a server decodes, and what the shape does not say. */

import { schemaType } from '../fields/schema-types.ts';
import type { FieldType } from '../fields/schema-types.ts';
import type { FieldError } from '../store/field-error.ts';
import type { KubeObject } from '../store/json.ts';
import type { ResourceSchema, ServedResource } from '../store/resources.ts';
import { decodeShape, decodingOf } from './decoder.ts';
import { shapeOf } from './shapes.ts';
import type { ShapeNode } from './shapes.ts';

/** Rules of a kind beyond the shape. */
export interface KindRules {
  /** Returns the object with defaults. */
  readonly coerce?: (object: KubeObject) => KubeObject;
  readonly validate?: ResourceSchema['validate'];
}

class BuiltInSchema implements ResourceSchema {
  readonly fieldType: FieldType;
  readonly #definition: ServedResource;
  readonly #shape: ShapeNode;
  readonly #rules: KindRules;

  constructor(definition: ServedResource, shape: ShapeNode, rules: KindRules) {
    this.fieldType = schemaType(shape);
    this.#definition = definition;
    this.#shape = shape;
    this.#rules = rules;
  }

  coerce(object: KubeObject, isTrusted: boolean): KubeObject {
    const decoded = isTrusted ? object : this.#decoded(object, []);
    return this.#rules.coerce?.(decoded) ?? decoded;
  }

  unknownFields(object: KubeObject): string[] {
    const unknown: string[] = [];
    this.#decoded(object, unknown);
    return unknown;
  }

  validate(object: KubeObject, previous: KubeObject | undefined): readonly FieldError[] {
    return this.#rules.validate?.(object, previous) ?? [];
  }

  #decoded(object: KubeObject, unknown: string[]): KubeObject {
    const decoded = decodeShape(decodingOf(this.#definition, unknown), object, this.#shape);
    return { metadata: {}, ...(decoded as Partial<KubeObject>) };
  }
}

/** Returns the resource with the schema of the built-in kind; without a schema if the kind has no shape. */
export function withShape(definition: ServedResource, rules: KindRules = {}): ServedResource {
  const shape = shapeOf(definition.group, definition.version, definition.kind);
  return shape === undefined
    ? definition
    : { ...definition, schema: new BuiltInSchema(definition, shape, rules) };
}
