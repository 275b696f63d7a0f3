/** The rules for a schema itself: a walk over its nodes, with a table of keywords that are refused. */

import type { FieldError } from '../store/field-error.ts';
import { isJsonObject } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { ruleErrors } from './cel-rules.ts';
import { forbidden, invalidValue, members, objects, required, text, unsupported } from '../store/causes.ts';
import { fieldAt } from './definition-paths.ts';
import { SCHEMA_FIELDS, goSchema } from './go-value.ts';
import { listTypeErrors } from './list-type-rules.ts';
import { defaultErrors } from './schema-defaults.ts';
import { EMBEDDED, PRESERVE, RULES } from './schema-node.ts';
import { isSet, structuralErrors, unsupportedIn } from './structural-rules.ts';

const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const REASONS = ['Duplicate', 'Forbidden', 'Invalid', 'Required'].map((reason) => `FieldValue${reason}`);
const OBJECT_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Facts that a node has from the nodes above the node. */
interface Context {
  /** Why the node cannot have a default; '' if it can. */
  readonly noDefault: string;
  readonly isInMetadata: boolean;
  /** True where CEL rules are compiled: outside of conditions, in a schema that is structural. */
  readonly hasRules: boolean;
}

interface Found {
  readonly schema: FieldError[];
  readonly rules: FieldError[];
}

const exists = (value: Json | undefined): boolean => value !== undefined && value !== null;

/** Keywords of OpenAPI that no node may have, in the order of the errors. */
const REFUSED: readonly (readonly [string, (value: Json | undefined) => boolean, why?: string])[] = [
  ['id', isSet],
  ['additionalItems', exists],
  ['patternProperties', isSet],
  ['definitions', isSet],
  ['dependencies', exists],
  ['$ref', exists],
  ['type', (value) => value === 'null', 'type cannot be set to null, use nullable as an alternative'],
  [
    'items',
    (value) => Array.isArray(value) && value.length > 0,
    'items must be a schema object and not an array',
  ],
];

function keywordErrors(node: JsonObject, path: string, { noDefault, isInMetadata }: Context): FieldError[] {
  const type = text(node['type']);
  const errors: FieldError[] = [];
  if (type !== '' && !TYPES.includes(type)) errors.push(unsupported(`${path}.type`, type, TYPES));
  if (exists(node['default']) && noDefault !== '')
    errors.push(forbidden(`${path}.default`, `must not be set ${noDefault}`));
  for (const [name, isRefused, why = `${name} is not supported`] of REFUSED)
    if (isRefused(node[name])) errors.push(forbidden(`${path}.${name}`, why));
  if (isInMetadata && node[EMBEDDED] === true)
    errors.push(forbidden(`${path}.${EMBEDDED}`, 'must not be used inside of resource meta'));
  if (node['uniqueItems'] === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbidden(`${path}.uniqueItems`, why));
  }
  const { additionalProperties, properties } = node;
  if (isSet(properties) && exists(additionalProperties) && additionalProperties !== true) {
    const why = 'additionalProperties and properties are mutual exclusive';
    errors.push(forbidden(`${path}.additionalProperties`, why));
  }
  return errors;
}

const BREAK = /[\n\r]/;

/** Returns the broken rules of the texts of a CEL rule; its expressions are compiled elsewhere. */
function textErrors(rule: JsonObject, node: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const [expression, message, fieldPath] = [
    text(rule['rule']),
    text(rule['message']),
    text(rule['fieldPath']),
  ];
  const { messageExpression, reason } = rule;
  const nonEmpty = 'must be non-empty if specified';
  if (expression.trim() === '') errors.push(required(`${path}.rule`, 'rule is not specified'));
  else if (message !== '' && message.trim() === '')
    errors.push(invalidValue(`${path}.message`, message, nonEmpty));
  else if (BREAK.test(message.trim()))
    errors.push(invalidValue(`${path}.message`, message, 'must not contain line breaks'));
  else if (BREAK.test(expression.trim()) && message.trim() === '')
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (text(messageExpression) !== '' && text(messageExpression).trim() === '')
    errors.push(required(`${path}.messageExpression`, `messageExpression ${nonEmpty}`));
  if (typeof reason === 'string' && !REASONS.includes(reason))
    errors.push(unsupported(`${path}.reason`, reason, REASONS));
  const field = `${path}.fieldPath`;
  if (fieldPath === '') return errors;
  if (fieldPath.trim() === '') errors.push(invalidValue(field, fieldPath, nonEmpty));
  if (BREAK.test(fieldPath)) errors.push(invalidValue(field, fieldPath, 'must not contain line breaks'));
  if (unsupportedIn(node) === undefined && typeof fieldAt(fieldPath, node) === 'string')
    errors.push(invalidValue(field, fieldPath, 'must be a valid path'));
  return errors;
}

/** Returns the schemas below a node in the order of the errors, with their paths and contexts. */
function* children(
  node: JsonObject,
  path: string,
  context: Context,
  isRoot: boolean,
): Generator<readonly [Json | undefined, string, Context]> {
  const { noDefault, isInMetadata } = context;
  const inside = isInMetadata
    ? { ...context, noDefault: 'inside additionalProperties applying to object metadata' }
    : context;
  yield [node['additionalProperties'], `${path}.additionalProperties`, inside];
  const isObject = isRoot || node[EMBEDDED] === true;
  for (const [name, child] of Object.entries(members(node['properties']))) {
    const isMeta = isObject && OBJECT_FIELDS.has(name);
    const why = isRoot && isMeta ? `in top-level ${name}` : noDefault;
    yield [
      child,
      `${path}.properties[${name}]`,
      { ...context, noDefault: why, isInMetadata: isInMetadata || isMeta },
    ];
  }
  const condition = { ...context, hasRules: false };
  yield [node['not'], `${path}.not`, condition];
  for (const name of ['allOf', 'oneOf', 'anyOf'])
    for (const [index, branch] of objects(node[name]).entries())
      yield [branch, `${path}.${name}[${index}]`, condition];
  for (const [name, child] of Object.entries(members(node['definitions'])))
    yield [child, `${path}.definitions[${name}]`, condition];
  yield [node['items'], `${path}.items`, context];
  for (const [index, item] of objects(node['items']).entries())
    yield [item, `${path}.items[${index}]`, context];
  for (const [name, child] of Object.entries(members(node['dependencies'])))
    yield [child, `${path}.dependencies[${name}]`, condition];
}

function walked(node: JsonObject, path: string, context: Context, isRoot: boolean): Found {
  const found: Found = { schema: keywordErrors(node, path, context), rules: [] };
  for (const [child, place, inside] of children(node, path, context, isRoot)) {
    if (!isJsonObject(child)) continue;
    const { schema, rules } = walked(child, place, inside, false);
    found.schema.push(...schema);
    found.rules.push(...rules);
  }
  if (node[PRESERVE] === false)
    found.schema.push(invalidValue(`${path}.${PRESERVE}`, false, 'must be true or undefined'));
  found.schema.push(...listTypeErrors(node, path));
  for (const [index, rule] of objects(node[RULES]).entries())
    found.schema.push(...textErrors(rule, node, `${path}.${RULES}[${index}]`));
  if (context.hasRules && found.schema.length === 0) found.rules.push(...ruleErrors(node, path));
  return found;
}

const AT_ROOT =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';
const ROOT_FIELDS: ReadonlySet<string> = new Set(AT_ROOT.split(' '));

/** If the status is a subresource, only some keywords may stand at the root. */
function rootErrors(root: JsonObject, path: string): FieldError[] {
  for (const [name, goName] of SCHEMA_FIELDS) {
    const value = root[name];
    if (!isSet(value) && typeof value !== 'number') continue;
    if (name === 'type' && value !== 'object') {
      const why = 'only "object" is allowed as the type at the root of the schema';
      return [invalidValue(`${path}.type`, value, `${why} if the status subresource is enabled`)];
    }
    if (ROOT_FIELDS.has(goName)) continue;
    const why = `only [${AT_ROOT}] fields are allowed at the root of the schema if the status subresource is enabled`;
    return [invalidValue(path, goSchema(root), why)];
  }
  return [];
}

/** Returns the broken rules of the schema of a version. `hasStatus`: the status is a subresource. */
export function schemaErrors(root: JsonObject, path: string, hasStatus: boolean): FieldError[] {
  const errors = hasStatus ? rootErrors(root, path) : [];
  if (root['nullable'] === true)
    errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const obstacle = unsupportedIn(root);
  let broken = obstacle === undefined ? structuralErrors(root, path) : [];
  if (obstacle === undefined && broken.length === 0)
    broken = defaultErrors({ ...root, [EMBEDDED]: true }, path);
  errors.push(...broken);
  const hasRules = obstacle === undefined && broken.length === 0;
  const { schema, rules } = walked(root, path, { noDefault: '', isInMetadata: false, hasRules }, true);
  errors.push(...schema, ...rules);
  if (errors.length > 0 || obstacle === undefined) return errors;
  return [invalidValue(path, '', `OpenAPIV3Schema '${obstacle}' is not supported`)];
}
