/**
 * The rules of a schema, `x-kubernetes-validations`: they are evaluated for every value of the object whose schema
 * contains rules, with the value before the update as `oldSelf`.
 */

import { messageOf } from '../../../base/errors.ts';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { compile, expressionError, firstLine, formatted, optionalOf } from './cel-environment.ts';
import type { CelProgram, CelValue } from './cel-environment.ts';
import { EMBEDDED, RULES } from './schema-node.ts';
import { isUnchanged, itemsBefore } from './validation-correlation.ts';

interface Rule {
  readonly text: string;
  readonly message: string;
  readonly program: CelProgram;
  readonly messageProgram: CelProgram | undefined;
  readonly reason: string;
  /** Path of the reported field below the value, or ''. */
  readonly fieldPath: string;
  readonly usesOldSelf: boolean;
  readonly isOldSelfOptional: boolean;
}

/** Words that CEL reserves, so a field of this name is written `__name__`. */
const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** Returns the name of a field in CEL. */
export function escapedName(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}

/** Errors in the rules of a schema, for which a definition is refused. */
export function ruleErrors(node: JsonObject, path: string): FieldError[] {
  return rulesIn(node).flatMap((given, index) => {
    const { rule, message, messageExpression } = given;
    const place = `${path}.${RULES}[${index}]`;
    const errors: FieldError[] = [];
    for (const [name, expression] of Object.entries({ rule, messageExpression })) {
      if (typeof expression !== 'string') continue;
      const why = expressionError(expression);
      if (why === undefined) continue;
      const body = `Invalid value: ${JSON.stringify(expression)}: compilation failed: ${why}`;
      errors.push({ type: 'FieldValueInvalid', field: `${place}.${name}`, body });
    }
    if (typeof rule === 'string' && rule.trim().includes('\n') && typeof message !== 'string') {
      const body = 'Required value: message must be specified if rule contains line breaks';
      errors.push({ type: 'FieldValueRequired', field: `${place}.message`, body });
    }
    return errors;
  });
}

function rulesIn(node: JsonObject): JsonObject[] {
  const rules = node[RULES];
  return Array.isArray(rules) ? rules.filter((rule) => isJsonObject(rule)) : [];
}

function textIn(given: JsonObject, name: string): string {
  const value = given[name];
  return typeof value === 'string' ? value.trim() : '';
}

function ruleOf(given: JsonObject): Rule {
  const { optionalOldSelf } = given;
  const text = textIn(given, 'rule');
  const messageExpression = textIn(given, 'messageExpression');
  return {
    text,
    message: textIn(given, 'message'),
    program: compile(text),
    messageProgram: messageExpression === '' ? undefined : compile(messageExpression),
    reason: textIn(given, 'reason'),
    fieldPath: textIn(given, 'fieldPath').replace(/^\./, ''),
    usesOldSelf: /\boldSelf\b/.test(text.replaceAll(/'[^']*'|"[^"]*"/g, '')),
    isOldSelfOptional: optionalOldSelf === true,
  };
}

/** The rules at and below a node of a schema. Rules are compiled at their first use. */
export class RuleNode {
  readonly #node: JsonObject;
  readonly #isRoot: boolean;
  #rules: readonly Rule[] | undefined;
  readonly #properties = new Map<string, RuleNode>();
  readonly #entries: RuleNode | undefined;
  readonly #items: RuleNode | undefined;
  /** True when there is a rule at this node or below. */
  readonly isNeeded: boolean;

  constructor(node: JsonObject, isRoot = false) {
    this.#node = node;
    this.#isRoot = isRoot;
    const { properties, additionalProperties, items } = node;
    for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const child = isJsonObject(property) ? new RuleNode(property) : undefined;
      if (child?.isNeeded === true) this.#properties.set(name, child);
    }
    this.#entries = isJsonObject(additionalProperties) ? new RuleNode(additionalProperties) : undefined;
    this.#items = isJsonObject(items) ? new RuleNode(items) : undefined;
    const below = [...this.#properties.values(), this.#entries, this.#items];
    this.isNeeded = rulesIn(node).length > 0 || below.some((child) => child?.isNeeded === true);
  }

  /**
   * Returns the broken rules of a value. `before` is the value before the update, if any; `isSame` tells whether the
   * update leaves the value, or the next value above that has a counterpart, as it was.
   */
  errors(
    value: Json | undefined,
    before: Json | undefined,
    path = '',
    isSameAbove: () => boolean = () => false,
  ): FieldError[] {
    if (!this.isNeeded || value === undefined || value === null) return [];
    const old = before ?? undefined;
    const isSame = old === undefined ? isSameAbove : () => isUnchanged(value, old, this.#node);
    return [...this.#ownErrors(value, old, path, isSame), ...this.#errorsBelow(value, old, path, isSame)];
  }

  #ownErrors(value: Json, before: Json | undefined, path: string, isSame: () => boolean): FieldError[] {
    this.#rules ??= rulesIn(this.#node).map(ruleOf);
    if (this.#rules.length === 0) return [];
    const self = celValue(value, this.#node, this.#isRoot);
    const oldSelf = before === undefined ? undefined : celValue(before, this.#node, this.#isRoot);
    return this.#rules.flatMap((rule): FieldError[] => {
      if (rule.usesOldSelf && before === undefined && !rule.isOldSelfOptional) return [];
      const variables = { self, oldSelf: rule.isOldSelfOptional ? optionalOf(oldSelf) : oldSelf };
      try {
        if (rule.program(variables) === true) return [];
        // A value that an update leaves unchanged may break a rule that was added later.
        return !rule.usesOldSelf && isSame() ? [] : [brokenRule(rule, value, variables, path)];
      } catch (error) {
        return [failedRule(rule, this.#node, messageOf(error), path)];
      }
    });
  }

  #errorsBelow(value: Json, before: Json | undefined, path: string, isSame: () => boolean): FieldError[] {
    if (Array.isArray(value)) {
      const itemOf = itemsBefore(this.#node, before);
      return value.flatMap((item, index) => {
        return this.#items?.errors(item, itemOf?.(item), `${path}[${index}]`, isSame) ?? [];
      });
    }
    if (!isJsonObject(value)) return [];
    const prefix = path === '' ? '' : `${path}.`;
    const fields = [...this.#properties].flatMap(([name, child]) =>
      child.errors(memberOf(value, name), memberOf(before, name), `${prefix}${name}`, isSame),
    );
    const entries = this.#entries;
    if (entries === undefined) return fields;
    return Object.keys(value).flatMap((name) =>
      entries.errors(memberOf(value, name), memberOf(before, name), `${path}[${name}]`, isSame),
    );
  }
}

type Variables = Readonly<Record<'self' | 'oldSelf', CelValue>>;

function brokenRule(rule: Rule, value: Json, variables: Variables, path: string): FieldError {
  const field = [path, rule.fieldPath].filter((part) => part !== '').join('.') || '<nil>';
  const detail = messageFor(rule, variables);
  const shown = typeof value === 'object' ? '' : JSON.stringify(value);
  switch (rule.reason) {
    case 'FieldValueRequired':
      return { type: 'FieldValueRequired', field, body: `Required value: ${detail}` };
    case 'FieldValueForbidden':
      return { type: 'FieldValueForbidden', field, body: `Forbidden: ${detail}` };
    case 'FieldValueDuplicate':
      return {
        type: 'FieldValueDuplicate',
        field,
        body: `Duplicate value${shown === '' ? '' : `: ${shown}`}`,
      };
    default:
      return {
        type: 'FieldValueInvalid',
        field,
        body: `Invalid value: ${shown === '' ? '' : `${shown}: `}${detail}`,
      };
  }
}

/** If a message expression fails, or does not return a line of text, the message is used. */
function messageFor({ message, messageProgram, text }: Rule, variables: Variables): string {
  const otherwise = message === '' ? `failed rule: ${text}` : message;
  try {
    const made = messageProgram?.(variables);
    if (typeof made !== 'string') return otherwise;
    return made.trim() === '' || made.includes('\n') ? otherwise : made.trim();
  } catch {
    return otherwise;
  }
}

function failedRule({ message, text }: Rule, { type }: JsonObject, error: string, path: string): FieldError {
  const why = firstLine(error);
  const [, index] = /index out of bounds, index (-?\d+)/.exec(why) ?? [];
  const said =
    index === undefined ? why.replace(/^No such key/, 'no such key') : `index out of bounds: ${index}`;
  const overload =
    "'no such overload': call arguments did not match a supported operator, function or macro signature for";
  const rule = message === '' ? text : message;
  const detail = said.startsWith('no such overload')
    ? `${overload} rule: ${rule}`
    : `${said} evaluating rule: ${rule}`;
  return {
    type: 'FieldValueInvalid',
    field: path === '' ? '<nil>' : path,
    body: `Invalid value: ${JSON.stringify(type ?? '')}: ${detail}`,
  };
}

/** Fields of every object; of the metadata, rules see only the name. */
const OBJECT_TEXTS = ['apiVersion', 'kind'];
const METADATA_TEXTS = ['name', 'generateName'];

/** Returns the value as CEL sees it: typed by the schema, and without fields that the schema does not name. */
function celValue(value: Json, node: JsonObject, isObject = node[EMBEDDED] === true): CelValue {
  if (Array.isArray(value)) {
    const { items } = node;
    return value.map((item) => celValue(item, isJsonObject(items) ? items : {}));
  }
  if (isJsonObject(value)) return celMap(value, node, isObject);
  if (typeof value === 'string') return formatted(value, node['format']) ?? value;
  return typeof value === 'number' && node['type'] !== 'number' && Number.isInteger(value)
    ? BigInt(value)
    : value;
}

function celMap(value: JsonObject, node: JsonObject, isObject: boolean): ReadonlyMap<string, CelValue> {
  const { properties, additionalProperties } = node;
  const result = new Map<string, CelValue>();
  const metadata = memberOf(value, 'metadata');
  if (isObject) {
    for (const name of OBJECT_TEXTS) if (memberOf(value, name) !== undefined) result.set(name, value[name]);
    const named = METADATA_TEXTS.map((name) => [name, memberOf(metadata, name)] as const);
    result.set('metadata', new Map(named.filter(([, text]) => text !== undefined)));
  }
  for (const [name, member] of Object.entries(value)) {
    const property = memberOf(properties, name);
    if (member === undefined || (isObject && name === 'metadata')) continue;
    if (isJsonObject(property)) result.set(escapedName(name), celValue(member, property));
    else if (isJsonObject(additionalProperties)) result.set(name, celValue(member, additionalProperties));
    else if (additionalProperties === true) result.set(name, celValue(member, {}));
  }
  return result;
}
