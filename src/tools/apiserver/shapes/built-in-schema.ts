/** The rules for the contents of a built-in kind: the shape that a server decodes, and what the shape does not say. */

import { isDeepStrictEqual } from 'node:util';
import { schemaType } from '../fields/schema-types.ts';
import type { FieldType } from '../fields/schema-types.ts';
import type { FieldError } from '../store/field-error.ts';
import type { KubeObject } from '../store/json.ts';
import type { ResourceSchema, ServedResource } from '../store/resources.ts';
import { assignMissing } from './assigned.ts';
import { decodeShape, decodingOf } from './decoder.ts';
import { frozenErrors } from './frozen.ts';
import { refusals } from './refusals.ts';
import { shapeOf } from './shapes.ts';
import type { Frozen, ShapeNode } from './shapes.ts';

/** Rules of a kind beyond the shape. */
export interface KindRules {
  /** Returns the object with defaults. */
  readonly coerce?: (object: KubeObject) => KubeObject;
  readonly validate?: (object: KubeObject, previous: KubeObject | undefined) => readonly FieldError[];
}

class BuiltInSchema implements ResourceSchema {
  readonly fieldType: FieldType;
  readonly #definition: ServedResource;
  readonly #shape: ShapeNode;
  readonly #rules: KindRules;
  readonly #frozen: readonly Frozen[];

  constructor(definition: ServedResource, shape: ShapeNode, rules: KindRules, frozen: readonly Frozen[]) {
    this.fieldType = schemaType(shape);
    this.#definition = definition;
    this.#shape = shape;
    this.#rules = rules;
    this.#frozen = frozen;
  }

  coerce(object: KubeObject, isTrusted: boolean): KubeObject {
    const decoded = isTrusted ? object : this.#decoded(object, []);
    if (!isTrusted) assignMissing(decoded, this.#shape);
    return this.#rules.coerce?.(decoded) ?? decoded;
  }

  unknownFields(object: KubeObject): string[] {
    const unknown: string[] = [];
    this.#decoded(object, unknown);
    return unknown;
  }

  validate(object: KubeObject, previous: KubeObject | undefined, isTrusted: boolean): readonly FieldError[] {
    const own = this.#rules.validate?.(object, previous) ?? [];
    return isTrusted ? own : [...this.#refusals(object, previous), ...own];
  }

  /**
   * The control API stores objects that no client could send, and without defaults: an error that such an object has already
   * is no error, and a default is no change.
   */
  #refusals(object: KubeObject, previous: KubeObject | undefined): readonly FieldError[] {
    const errors = refusals(object, this.#shape, '');
    if (previous === undefined) return errors;
    if (errors.length === 0 && frozenErrors(object, previous, this.#frozen).length === 0) return [];
    const whole = this.coerce(previous, false);
    const known = refusals(whole, this.#shape, '');
    const isKnown = (error: FieldError): boolean => known.some((each) => isDeepStrictEqual(each, error));
    return [...errors.filter((error) => !isKnown(error)), ...frozenErrors(object, whole, this.#frozen)];
  }

  #decoded(object: KubeObject, unknown: string[]): KubeObject {
    const decoded = decodeShape(decodingOf(this.#definition, unknown), object, this.#shape);
    return { metadata: {}, ...(decoded as Partial<KubeObject>) };
  }
}

/** Returns the resource with the schema of the built-in kind; without a schema if the kind has no shape. */
export function withShape(
  definition: ServedResource,
  rules: KindRules = {},
  frozen: readonly Frozen[] = [],
): ServedResource {
  const shape = shapeOf(definition.group, definition.version, definition.kind);
  return shape === undefined
    ? definition
    : { ...definition, schema: new BuiltInSchema(definition, shape, rules, frozen) };
}
