/**
 * The rules of a structural schema for values, checked by ajv, and their violations in the words of a real server. ajv
 * reads JSON Schema; this module translates the differences of OpenAPI v3 and Kubernetes.
 */

import { isIP, isIPv4, isIPv6 } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject } from 'ajv/dist/2020.js';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf, textOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { EMBEDDED, INT_OR_STRING } from './schema-node.ts';

const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** Formats that are checked; all others are accepted. Numbers have formats for their range. */
const FORMATS: Readonly<Record<string, (value: string) => boolean>> = {
  'date-time': (value) => TIME.test(value) && !Number.isNaN(Date.parse(value)),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  uuid: (value) => UUID.test(value),
  uri: (value) => URL.canParse(value),
  byte: (value) => /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0,
};
const RANGES: Readonly<Record<string, number>> = { int32: 2 ** 31, int64: 2 ** 63 };

function isCidr(value: string): boolean {
  const [address = '', bits = '', ...rest] = value.split('/');
  const family = isIP(address);
  return family > 0 && rest.length === 0 && /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/** @throws SyntaxError for a pattern that JavaScript cannot read */
export function validatorOf(root: JsonObject): (object: KubeObject) => FieldError[] {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    verbose: true,
    unicodeRegExp: false,
    ownProperties: true,
    // Unknown formats are documented; without this, ajv would print a line for each.
    logger: false,
  });
  for (const [name, validate] of Object.entries(FORMATS)) ajv.addFormat(name, validate);
  for (const [name, limit] of Object.entries(RANGES)) {
    ajv.addFormat(name, { type: 'number', validate: (value) => value >= -limit && value < limit });
  }
  const isValid = ajv.compile(jsonSchema(root));
  return (object) => (isValid(object) ? [] : fieldErrors(object, isValid.errors ?? []));
}

/** Keywords with the same meaning in both languages. */
const SAME = [
  'format',
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
] as const;

function jsonSchema(node: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const name of SAME) if (node[name] !== undefined) result[name] = node[name];
  const isNullable = node['nullable'] === true;
  const type = node[INT_OR_STRING] === true ? ['integer', 'string'] : node['type'];
  if (type !== undefined) result['type'] = isNullable ? [type, 'null'].flat() : type;
  const { enum: values, properties, items, additionalProperties } = node;
  if (Array.isArray(values)) result['enum'] = isNullable ? [...values, null] : values;
  for (const [bound, exclusive] of Object.entries({
    minimum: 'exclusiveMinimum',
    maximum: 'exclusiveMaximum',
  })) {
    if (node[exclusive] !== true) continue;
    result[exclusive] = node[bound];
    delete result[bound];
  }
  if (isJsonObject(properties)) result['properties'] = mapValues(properties);
  if (isJsonObject(items)) result['items'] = jsonSchema(items);
  if (isJsonObject(additionalProperties)) result['additionalProperties'] = jsonSchema(additionalProperties);
  for (const name of ['allOf', 'anyOf', 'oneOf']) {
    const branches = node[name];
    if (Array.isArray(branches)) result[name] = branches.filter(isJsonObject).map(jsonSchema);
  }
  if (isJsonObject(node['not'])) result['not'] = jsonSchema(node['not']);
  if (node[EMBEDDED] === true) {
    const given = Array.isArray(node['required']) ? node['required'] : [];
    result['required'] = [...new Set([...given, 'apiVersion', 'kind'])];
  }
  return result;
}

function mapValues(properties: JsonObject): JsonObject {
  const entries = Object.entries(properties).filter(([, property]) => isJsonObject(property));
  return Object.fromEntries(entries.map(([name, property]) => [name, jsonSchema(property as JsonObject)]));
}

/** Branches of these keywords fail by design; only the keyword itself is an error. */
const BRANCH = /\/(anyOf|oneOf|not)\//;

function fieldErrors(object: KubeObject, errors: readonly ErrorObject[]): FieldError[] {
  return errors
    .filter(({ schemaPath }) => !BRANCH.test(schemaPath))
    .map((error) => fieldError(pathOf(object, error.instancePath), error));
}

/** Violations with the value and an explanation. */
const INVALID: Readonly<Record<string, string>> = {
  minimum: 'should be greater than or equal to %',
  maximum: 'should be less than or equal to %',
  exclusiveMinimum: 'should be greater than %',
  exclusiveMaximum: 'should be less than %',
  multipleOf: 'should be a multiple of %',
  pattern: "should match '%'",
  minLength: 'should be at least % chars long',
  minItems: 'should have at least % items',
  minProperties: 'should have at least % properties',
};

/** Violations of combined schemas: a real server names the field only in the explanation. */
const COMBINED: Readonly<Record<string, string>> = {
  anyOf: 'must validate at least one schema (anyOf)',
  oneOf: 'must validate one and only one schema (oneOf). ',
  not: 'must not validate the schema (not)',
};

function fieldError(path: string, error: ErrorObject): FieldError {
  const { keyword, params, schema } = error;
  const data = error.data as Json;
  const limit = textOf(schema as Json);
  const [invalid, combined] = [INVALID[keyword], COMBINED[keyword]];
  if (invalid !== undefined) {
    // A function, because a pattern may contain a dollar sign.
    const why = `${path} in body ${invalid.replace('%', () => limit)}`;
    const value = keyword === 'minItems' || keyword === 'minProperties' ? sizeOf(data) : data;
    return { type: 'FieldValueInvalid', field: path, body: `Invalid value: ${shown(value)}: ${why}` };
  }
  if (combined !== undefined) {
    const found = params['passingSchemas'] === null ? 'Found none valid' : 'Found 2 valid alternatives';
    const why = `${shown(path)} ${combined}${keyword === 'oneOf' ? found : ''}`;
    return { type: 'FieldValueInvalid', field: '<nil>', body: `Invalid value: "": ${why}` };
  }
  switch (keyword) {
    case 'required': {
      const missing = String(params['missingProperty']);
      const field = path === '' ? missing : `${path}.${missing}`;
      return { type: 'FieldValueRequired', field, body: 'Required value' };
    }
    case 'enum': {
      const values = (schema as Json[])
        .filter((value) => value !== null)
        .map((value) => shown(textOf(value)));
      const body = `Unsupported value: ${shown(data)}: supported values: ${values.join(', ')}`;
      return { type: 'FieldValueNotSupported', field: path, body };
    }
    case 'maxLength': {
      const body = `Too long: may not be more than ${counted(limit, 'byte')}`;
      return { type: 'FieldValueTooLong', field: path, body };
    }
    case 'maxItems':
    case 'maxProperties': {
      const body = `Too many: ${sizeOf(data)}: must have at most ${counted(limit, 'item')}`;
      return { type: 'FieldValueTooMany', field: path, body };
    }
    default: {
      const expected = keyword === 'format' ? limit : [schema].flat().filter(isNotNull).join(',');
      const found = shown(keyword === 'format' ? data : typeOf(data));
      const body = `Invalid value: ${found}: ${path} in body must be of type ${expected}: ${found}`;
      return { type: 'FieldValueTypeInvalid', field: path, body };
    }
  }
}

function counted(count: string, unit: string): string {
  return count === '1' ? `1 ${unit}` : `${count} ${unit}s`;
}

/** Number of items or fields. */
function sizeOf(value: Json): number {
  return Array.isArray(value) ? value.length : Object.keys(Object(value)).length;
}

function isNotNull(type: unknown): boolean {
  return type !== 'null';
}

function shown(value: Json): string {
  return JSON.stringify(value);
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Turns a JSON pointer into the path of a field: `/spec/ports/0/name` into `spec.ports[0].name`. */
function pathOf(object: KubeObject, pointer: string): string {
  let path = '';
  let inside: Json | undefined = object;
  for (const part of pointer.split('/').slice(1)) {
    const name: string = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(inside)) {
      path += `[${name}]`;
      inside = inside[Number(name)];
    } else {
      path += path === '' ? name : `.${name}`;
      inside = memberOf(inside, name);
    }
  }
  return path;
}
