/** The rules for a schema itself: whether it is structural. */

import type { FieldError } from '../store/field-error.ts';
import { isJsonObject } from '../store/json.ts';
import type { JsonObject } from '../store/json.ts';
import { ruleErrors } from './cel-rules.ts';
import { patternError } from './go-regexp.ts';
import { INT_OR_STRING, PRESERVE } from './schema-node.ts';

const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

export function schemaErrors(root: JsonObject, path: string): FieldError[] {
  const errors = nodeErrors(root, path, true);
  if (root['type'] === 'object' || errors.length > 0) return errors;
  const body = `Invalid value: ${JSON.stringify(root['type'])}: must be object at the root`;
  return [{ type: 'FieldValueInvalid', field: `${path}.type`, body }];
}

function nodeErrors(node: JsonObject, path: string, isRoot: boolean): FieldError[] {
  const { type, properties, items, additionalProperties } = node;
  const errors: FieldError[] = ruleErrors(node, path);
  const hasType = node[INT_OR_STRING] === true || node[PRESERVE] === true;
  if (type === undefined && (isRoot || !hasType)) {
    const where = isRoot ? 'at the root' : 'for specified object fields';
    const body = `Required value: must not be empty ${where}`;
    errors.push({ type: 'FieldValueRequired', field: `${path}.type`, body });
  }
  if (type !== undefined && !TYPES.includes(type as string)) {
    const supported = TYPES.map((name) => JSON.stringify(name)).join(', ');
    const body = `Unsupported value: ${JSON.stringify(type)}: supported values: ${supported}`;
    errors.push({ type: 'FieldValueNotSupported', field: `${path}.type`, body });
  }
  const { pattern } = node;
  const why = typeof pattern === 'string' ? patternError(pattern) : undefined;
  if (why !== undefined) {
    const body = `Invalid value: ${JSON.stringify(pattern)}: must be a valid regular expression, but isn't: ${why}`;
    errors.push({ type: 'FieldValueInvalid', field: `${path}.pattern`, body });
  }
  if (isJsonObject(properties)) {
    if (additionalProperties !== undefined) {
      const body = 'Forbidden: additionalProperties and properties are mutual exclusive';
      errors.push({ type: 'FieldValueForbidden', field: `${path}.additionalProperties`, body });
    }
    for (const [name, child] of Object.entries(properties)) {
      if (isJsonObject(child)) errors.push(...nodeErrors(child, `${path}.properties[${name}]`, false));
    }
  }
  if (isJsonObject(items)) errors.push(...nodeErrors(items, `${path}.items`, false));
  if (isJsonObject(additionalProperties)) {
    errors.push(...nodeErrors(additionalProperties, `${path}.additionalProperties`, false));
  }
  return errors;
}
