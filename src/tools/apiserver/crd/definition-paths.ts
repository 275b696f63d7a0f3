/** The rules for paths into objects: printer columns, selectable fields, scale, and the field of a CEL rule. */

import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { invalidValue, members, objects, required, text } from '../store/causes.ts';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const SELECTABLE_TYPES = ['string', 'boolean', 'integer'];
const SELECTABLE_MAX = 8;

function simplePathErrors(field: string, path: string): FieldError[] {
  return path.startsWith('.')
    ? []
    : [invalidValue(field, path, 'must be a simple json path starting with .')];
}

export function columnErrors(columns: Json | undefined, path: string): FieldError[] {
  return objects(columns).flatMap((column, index) => {
    const place = `${path}[${index}]`;
    const [type, format, jsonPath] = [text(column['type']), text(column['format']), text(column['jsonPath'])];
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    const formats = `must be one of ${COLUMN_FORMATS.join(',')}`;
    return [
      ...(text(column['name']) === '' ? [required(`${place}.name`)] : []),
      ...(type === '' ? [required(`${place}.type`, types)] : []),
      ...(type === '' || COLUMN_TYPES.includes(type) ? [] : [invalidValue(`${place}.type`, type, types)]),
      ...(format === '' || COLUMN_FORMATS.includes(format)
        ? []
        : [invalidValue(`${place}.format`, format, formats)]),
      ...(jsonPath === ''
        ? [required(`${place}.JSONPath`)]
        : simplePathErrors(`${place}.JSONPath`, jsonPath)),
    ];
  });
}

const SCALE_PATHS = [
  ['specReplicasPath', ['.spec.'], 'should be a json path under .spec', true],
  ['statusReplicasPath', ['.status.'], 'should be a json path under .status', true],
  ['labelSelectorPath', ['.spec.', '.status.'], 'should be a json path under either .spec or .status', false],
] as const;

export function subresourceErrors(subresources: Json | undefined, path: string): FieldError[] {
  const scale = members(subresources)['scale'];
  if (!isJsonObject(scale)) return [];
  return SCALE_PATHS.flatMap(([name, prefixes, why, isRequired]) => {
    const [field, given] = [`${path}.scale.${name}`, text(scale[name])];
    if (given === '') return isRequired ? [required(field)] : [];
    const errors = simplePathErrors(field, given);
    if (errors.length > 0 || prefixes.some((prefix) => given.startsWith(prefix))) return errors;
    return [invalidValue(field, given, why)];
  });
}

interface Found {
  readonly names: readonly string[];
  readonly node: JsonObject;
}

/** Returns the tokens of a path: delimiters, quoted texts and names. */
function tokensOf(path: string): string[] {
  return path.match(/'(?:[^'\\]|\\[^])*'?|[.[\]]|[^.[\]']+[^.[\]]*/g) ?? [];
}

/** Follows a path of names and quoted names through a schema. Returns why it leads to no field. */
export function fieldAt(path: string, root: JsonObject, allowsArrays = true): Found | string {
  const tokens = tokensOf(path);
  const names: string[] = [];
  let node = root;
  for (let at = 0; at < tokens.length; at += 1) {
    const opening = tokens[at];
    if (opening !== '.' && opening !== '[') return `expected [ or . but got: ${opening ?? ''}`;
    if (opening === '[' && !allowsArrays) return 'array notation is not allowed';
    const token = tokens[(at += 1)];
    if (token === undefined) return 'unexpected end of JSON path';
    let name = token;
    if (opening === '[') {
      if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'"))
        return `expected single quoted string but got ${token}`;
      name = token.slice(1, -1).replaceAll(/\\(.)/g, '$1');
    }
    const { properties, additionalProperties } = node;
    const hasProperties = isJsonObject(properties) && Object.keys(properties).length > 0;
    const next = hasProperties ? memberOf(properties, name) : additionalProperties;
    if (next === undefined || next === null) return 'does not refer to a valid field';
    names.push(name);
    node = members(next);
    if (opening === '.') continue;
    const closing = tokens[(at += 1)];
    if (closing === undefined) return 'unexpected end of JSON path';
    if (closing !== ']') return `expected ] but got ${closing}`;
  }
  return { names, node };
}

export function selectableErrors(fields: Json | undefined, root: JsonObject, path: string): FieldError[] {
  const seen = new Set<string>();
  const errors = objects(fields).flatMap((given, index): FieldError[] => {
    const [field, jsonPath] = [`${path}[${index}].jsonPath`, text(given['jsonPath'])];
    if (jsonPath === '') return [required(field)];
    const found = fieldAt(jsonPath, root, false);
    if (typeof found === 'string') return [invalidValue(field, jsonPath, `is an invalid path: ${found}`)];
    const { names, node } = found;
    const isRepeated = seen.has(names.join('.'));
    seen.add(names.join('.'));
    const types =
      'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
    return [
      ...(names[0] === 'metadata'
        ? [invalidValue(field, jsonPath, 'must not point to fields in metadata')]
        : []),
      ...(SELECTABLE_TYPES.includes(text(node['type'])) ? [] : [invalidValue(field, jsonPath, types)]),
      ...(isRepeated
        ? [
            {
              type: 'FieldValueDuplicate',
              field,
              body: `Duplicate value: ${JSON.stringify(jsonPath)}`,
            } as const,
          ]
        : []),
    ];
  });
  if (seen.size <= SELECTABLE_MAX) return errors;
  const body = `Too many: ${seen.size}: must have at most ${SELECTABLE_MAX} items`;
  return [...errors, { type: 'FieldValueTooMany', field: path, body }];
}
