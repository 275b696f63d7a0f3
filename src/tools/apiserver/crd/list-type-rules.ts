/** The rules for the types of lists and maps, which say how writers share them. */

import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf } from '../store/json.ts';
import type { JsonObject } from '../store/json.ts';
import { forbidden, invalidValue, members, required, text, texts, unsupported } from '../store/causes.ts';
import { LIST_KEYS, LIST_TYPE, MAP_TYPE } from './schema-node.ts';

function wrongType(node: JsonObject, path: string, wanted: string, keyword: string): FieldError[] {
  const type = text(node['type']);
  if (typeof node[keyword] !== 'string' || type === wanted) return [];
  const why = `must be ${wanted} if ${keyword} is specified`;
  return [type === '' ? required(`${path}.type`, why) : invalidValue(`${path}.type`, type, why)];
}

function oneOf(node: JsonObject, path: string, keyword: string, allowed: readonly string[]): FieldError[] {
  const value = node[keyword];
  if (typeof value !== 'string' || allowed.includes(value)) return [];
  return [unsupported(`${path}.${keyword}`, value, allowed)];
}

/** Items of a set are compared as a whole, so no manager owns a part of an item. */
function setErrors(items: JsonObject, path: string): FieldError[] {
  const keyword = { array: LIST_TYPE, object: MAP_TYPE }[text(items['type'])];
  if (keyword === undefined || items[keyword] === 'atomic') return [];
  if (keyword === LIST_TYPE && typeof items[LIST_TYPE] !== 'string') return [];
  const why = `must be atomic as item of a list with ${LIST_TYPE}=set`;
  return [invalidValue(`${path}.items.${keyword}`, items[LIST_TYPE], why)];
}

function mapErrors(node: JsonObject, path: string): FieldError[] {
  const { items } = node;
  const keys = texts(node[LIST_KEYS]);
  const errors: FieldError[] = [];
  if (keys.length === 0)
    errors.push(required(`${path}.${LIST_KEYS}`, `must not be empty if ${LIST_TYPE} is map`));
  if (items === undefined || items === null)
    errors.push(required(`${path}.items`, `must have a schema if ${LIST_TYPE} is map`));
  if (!isJsonObject(items)) return errors;
  const type = text(items['type']);
  if (type !== 'object')
    return [
      ...errors,
      invalidValue(`${path}.items.type`, type, `must be object if parent array's ${LIST_TYPE} is map`),
    ];
  const place = `${path}.${LIST_KEYS}`;
  for (const [index, key] of keys.entries()) {
    const property = memberOf(items['properties'], key);
    if (property === undefined)
      errors.push(invalidValue(place, keys, 'entries must all be names of item properties'));
    else if (['array', 'object'].includes(text(members(property)['type'])))
      errors.push(
        invalidValue(
          `${path}.items.properties[${key}].type`,
          type,
          `must be a scalar type if parent array's ${LIST_TYPE} is map`,
        ),
      );
    if (keys.indexOf(key) < index)
      errors.push(invalidValue(place, keys, 'must not contain duplicate entries'));
  }
  return errors;
}

/** Items of sets and maps, and the keys of maps, always have a value. */
function valueErrors(node: JsonObject, items: JsonObject, path: string): FieldError[] {
  const listType = text(node[LIST_TYPE]);
  const errors =
    items['nullable'] === true
      ? [forbidden(`${path}.items.nullable`, `cannot be nullable when ${LIST_TYPE} is ${listType}`)]
      : [];
  if (listType !== 'map') return errors;
  const always = texts(items['required']);
  const inKeys = `this property is in ${LIST_KEYS}, so it`;
  for (const key of texts(node[LIST_KEYS])) {
    const property = memberOf(items['properties'], key);
    const place = `${path}.items.properties[${key}]`;
    if (!isJsonObject(property)) continue;
    if (!always.includes(key) && (property.default ?? undefined) === undefined)
      errors.push(required(`${place}.default`, `${inKeys} must have a default or be a required property`));
    if (property['nullable'] === true)
      errors.push(forbidden(`${place}.nullable`, `${inKeys} cannot be nullable`));
  }
  return errors;
}

export function listTypeErrors(node: JsonObject, path: string): FieldError[] {
  const { items } = node;
  const listType = node[LIST_TYPE];
  const isShared = listType === 'set' || listType === 'map';
  const mistyped = wrongType(node, path, 'array', LIST_TYPE);
  const errors = [
    ...wrongType(node, path, 'object', MAP_TYPE),
    ...oneOf(node, path, MAP_TYPE, ['atomic', 'granular']),
    ...mistyped,
    ...(mistyped.length === 0 && listType === 'set' && isJsonObject(items) ? setErrors(items, path) : []),
    ...oneOf(node, path, LIST_TYPE, ['atomic', 'set', 'map']),
  ];
  if (texts(node[LIST_KEYS]).length > 0 && listType !== 'map') {
    const why = `must be map if ${LIST_KEYS} is non-empty`;
    const field = `${path}.${LIST_TYPE}`;
    errors.push(typeof listType === 'string' ? invalidValue(field, listType, why) : required(field, why));
  }
  if (listType === 'map') errors.push(...mapErrors(node, path));
  if (isShared && isJsonObject(items)) errors.push(...valueErrors(node, items, path));
  return errors;
}
