/**
 * The rules of a structural schema for values, in the order and the words of a real server (kube-openapi). One walk
 * through the value and the schema; nothing is prepared, because most nodes of a large schema never meet a value.
 */

import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf, textOf, writeJson, isNumber, isInteger } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { matchesGo } from './go-regexp.ts';
import { INT_OR_STRING } from './schema-node.ts';
import { isUnchanged, itemsBefore, memberNode } from './validation-correlation.ts';
import { formatCheck } from './validation-formats.ts';
import { numberErrors } from './validation-numbers.ts';

interface Place {
  readonly value: Json;
  readonly node: JsonObject;
  readonly path: string;
  /** The value before the update; undefined if none belongs to this value. */
  readonly before: Json | undefined;
}

/** The broken rules of a value, each once, and the number of passed checks, which finds the closest alternative. */
class Outcome {
  readonly errors = new Map<string, FieldError>();
  passed = 0;

  add(type: FieldError['type'], field: string, body: string): void {
    this.errors.set(`${field}\n${body}`, { type, field, body });
  }

  invalid({ path }: Place, shown: string, why: string): void {
    this.add('FieldValueInvalid', path, `Invalid value: ${shown}: ${path} in body ${why}`);
  }

  /** Adds an error that names its field in the explanation only. */
  combined(why: string): void {
    this.add('FieldValueInvalid', '<nil>', `Invalid value: "": ${why}`);
  }

  mistyped({ path }: Place, type: string, found: string): void {
    const shown = JSON.stringify(found);
    this.add(
      'FieldValueTypeInvalid',
      path,
      `Invalid value: ${shown}: ${path} in body must be of type ${type}: ${shown}`,
    );
  }

  merge({ errors, passed }: Outcome): void {
    for (const [key, error] of errors) this.errors.set(key, error);
    this.passed += passed;
  }
}

function checked(place: Place): Outcome {
  const outcome = new Outcome();
  const { value, node, before } = place;
  checkType(place, outcome);
  if (value !== null) {
    checkAlternatives(place, outcome);
    if (typeof value === 'string') checkText(value, place, outcome);
    else if (Array.isArray(value)) checkItems(value, place, outcome);
    else if (isNumber(value)) {
      for (const { type, field, body } of numberErrors(value, node, typesOf(node), place.path))
        outcome.add(type, field, body);
      outcome.passed += 2;
    }
  }
  checkEnumeration(place, outcome);
  if (isJsonObject(value)) checkMembers(value, place, outcome);
  if (value !== null) outcome.passed += 2;
  if (outcome.errors.size > 0 && before !== undefined && isUnchanged(value, before, node))
    outcome.errors.clear();
  return outcome;
}

function typesOf(node: JsonObject): readonly string[] {
  if (node[INT_OR_STRING] === true) return ['integer', 'string'];
  return typeof node['type'] === 'string' ? [node['type']] : [];
}

const NUMBER_FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  ['integer', ['int32', 'int64']],
  ['number', ['float', 'double']],
]);

/** Returns the format that is checked: a server drops formats that do not fit the type. */
function formatOf(node: JsonObject, types: readonly string[]): string | undefined {
  const { format } = node;
  if (typeof format !== 'string') return undefined;
  const [type = 'string'] = types.length === 1 ? types : [];
  if (type === 'string') return formatCheck(format) === undefined ? undefined : format;
  return NUMBER_FORMATS.get(type)?.includes(format) === true ? format : undefined;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return isInteger(value) ? 'integer' : typeof value;
}

function checkType(place: Place, outcome: Outcome): void {
  const { value, node } = place;
  const types = typesOf(node);
  const format = formatOf(node, types);
  const found = typeOf(value);
  const wanted = types.join(',');
  if (value === null) {
    if (types.length > 0 && node['nullable'] !== true) outcome.mistyped(place, wanted, found);
    else outcome.passed++;
    return;
  }
  if (types.length === 0 && format === undefined) return;
  outcome.passed++;
  const fits = types.includes(found) || (found === 'integer' && types.includes('number'));
  const isText = typeof value === 'string' || Array.isArray(value);
  if (format !== undefined && !isText && !fits) {
    const goFormat = found === 'integer' ? 'int64' : found === 'number' ? 'float64' : '';
    return outcome.mistyped(place, format, goFormat);
  }
  const isTextFormat = format !== undefined && !types.includes('number') && !types.includes('integer');
  if ((isTextFormat && isText) || fits) outcome.passed++;
  else outcome.mistyped(place, wanted, found);
}

function branchesOf(node: JsonObject, keyword: string): readonly JsonObject[] {
  const branches = node[keyword];
  return Array.isArray(branches) ? branches.filter((branch) => isJsonObject(branch)) : [];
}

/** Returns the failed alternative with the most passed checks. */
function closest(outcomes: readonly Outcome[]): Outcome | undefined {
  return outcomes.reduce<Outcome | undefined>(
    (best, outcome) => (best === undefined || outcome.passed > best.passed ? outcome : best),
    undefined,
  );
}

function isValid({ errors }: Outcome): boolean {
  return errors.size === 0;
}

/** Checks `anyOf`, `oneOf`, `allOf` and `not`. Values inside them have no counterpart before the update. */
function checkAlternatives(place: Place, outcome: Outcome): void {
  const { node, path } = place;
  const at = (branch: JsonObject): Outcome => checked({ ...place, node: branch, before: undefined });
  const name = JSON.stringify(path);
  outcome.passed += 2;
  const any = branchesOf(node, 'anyOf').map(at);
  if (any.length > 0) {
    if (!any.some(isValid)) outcome.combined(`${name} must validate at least one schema (anyOf)`);
    outcome.merge(any.find(isValid) ?? closest(any) ?? new Outcome());
  }
  const one = branchesOf(node, 'oneOf').map(at);
  const valid = one.filter(isValid);
  if (one.length > 0) {
    if (valid.length !== 1) {
      const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
      outcome.combined(`${name} must validate one and only one schema (oneOf). ${found}`);
    }
    const shown = valid.length === 0 ? closest(one) : valid.length === 1 ? valid[0] : undefined;
    if (shown !== undefined) outcome.merge(shown);
  }
  const all = branchesOf(node, 'allOf').map(at);
  for (const each of all) outcome.merge(each);
  if (!all.every(isValid)) {
    const found = all.some(isValid) ? '' : '. None validated';
    outcome.combined(`${name} must validate all the schemas (allOf)${found}`);
  }
  if (isJsonObject(node['not']) && isValid(at(node['not'])))
    outcome.combined(`${name} must not validate the schema (not)`);
}

/** Characters are code points. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function checkText(value: string, place: Place, outcome: Outcome): void {
  const { node, path } = place;
  const { minLength, maxLength, pattern } = node;
  const format = formatOf(node, typesOf(node));
  outcome.passed++;
  if (isNumber(maxLength) && value.length > maxLength && lengthOf(value) > maxLength) {
    outcome.add('FieldValueTooLong', path, `Too long: may not be more than ${counted(maxLength, 'byte')}`);
  } else if (isNumber(minLength) && minLength > 0 && lengthOf(value) < minLength) {
    outcome.invalid(place, JSON.stringify(value), `should be at least ${minLength} chars long`);
  } else if (typeof pattern === 'string' && pattern !== '' && !matchesGo(pattern, value)) {
    outcome.invalid(place, JSON.stringify(value), `should match '${pattern}'`);
  }
  if (format === undefined) return;
  outcome.passed++;
  if (formatCheck(format)?.(value) === false) outcome.mistyped(place, format, value);
}

function counted(count: number | bigint, unit: string): string {
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}

/** Checks the number of items or members. */
function checkSize(size: number, unit: 'items' | 'properties', place: Place, outcome: Outcome): void {
  const suffix = unit === 'items' ? 'Items' : 'Properties';
  const [min, max] = [place.node[`min${suffix}`], place.node[`max${suffix}`]];
  if (isNumber(min) && size < min)
    outcome.invalid(place, String(size), `should have at least ${min} ${unit}`);
  if (isNumber(max) && size > max)
    outcome.add(
      'FieldValueTooMany',
      place.path,
      `Too many: ${size}: must have at most ${counted(max, 'item')}`,
    );
}

function checkItems(value: readonly Json[], place: Place, outcome: Outcome): void {
  const { node, path, before } = place;
  const { items } = node;
  if (isJsonObject(items)) {
    const itemOf = itemsBefore(node, before);
    for (const [index, item] of value.entries())
      outcome.merge(checked({ value: item, node: items, path: `${path}[${index}]`, before: itemOf?.(item) }));
  }
  checkSize(value.length, 'items', place, outcome);
  outcome.passed += 2;
}

function checkEnumeration({ value, node, path }: Place, outcome: Outcome): void {
  const values = node['enum'];
  if (!Array.isArray(values) || values.length === 0 || values.some((each) => isAllowed(value, each))) return;
  const supported = values.map((each) => JSON.stringify(textOf(each))).join(', ');
  outcome.add(
    'FieldValueNotSupported',
    path,
    `Unsupported value: ${writeJson(value)}: supported values: ${supported}`,
  );
}

/** Go converts a number to the type of the allowed number; a null is never allowed. */
function isAllowed(value: Json, allowed: Json): boolean {
  if (value === null) return false;
  if (typeof value === 'number' && typeof allowed === 'number')
    return (Number.isInteger(allowed) ? Math.trunc(value) : value) === allowed;
  return value === allowed || (typeof value === 'object' && writeJson(value) === writeJson(allowed));
}

/** Fields of every object; an update may name another version, so their old values do not count. */
const TYPE_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind']);

function checkMembers(value: JsonObject, place: Place, outcome: Outcome): void {
  const { node, path, before } = place;
  const { properties, required } = node;
  checkSize(Object.keys(value).length, 'properties', place, outcome);
  for (const [name, member] of Object.entries(value)) {
    const child = memberNode(node, name);
    if (member === undefined || child === undefined) continue;
    const isNamed = memberOf(properties, name) !== undefined;
    const old = path === '' && TYPE_FIELDS.has(name) ? undefined : memberOf(before, name);
    const inside = path === '' && isNamed ? name : `${path}.${name}`;
    outcome.merge(checked({ value: member, node: child, path: inside, before: old }));
  }
  for (const name of Array.isArray(required) ? required.map(textOf) : []) {
    if (memberOf(value, name) !== undefined) continue;
    outcome.add('FieldValueRequired', path === '' ? name : `${path}.${name}`, 'Required value');
  }
}

/** Returns the check of a schema; a value that an update leaves unchanged breaks no rule. */
export function validatorOf(root: JsonObject): (object: Json, previous?: Json) => FieldError[] {
  return (object, previous) => [
    ...checked({ value: object, node: root, path: '', before: previous }).errors.values(),
  ];
}
