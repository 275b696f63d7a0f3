/**
 * Whether a schema is structural: every value has a type outside of `allOf`, `anyOf`, `oneOf` and `not`, which only
 * restrict values further.
 */

import { isDeepStrictEqual } from 'node:util';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { forbidden, invalidValue, members, objects, required, text } from '../store/causes.ts';
import { patternError } from './go-regexp.ts';
import { EMBEDDED, INT_OR_STRING, LIST_KEYS, LIST_TYPE, MAP_TYPE, PRESERVE, RULES } from './schema-node.ts';

type Level = 'root' | 'item' | 'field';

const PLACES: Readonly<Record<Level, string>> = {
  root: 'at the root',
  item: 'for specified array items',
  field: 'for specified object fields',
};

/** Members that a value has by its structure, and that conditions may not repeat, with the value that is allowed. */
const STRUCTURE = [
  ['type', 'empty'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  [PRESERVE, 'false'],
  [EMBEDDED, 'false'],
  [INT_OR_STRING, 'false'],
  [LIST_KEYS, 'empty'],
  [LIST_TYPE, 'undefined'],
  [MAP_TYPE, 'undefined'],
  [RULES, 'empty'],
] as const;

/** The conditions by which a schema says that a value is a number or text. */
const NUMBER_OR_TEXT = [{ type: 'integer' }, { type: 'string' }];

const UNSUPPORTED = ['id', '$schema', '$ref', 'patternProperties', 'dependencies', 'definitions'];

/** True for a member that Go does not omit when it is false or empty. */
export function isSet(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** Returns the schemas directly below a schema: first the schemas of conditions, then the schemas of the structure. */
function below(node: JsonObject): JsonObject[] {
  const { not, allOf, anyOf, oneOf, items, properties, additionalProperties } = node;
  const branches = [allOf, anyOf, oneOf].flatMap(objects);
  const nodes = [not, items, ...Object.values(members(properties)), additionalProperties];
  return [...branches, ...nodes.filter((each) => isJsonObject(each))];
}

/** Returns the name of a member that no structural schema can have; undefined if the schema has none. */
export function unsupportedIn(node: JsonObject): string | undefined {
  const own = UNSUPPORTED.find((name) => isSet(node[name]));
  if (own !== undefined) return own === '$schema' ? 'schema' : own;
  const { additionalItems, items } = node;
  if (additionalItems !== undefined && additionalItems !== null) return 'additionalItems';
  if (Array.isArray(items) && items.length > 0) return 'items';
  if (node[PRESERVE] === false) return PRESERVE;
  return below(node)
    .map(unsupportedIn)
    .find((name) => name !== undefined);
}

function conditionErrors(node: JsonObject, path: string, skips: string): FieldError[] {
  const { not, pattern } = node;
  const errors = ['anyOf', 'allOf', 'oneOf'].flatMap((name) => {
    if (name === 'anyOf' && skips === 'anyOf') return [];
    return objects(node[name]).flatMap((branch, index) => {
      const isSkipped = name === 'allOf' && index === 0 && skips === 'allOf';
      return branchErrors(branch, `${path}.${name}[${index}]`, isSkipped ? 'anyOf' : '');
    });
  });
  if (isJsonObject(not)) errors.push(...branchErrors(not, `${path}.not`));
  const why = text(pattern) === '' ? undefined : patternError(text(pattern));
  if (why === undefined) return errors;
  const detail = `must be a valid regular expression, but isn't: ${why}`;
  return [...errors, invalidValue(`${path}.pattern`, pattern, detail)];
}

function branchErrors(node: JsonObject, path: string, skips = ''): FieldError[] {
  const { items, properties, additionalProperties } = node;
  const errors = conditionErrors(node, path, skips);
  if (isJsonObject(items)) errors.push(...branchErrors(items, `${path}.items`));
  for (const [name, child] of Object.entries(members(properties)))
    errors.push(...branchErrors(members(child), `${path}.properties[${name}]`));
  for (const [name, allowed] of STRUCTURE)
    if (isSet(node[name]) || (name === 'default' && node[name] !== undefined && node[name] !== null))
      errors.push(forbidden(`${path}.${name}`, `must be ${allowed} to be structural`));
  if (additionalProperties === true || isJsonObject(additionalProperties))
    errors.push(forbidden(`${path}.additionalProperties`, 'must be undefined to be structural'));
  if (memberOf(properties, 'metadata') !== undefined)
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  return errors;
}

/** Returns the part of the schema whose conditions only say that a value is a number or text. */
function numberOrText(node: JsonObject): string {
  if (isDeepStrictEqual(node['anyOf'], NUMBER_OR_TEXT)) return 'anyOf';
  return isDeepStrictEqual(objects(node['allOf'])[0]?.['anyOf'], NUMBER_OR_TEXT) ? 'allOf' : '';
}

/** Members of the metadata at the root that a definition may restrict. */
const NAMES: ReadonlySet<string> = new Set(['name', 'generateName']);

function metadataErrors(metadata: JsonObject, path: string, level: Level): FieldError[] {
  const errors =
    metadata['type'] === 'object'
      ? []
      : [invalidValue(`${path}.type`, text(metadata['type']), 'must be object')];
  if (level !== 'root') return errors;
  const { type: _, default: __, properties, ...more } = metadata;
  const isPlain = Object.values(more).every((value) => !isSet(value) && typeof value !== 'number');
  if (isPlain && Object.keys(members(properties)).every((name) => NAMES.has(name))) return errors;
  const why =
    'must not specify anything other than name and generateName, but metadata is implicitly specified';
  return [...errors, forbidden(path, why)];
}

function typeErrors(node: JsonObject, path: string, level: Level): FieldError[] {
  const type = text(node['type']);
  const errors: FieldError[] = [];
  const why = 'must be object if x-kubernetes-embedded-resource is true';
  if (node[EMBEDDED] === true && type !== 'object')
    errors.push(type === '' ? required(`${path}.type`, why) : invalidValue(`${path}.type`, type, why));
  else if (type === '' && node[INT_OR_STRING] !== true && node[PRESERVE] !== true)
    errors.push(required(`${path}.type`, `must not be empty ${PLACES[level]}`));
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(invalidValue(`${path}.type`, type, 'must be object at the root'));
  return errors;
}

function embeddedErrors(node: JsonObject, path: string, level: Level): FieldError[] {
  const { properties, additionalProperties } = node;
  const errors: FieldError[] = [];
  const isEmbedded = node[EMBEDDED] === true;
  const hasAdditional = additionalProperties !== undefined && additionalProperties !== null;
  if (hasAdditional && level === 'root')
    errors.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
  if (hasAdditional && isEmbedded)
    errors.push(
      forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  for (const name of [PRESERVE, EMBEDDED])
    if (node[INT_OR_STRING] === true && node[name] === true)
      errors.push(
        invalidValue(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'),
      );
  const metadata = memberOf(properties, 'metadata');
  const isObject = level === 'root' || isEmbedded;
  for (const name of ['kind', 'apiVersion']) {
    const child = memberOf(properties, name);
    const type = text(memberOf(child, 'type'));
    if (isObject && isJsonObject(child) && type !== 'string')
      errors.push(invalidValue(`${path}.properties[${name}].type`, type, 'must be string'));
  }
  if (isObject && isJsonObject(metadata))
    errors.push(...metadataErrors(metadata, `${path}.properties[metadata]`, level));
  if (isEmbedded && node[PRESERVE] !== true && !isSet(properties)) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, why));
  }
  return errors;
}

function nodeErrors(node: JsonObject, path: string, level: Level): FieldError[] {
  const { type, items, properties, additionalProperties } = node;
  const errors: FieldError[] = [];
  if (type === 'array' && !isJsonObject(items)) errors.push(required(`${path}.items`, 'must be specified'));
  if (isJsonObject(items)) errors.push(...nodeErrors(items, `${path}.items`, 'item'));
  for (const [name, child] of Object.entries(members(properties)))
    errors.push(...nodeErrors(members(child), `${path}.properties[${name}]`, 'field'));
  if (isJsonObject(additionalProperties))
    errors.push(...nodeErrors(additionalProperties, `${path}.additionalProperties`, 'field'));
  return [
    ...errors,
    ...conditionErrors(node, path, numberOrText(node)),
    ...typeErrors(node, path, level),
    ...embeddedErrors(node, path, level),
  ];
}

/** Returns an error for each condition of the root about a field that the structure does not contain. */
function incomplete(node: JsonObject, structure: JsonObject, path: string, place: string): FieldError[] {
  const branches = [
    ...(isJsonObject(node['not']) ? [[node['not'], 'not'] as const] : []),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((name) =>
      objects(node[name]).map((branch, index) => [branch, `${name}[${index}]`] as const),
    ),
  ];
  return branches.flatMap(([branch, name]) => uncovered(branch, structure, path, `${place}.${name}`));
}

function uncovered(
  branch: JsonObject,
  structure: Json | undefined,
  path: string,
  place: string,
): FieldError[] {
  if (!isJsonObject(structure)) return [required(path, `because it is defined in ${place}`)];
  const errors = incomplete(branch, structure, path, place);
  const { items, properties } = branch;
  if (isJsonObject(items))
    errors.push(...uncovered(items, structure['items'], `${path}.items`, `${place}.items`));
  for (const [name, child] of Object.entries(members(properties))) {
    const part = `properties[${name}]`;
    const covering = memberOf(structure['properties'], name);
    errors.push(...uncovered(members(child), covering, `${path}.${part}`, `${place}.${part}`));
  }
  return errors;
}

/** Returns why a schema is not structural, sorted. */
export function structuralErrors(root: JsonObject, path: string): FieldError[] {
  const keyed = [...nodeErrors(root, path, 'root'), ...incomplete(root, root, path, path)].map(
    (error) => [`${error.field}: ${error.body}`, error] as const,
  );
  return keyed
    .toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)))
    .map(([, error]) => error);
}
