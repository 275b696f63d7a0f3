/**
 * The structural schema of a version of a custom resource (OpenAPI v3), applied as a real server applies it: fields
 * that the schema does not name are removed, as are nulls that it does not allow, and defaults fill missing fields. The
 * rules for values are in `validation.ts`.
 */

import { schemaType } from '../fields/schema-types.ts';
import type { FieldType } from '../fields/schema-types.ts';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf, setMember } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import type { ResourceSchema } from '../store/resources.ts';
import { RuleNode } from './cel-rules.ts';
import { containsEmbedded, decodedEmbedded, embeddedErrors } from './embedded-resources.ts';
import { EMBEDDED, PRESERVE } from './schema-node.ts';
import type { SchemaNode } from './schema-node.ts';
import { duplicateErrors } from './uniqueness.ts';
import { validatorOf } from './validation.ts';

/** Fields of every object; the schema does not name them. */
const OBJECT_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Errors after which no rule is evaluated, because the value's shape is not the shape that the rules expect. */
const BLOCKING: ReadonlySet<FieldError['type']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const UNCHECKED: FieldError = {
  type: 'FieldValueInvalid',
  field: '<nil>',
  body: 'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

export class StructuralSchema implements ResourceSchema {
  readonly fieldType: FieldType;
  readonly #root: SchemaNode;
  readonly #rules: RuleNode;
  /** The schema, if it contains embedded objects. */
  readonly #embedding: SchemaNode | undefined;
  readonly #validate: (object: KubeObject, previous?: KubeObject) => readonly FieldError[];

  constructor(root: SchemaNode) {
    this.fieldType = schemaType(root);
    this.#rules = new RuleNode(root, true);
    this.#embedding = containsEmbedded(root) ? root : undefined;
    this.#root = { ...root, [EMBEDDED]: true };
    this.#validate = validatorOf(root);
  }

  coerce(object: KubeObject, _isTrusted?: boolean, keepsNulls = false): KubeObject {
    const shaped = shape(object, this.#root, '', { unknown: [], keepsNulls });
    return this.#decoded(shaped as KubeObject, []);
  }

  unknownFields(object: KubeObject): string[] {
    const unknown: string[] = [];
    const inside: string[] = [];
    const shaped = shape(object, this.#root, '', { unknown, keepsNulls: false });
    this.#decoded(shaped as KubeObject, inside);
    return [...unknown.toSorted(), ...inside.toSorted()];
  }

  validate(object: KubeObject, previous: KubeObject | undefined): readonly FieldError[] {
    const embedded = this.#embedding === undefined ? [] : embeddedErrors(object, this.#embedding);
    const errors = [...this.#validate(object, previous), ...embedded];
    // Lists that repeat an item may do so until they are mended.
    if (previous === undefined || this.#duplicates(previous).length === 0)
      errors.push(...this.#duplicates(object));
    if (!this.#rules.isNeeded) return errors;
    if (errors.some(({ type }) => BLOCKING.has(type))) return [...errors, UNCHECKED];
    return [...errors, ...this.#rules.errors(object, previous)];
  }

  #decoded(object: KubeObject, unknown: string[]): KubeObject {
    return this.#embedding === undefined ? object : decodedEmbedded(object, this.#embedding, unknown);
  }

  #duplicates(object: KubeObject): FieldError[] {
    const { metadata: _, ...content } = object;
    return duplicateErrors(content, this.fieldType);
  }
}

interface Shaping {
  /** Paths of removed fields. */
  readonly unknown: string[];
  /** True for an apply: a null that the schema does not allow stays, so that the rules refuse it. */
  readonly keepsNulls: boolean;
}

/** Returns the value in the shape of the schema, and adds the paths of removed fields to `to.unknown`. */
export function shape(value: Json, node: SchemaNode, path: string, to: Shaping): Json {
  if (Array.isArray(value)) {
    const { items: given } = node;
    if (given === undefined && node[PRESERVE] === true) return value;
    const items = node[PRESERVE] === true ? { ...given, [PRESERVE]: true } : given;
    return value.map((item, index) => shape(defaulted(item, items), items ?? {}, `${path}[${index}]`, to));
  }
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    const kept = shapeField(name, field, node, fieldPath, to);
    if (kept !== undefined) setMember(result, name, kept);
  }
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    const initial = property.default ?? null;
    const present = memberOf(result, name);
    if (initial === null || (present !== undefined && !isDropped(present, property))) continue;
    setMember(result, name, shape(structuredClone(initial), property, path, to));
  }
  return result;
}

/** True for a null that the schema does not allow: the value is absent. */
function isDropped(value: Json, node: SchemaNode): boolean {
  return value === null && node.nullable !== true;
}

function absent({ keepsNulls }: Shaping): null | undefined {
  return keepsNulls ? null : undefined;
}

/** Returns the default in place of a null that the schema does not allow. */
function defaulted(value: Json, node: SchemaNode | undefined): Json {
  if (node === undefined || !isDropped(value, node)) return value;
  return structuredClone(node.default ?? null);
}

/** Returns the field as it is kept; undefined if it is removed. */
function shapeField(
  name: string,
  field: Json,
  node: SchemaNode,
  path: string,
  to: Shaping,
): Json | undefined {
  if (node[EMBEDDED] === true && OBJECT_FIELDS.has(name)) return field;
  const property = Object.hasOwn(node.properties ?? {}, name) ? node.properties?.[name] : undefined;
  if (property !== undefined) {
    return isDropped(field, property) ? absent(to) : shape(field, property, path, to);
  }
  const { additionalProperties } = node;
  // `true` allows every name; objects below it have no schema that could name their fields.
  if (additionalProperties === true) return shape(field, {}, path, to);
  if (typeof additionalProperties === 'object') {
    const entry = defaulted(field, additionalProperties);
    return isDropped(entry, additionalProperties) ? absent(to) : shape(entry, additionalProperties, path, to);
  }
  if (node[PRESERVE] === true) return field;
  to.unknown.push(path);
  return undefined;
}
