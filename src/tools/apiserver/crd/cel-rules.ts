/**
 * The rules of a schema, `x-kubernetes-validations`: they are evaluated for every value of the object whose schema
 * contains rules, with the value before the update as `oldSelf`.
 */

import { messageOf } from '../../../base/errors.ts';
import { goJson } from '../store/causes.ts';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf, writeJson, isNumber } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { compile, evaluated, expressionError } from './cel-environment.ts';
import type { CelProgram } from './cel-environment.ts';
import { CostExceeded } from './cel-interpreter.ts';
import type { Scope } from './cel-interpreter.ts';
import { CelOptional, CelSet, durationOf, timestampOf } from './cel-values.ts';
import type { CelValue } from './cel-values.ts';
import { goRule } from './go-value.ts';
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
      const body = `Invalid value: ${goJson(goRule(given))}: ${name === 'rule' ? '' : `${name} `}compilation failed: ${why}`;
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

/** The cost that the rules of an object may still spend; negative if no further rule may run. */
interface Budget {
  left: number;
}

const COST_MAX = 10_000_000;
const COST_PER_RULE_MAX = 1_000_000;
const MESSAGE_BYTES_MAX = 5 * 1024;

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
    budget: Budget = { left: COST_MAX },
  ): FieldError[] {
    if (!this.isNeeded || value === undefined || value === null || budget.left < 0) return [];
    const old = before ?? undefined;
    const isSame = old === undefined ? isSameAbove : () => isUnchanged(value, old, this.#node);
    const own = this.#ownErrors(value, old, path, isSame, budget);
    return [...own, ...this.#errorsBelow(value, old, path, isSame, budget)];
  }

  #ownErrors(
    value: Json,
    before: Json | undefined,
    path: string,
    isSame: () => boolean,
    budget: Budget,
  ): FieldError[] {
    this.#rules ??= rulesIn(this.#node).map(ruleOf);
    if (this.#rules.length === 0) return [];
    const self = celValue(value, this.#node, this.#isRoot);
    const oldSelf = before === undefined ? undefined : celValue(before, this.#node, this.#isRoot);
    const failed = (why: string): FieldError => ({
      type: 'FieldValueInvalid',
      field: path === '' ? '<nil>' : path,
      body: `Invalid value: ${JSON.stringify(this.#node['type'] ?? '')}: ${why}`,
    });
    return this.#rules.flatMap((rule): FieldError[] => {
      if (budget.left < 0) return [];
      if (rule.usesOldSelf && before === undefined && !rule.isOldSelfOptional) return [];
      const old = oldSelf === undefined ? CelOptional.none : new CelOptional(oldSelf);
      const scope = new Map([
        ['self', self],
        ['oldSelf', rule.isOldSelfOptional ? old : oldSelf],
      ]);
      const { value: isKept, error, cost } = evaluated(rule.program, scope, COST_PER_RULE_MAX);
      const isCancelled = error instanceof CostExceeded;
      budget.left = isCancelled || cost > budget.left ? -1 : budget.left - cost;
      if (isCancelled) {
        const why = 'no further validation rules will be run due to call cost exceeds limit for rule';
        return [failed(`'${error.message}': ${why}: ${rule.message || rule.text}`)];
      }
      if (budget.left < 0) {
        return [
          failed(
            'validation failed due to running out of cost budget, no further validation rules will be run',
          ),
        ];
      }
      if (error !== undefined) return [failed(failure(rule, error))];
      // A value that an update leaves unchanged may break a rule that was added later.
      if (isKept === true || (!rule.usesOldSelf && isSame())) return [];
      return [brokenRule(rule, value, this.#node, scope, path)];
    });
  }

  #errorsBelow(
    value: Json,
    before: Json | undefined,
    path: string,
    isSame: () => boolean,
    budget: Budget,
  ): FieldError[] {
    if (Array.isArray(value)) {
      const itemOf = itemsBefore(this.#node, before);
      return value.flatMap((item, index) => {
        return this.#items?.errors(item, itemOf?.(item), `${path}[${index}]`, isSame, budget) ?? [];
      });
    }
    if (!isJsonObject(value)) return [];
    const prefix = path === '' ? '' : `${path}.`;
    const fields = [...this.#properties].flatMap(([name, child]) =>
      child.errors(memberOf(value, name), memberOf(before, name), `${prefix}${name}`, isSame, budget),
    );
    const entries = this.#entries;
    if (entries === undefined) return fields;
    return Object.keys(value).flatMap((name) =>
      entries.errors(memberOf(value, name), memberOf(before, name), `${path}[${name}]`, isSame, budget),
    );
  }
}

function brokenRule(rule: Rule, value: Json, { type }: JsonObject, scope: Scope, path: string): FieldError {
  const field = [path, rule.fieldPath].filter((part) => part !== '').join('.') || '<nil>';
  const detail = messageFor(rule, scope);
  const shown = type === 'object' || type === 'array' ? '' : writeJson(value);
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
function messageFor({ message, messageProgram, text }: Rule, scope: Scope): string {
  const otherwise = message === '' ? `failed rule: ${text}` : message;
  if (messageProgram === undefined) return otherwise;
  const { value } = evaluated(messageProgram, scope, COST_PER_RULE_MAX);
  const made = typeof value === 'string' ? value.trim() : '';
  return made === '' || made.includes('\n') || Buffer.byteLength(made) > MESSAGE_BYTES_MAX ? otherwise : made;
}

function failure({ message, text }: Rule, error: unknown): string {
  const rule = message === '' ? text : message;
  const why = messageOf(error);
  if (!why.startsWith('no such overload')) return `${why} evaluating rule: ${rule}`;
  return `'${why}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`;
}

/** Returns the value of a format for which CEL defines a type. */
function formatted(text: string, format: Json | undefined): CelValue {
  try {
    if (format === 'duration') return durationOf(text);
    if (format === 'date-time') return timestampOf(text);
    if (format === 'date') return timestampOf(`${text}T00:00:00Z`);
    return format === 'byte' ? new Uint8Array(Buffer.from(text, 'base64')) : text;
  } catch {
    return text;
  }
}

/** Fields of every object; of the metadata, rules see only the name. */
const OBJECT_TEXTS = ['apiVersion', 'kind'];
const METADATA_TEXTS = ['name', 'generateName'];

/** Returns the value as CEL sees it: typed by the schema, and without fields that the schema does not name. */
function celValue(value: Json, node: JsonObject, isObject = node[EMBEDDED] === true): CelValue {
  if (Array.isArray(value)) {
    const { items } = node;
    const list = value.map((item) => celValue(item, isJsonObject(items) ? items : {}));
    return node['x-kubernetes-list-type'] === 'set' ? CelSet.from(list) : list;
  }
  if (isJsonObject(value)) return celMap(value, node, isObject);
  if (typeof value === 'string') return formatted(value, node['format']);
  if (!isNumber(value)) return value;
  return node['type'] === 'number' || !Number.isInteger(Number(value)) ? Number(value) : BigInt(value);
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
