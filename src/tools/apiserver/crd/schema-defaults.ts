/** The rules for defaults: a default is a valid value of its schema, without unknown fields. */

import type { FieldError } from '../store/field-error.ts';
import { isJsonObject } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { invalidValue, members } from '../store/causes.ts';
import { memberNode } from './validation-correlation.ts';
import { EMBEDDED, PRESERVE } from './schema-node.ts';
import { validatorOf } from './validation.ts';

const OBJECT_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** True if the value contains a field that the schema neither names nor preserves. */
function hasUnknown(value: Json, node: JsonObject): boolean {
  if (Array.isArray(value)) return value.some((item) => hasUnknown(item, members(node['items'])));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, member]) => {
    if (node[EMBEDDED] === true && OBJECT_FIELDS.has(name)) return false;
    const child = memberNode(node, name);
    if (child !== undefined) return hasUnknown(member ?? null, child);
    if (node['additionalProperties'] === true) return hasUnknown(member ?? null, {});
    return node[PRESERVE] !== true;
  });
}

function errorsOf(value: Json, node: JsonObject, path: string): FieldError[] {
  const field = `${path}.default`;
  return [
    ...(hasUnknown(value, node) ? [invalidValue(field, value, 'must not have unknown fields')] : []),
    ...validatorOf(node)(value).map((error) =>
      error.field === '<nil>'
        ? { ...error, field }
        : { ...error, field: error.field === '' ? field : `${field}.${error.field.replace(/^\./, '')}` },
    ),
  ];
}

/** Returns the broken rules of the defaults at and below a node; entries of maps have no default. */
export function defaultErrors(node: JsonObject, path: string): FieldError[] {
  const { default: value, items, properties } = node;
  return [
    ...(value === undefined || value === null ? [] : errorsOf(value, node, path)),
    ...(isJsonObject(items) ? defaultErrors(items, `${path}.items`) : []),
    ...Object.entries(members(properties)).flatMap(([name, child]) =>
      defaultErrors(members(child), `${path}.properties[${name}]`),
    ),
  ];
}
