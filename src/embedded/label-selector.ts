/**
 * Label selectors, parsed as apimachinery's labels.Parse does, error wording included:
 * `app=web,tier in (a,b),!legacy,weight>3`.
 */

import { badRequest, quote } from './status.ts';

export type Labels = Readonly<Record<string, string>>;
export type Matcher = (labels: Labels) => boolean;

interface Token {
  readonly kind: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'];
const OPERATORS = ['in', 'notin', '=', '==', '!=', '>', '<'];
/** As Kubernetes lists them in its complaint. */
const OPERATORS_LISTED = 'in, notin, =, ==, !=, gt, lt';
const NAME = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const NAME_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** A selector that no object fails; compare by identity to know that nothing was asked. */
export const everything: Matcher = () => true;

/** Throws the 400 of a real server when the selector is malformed. */
export function parseLabelSelector(selector: string): Matcher {
  const matchers = new SelectorParser(selector).parse();
  return matchers.length === 0 ? everything : (labels) => matchers.every((matches) => matches(labels));
}

function scan(selector: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < selector.length) {
    const rest = selector.slice(position);
    const blank = /^\s+/.exec(rest);
    if (blank !== null) {
      position += blank[0].length;
      continue;
    }
    const symbol = SYMBOLS.find((candidate) => rest.startsWith(candidate));
    const text = symbol ?? /^[^\s=!(),<>]+/.exec(rest)?.[0] ?? rest;
    tokens.push({ kind: symbol === undefined ? 'word' : 'symbol', text });
    position += text.length;
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

class SelectorParser {
  readonly #tokens: Token[];
  #position = 0;

  constructor(selector: string) {
    this.#tokens = scan(selector);
  }

  parse(): Matcher[] {
    const matchers: Matcher[] = [];
    for (;;) {
      const next = this.#peek();
      if (next.kind === 'end') return matchers;
      if (!startsRequirement(next)) {
        throw badRequest(`found '${next.text}', expected: !, identifier, or 'end of string'`);
      }
      matchers.push(this.#requirement());
      const after = this.#take();
      if (after.kind === 'end') return matchers;
      if (after.text !== ',') throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (!startsRequirement(following)) {
        throw badRequest(`found '${following.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): Matcher {
    let token = this.#take();
    const negated = token.text === '!';
    if (negated) token = this.#take();
    if (token.kind !== 'word') throw requirementError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    checkKey(key);
    if (negated) return (labels) => !Object.hasOwn(labels, key);
    if (endsRequirement(this.#peek())) return (labels) => Object.hasOwn(labels, key);

    const operator = this.#take().text;
    if (!OPERATORS.includes(operator)) {
      throw requirementError(`found '${operator}', expected: ${OPERATORS_LISTED}`);
    }
    const values = operator === 'in' || operator === 'notin' ? this.#list() : [this.#value()];
    for (const value of values) checkValue(key, value);
    return requirement(key, operator, values);
  }

  #value(): string {
    if (endsRequirement(this.#peek())) return '';
    const token = this.#take();
    if (token.kind !== 'word') throw requirementError(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #list(): string[] {
    const open = this.#take();
    if (open.text !== '(') throw requirementError(`found '${open.text}' expected: '('`);
    const values: string[] = [];
    let pending = '';
    for (;;) {
      const token = this.#take();
      if (token.text === ',' || token.text === ')') {
        values.push(pending);
        pending = '';
        if (token.text === ')') return values;
      } else if (pending !== '') {
        throw requirementError(`found '${token.text}', expected: ',' or ')'`);
      } else if (token.kind !== 'word') {
        throw requirementError(`found '${token.text}', expected: ',', or identifier`);
      } else {
        pending = token.text;
      }
    }
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? { kind: 'end', text: '' };
  }

  #take(): Token {
    const token = this.#peek();
    this.#position++;
    return token;
  }
}

function startsRequirement(token: Token): boolean {
  return token.kind === 'word' || token.text === '!';
}

function endsRequirement(token: Token): boolean {
  return token.kind === 'end' || token.text === ',';
}

function requirementError(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

function requirement(key: string, operator: string, values: readonly string[]): Matcher {
  const [value = ''] = values;
  const has = (labels: Labels): boolean => Object.hasOwn(labels, key);
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return (labels) => has(labels) && values.includes(labels[key] ?? '');
    case '!=':
    case 'notin':
      return (labels) => !has(labels) || !values.includes(labels[key] ?? '');
    default:
      break;
  }
  if (!/^-?\d+$/.test(value)) {
    const why = "for 'Gt', 'Lt' operators, the value must be an integer";
    throw requirementError(`values[0][${key}]: Invalid value: ${quote(value)}: ${why}`);
  }
  const bound = Number(value);
  return (labels) => {
    const actual = has(labels) && /^-?\d+$/.test(labels[key] ?? '') ? Number(labels[key]) : Number.NaN;
    return operator === '>' ? actual > bound : actual < bound;
  };
}

function checkKey(key: string): void {
  const slash = key.lastIndexOf('/');
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  if (NAME.test(name) && name.length <= 63 && (prefix === undefined || PREFIX.test(prefix))) return;
  throw requirementError(`<nil>: Invalid value: ${quote(key)}: ${NAME_RULE}`);
}

function checkValue(key: string, value: string): void {
  if (value === '' || (NAME.test(value) && value.length <= 63)) return;
  throw requirementError(`values[0][${key}]: Invalid value: ${quote(value)}: ${VALUE_RULE}`);
}
