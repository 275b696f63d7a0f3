/**
 * The values that a server refuses, by the words of the refusals. The table has the words, which a real server gave; a limit, an
 * expression or an enumeration in the words tells which values they are about.
 */

import { isIP, isIPv4 } from 'node:net';
import { parseJson } from '../../../base/parse-json.ts';
import { duplicate, invalidValue } from '../store/causes.ts';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf, textOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { resolved } from './shapes.ts';
import type { ShapeNode } from './shapes.ts';
import { STRUCT_RULES } from './struct-rules.ts';

/** True for a value to which the words do not apply. */
type Test = (value: Json) => boolean;

/** @param isRight a test of texts; other values pass */
function forText(isRight: (text: string) => boolean): Test {
  return (value) => typeof value !== 'string' || isRight(value);
}

/** A test of numbers, quantities and percentages. The unit of a quantity changes neither the sign nor zero. */
function within(from: number, to: number): Test {
  return (value) => {
    const number = typeof value === 'number' ? value : Number.parseFloat(textOf(value));
    return Number.isNaN(number) || (number >= from && number <= to);
  };
}

function oneOf(names: readonly string[]): Test {
  return forText((text) => names.includes(text));
}

function isBlock(text: string): boolean {
  const [address = '', bits = '', more] = text.split('/');
  const isBits = /^\d+$/.test(bits) && Number(bits) <= (isIPv4(address) ? 32 : 128);
  return more === undefined && isIP(address) > 0 && isBits;
}

/** Go writes numbers of modes in octal, with a zero before them. */
function numberIn(digits: string = 'zero'): number {
  if (digits === 'zero') return 0;
  return Number.parseInt(digits, digits.startsWith('0') ? 8 : 10);
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];

/** @param dropped the part of the text that the expression is not about */
function matching(source: string = '', dropped: RegExp = /^$/): Test {
  const expression = new RegExp(`^(?:${source})$`);
  return forText((text) => expression.test(text.replace(dropped, '')));
}

/** The forms of words, each with the test that they describe. The first form that matches counts. */
const FORMS: readonly (readonly [RegExp, (parts: RegExpExecArray) => Test])[] = [
  [/^name part .*regex used for validation is '(.+)'\)$/, ([, source]) => matching(source, /^.*\//)],
  [/'\*' or .*regex used for validation is '(.+)'\)$/, ([, source]) => matching(`\\*|${source}`)],
  [/^.*regex used for validation is '(.+)'\)$/, ([, source]) => matching(source)],
  [/^must have at most \d+ characters and match regex \^(.+)\$$/, ([, source]) => matching(source)],
  [
    /^supported values: (.+)$/,
    ([, names = '']) => oneOf((parseJson(`[${names}]`) as string[] | undefined) ?? []),
  ],
  [/^must be (?:either )?'?[A-Z]/, ({ input }) => oneOf(input.match(/\b[A-Z]\w+/g) ?? [])],
  [/(?:between|range) (\d+)(?: and |-)(\d+)/, ([, from, to]) => within(numberIn(from), numberIn(to))],
  [
    /^must be (?:positive|greater than 0) and less than (\d+)$/,
    ([, to]) => within(Number.MIN_VALUE, numberIn(to)),
  ],
  [
    /^must be (?:a non-negative integer|greater than or equal to (\d+|zero))$/,
    ([, from]) => within(numberIn(from), Infinity),
  ],
  [
    /^must be (?:greater than (?:0|zero)|positive|a positive value)$/,
    () => within(Number.MIN_VALUE, Infinity),
  ],
  [
    /^must (?:be less than or equal to|not be greater than) (\d+)$/,
    ([, to]) => within(-Infinity, numberIn(to)),
  ],
  [/^may not specify a duration less than 10 minutes$/, () => within(600, Infinity)],
  [/^may not specify a duration less than (\d+) seconds/, ([, from]) => within(numberIn(from), Infinity)],
  [/^must be a valid IP address/, () => forText((text) => isIP(text) > 0)],
  [/^must be a valid CIDR value/, () => forText(isBlock)],
  [/^must (?:be an absolute path|start with (?:a '\/'|slash))/, () => matching('/.*')],
  [/^must contain only alpha-numeric characters/, () => matching('[-a-zA-Z0-9]+')],
  [/^must contain at least one letter/, () => matching('.*[a-zA-Z].*')],
  [/^not a valid selector operator$/, () => oneOf(OPERATORS)],
  [/^must be a domain-prefixed path/, () => matching('[^/ ]+/[^ ]+')],
  [/^must be a fully qualified domain and path/, () => matching('[^/ ]+\\.[^/ ]+/[^ ]+')],
];

const TESTS = new Map<string, Test | undefined>();

/** Returns the test that the words describe; undefined for words of no known form. */
export function testOf(words: string): Test | undefined {
  if (TESTS.has(words)) return TESTS.get(words);
  for (const [form, testFor] of FORMS) {
    const parts = form.exec(words);
    if (parts === null) continue;
    TESTS.set(words, testFor(parts));
    break;
  }
  return TESTS.get(words);
}

/** Returns the error for a value that the words refuse. */
export function refusedFor(words: string, field: string, value: Json): FieldError {
  if (!words.startsWith('supported values')) return invalidValue(field, value, words);
  const body = `Unsupported value: ${JSON.stringify(value)}: ${words}`;
  return { type: 'FieldValueNotSupported', field, body };
}

const TYPES: readonly (readonly [start: string, type: FieldError['type']])[] = [
  ['Required', 'FieldValueRequired'],
  ['Unsupported', 'FieldValueNotSupported'],
];

function absenceError(field: string, body: string): FieldError {
  const [, type = 'FieldValueInvalid'] = TYPES.find(([start]) => body.startsWith(start)) ?? [];
  return { type, field, body };
}

/** True for a value of a member that Go cannot tell from an absent member. A pointer tells them apart. */
export function isUnset(value: Json | undefined, { go = '*' }: ShapeNode): boolean {
  if (value === undefined || value === null) return true;
  if (go.startsWith('*')) return false;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) ? Object.keys(value).length === 0 : value === '' || value === 0;
}

const RULED = new Map<string, boolean>();

/** True if the node or a node below has words. */
function isRuled(node: ShapeNode): boolean {
  if ([node.absent, node.refused, node.unique].some((rule) => rule !== undefined)) return true;
  const { $ref: name } = node;
  if (name === undefined) return hasRuledPart(node);
  const known = RULED.get(name);
  if (known !== undefined) return known;
  // A type that contains itself is not ruled by that.
  RULED.set(name, false);
  const isFound = STRUCT_RULES.get(name)?.refuse !== undefined || hasRuledPart(resolved(node));
  RULED.set(name, isFound);
  return isFound;
}

function hasRuledPart({ properties = {}, items, additionalProperties }: ShapeNode): boolean {
  const parts = [...Object.values(properties), items, additionalProperties];
  return parts.some((part) => typeof part === 'object' && isRuled(part));
}

/** Returns errors for items that repeat an item before them. */
function repetitions(items: readonly Json[], key: string, field: string): FieldError[] {
  const seen = new Set<Json>();
  return items.flatMap((item, index) => {
    const value = key === '' ? item : (memberOf(item, key) ?? null);
    const isFirst = !seen.has(value) || value === null;
    seen.add(value);
    return isFirst ? [] : [duplicate(`${field}[${index}]${key === '' ? '' : `.${key}`}`, value)];
  });
}

/** Returns the errors of a value and of the values in it. @param value undefined for an absent member */
export function refusals(value: Json | undefined, node: ShapeNode, field: string): FieldError[] {
  if (!isRuled(node)) return [];
  const { properties, items, additionalProperties } = resolved(node);
  if (isUnset(value, node)) {
    const isStruct = properties !== undefined && node.go?.startsWith('*') !== true;
    const own = (node.absent ?? []).map((words) => absenceError(field, words));
    return isStruct ? [...own, ...memberErrors({}, node, field)] : own;
  }
  const given = value ?? null;
  const own = (node.refused ?? [])
    .filter((words) => testOf(words)?.(given) === false)
    .map((words) => refusedFor(words, field, given));
  if (Array.isArray(given))
    return [
      ...own,
      ...given.flatMap((item, index) => (items ? refusals(item, items, `${field}[${index}]`) : [])),
      ...(node.unique === undefined ? [] : repetitions(given, node.unique, field)),
    ];
  if (!isJsonObject(given)) return own;
  if (properties !== undefined) return [...own, ...memberErrors(given, node, field)];
  if (typeof additionalProperties !== 'object') return own;
  return [
    ...own,
    ...Object.entries(given).flatMap(([name, entry]) =>
      refusals(entry, additionalProperties, `${field}[${name}]`),
    ),
  ];
}

/** Members of the root that other rules check. */
const ELSEWHERE: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

function memberErrors(value: JsonObject, node: ShapeNode, field: string): FieldError[] {
  const { properties = {} } = resolved(node);
  const errors = Object.entries(properties).flatMap(([name, child]) => {
    if (field === '') return ELSEWHERE.has(name) ? [] : refusals(value[name], child, name);
    return refusals(value[name], child, `${field}.${name}`);
  });
  return [...errors, ...(STRUCT_RULES.get(node.$ref ?? '')?.refuse?.(value, field) ?? [])];
}
