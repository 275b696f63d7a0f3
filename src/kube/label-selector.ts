/**
 * Label selectors, parsed as apimachinery's labels.Parse does, with the same error messages: `app=web,tier in
 * (a,b),!legacy,weight>3`. A single pass over the text without backtracking: linear time.
 */
import { KubeloomError } from '../base/errors.ts';
import { shown } from '../base/option-checks.ts';

/** Labels by name. */
export type LabelSet = Readonly<Record<string, string>>;

/** Operator of a requirement. */
export type SelectorOperator = 'Exists' | 'DoesNotExist' | 'In' | 'NotIn' | 'GreaterThan' | 'LessThan';

/** A term. All terms of a selector must hold. */
export interface Requirement {
  /** Name of the label, with an optional prefix: `app.kubernetes.io/name`. */
  readonly key: string;
  /** Comparison. `=` and `==` are `In` with a single value, `!=` is `NotIn`. */
  readonly operator: SelectorOperator;
  /**
   * Values of `In` and `NotIn`; an integer in decimal digits for `GreaterThan` and `LessThan`; empty for `Exists` and
   * `DoesNotExist`.
   */
  readonly values: readonly string[];
}

/** apimachinery's LabelSelector, the selector of workloads. */
export interface LabelSelectorObject {
  /** Values that the labels must equal, by name of the label. */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** Further requirements: `In` and `NotIn` with values, `Exists` and `DoesNotExist` without. */
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

type Matcher = (labels: LabelSet) => boolean;

/** A label selector as a list of requirements. */
export class LabelSelector {
  /** Requirements that labels must meet, all of them. */
  readonly requirements: readonly Requirement[];
  readonly #matchers: readonly Matcher[];

  /** @throws ERR_KUBELOOM_SELECTOR */
  constructor(requirements: readonly Requirement[]) {
    if (!Array.isArray(requirements) || !requirements.every(isRequirement))
      throw selectorError('a label selector takes an array of requirements { key, operator, values }');
    this.requirements = requirements;
    this.#matchers = requirements.map(matcherOf);
  }

  /** True when the selector has no terms: every object matches. */
  get isEverything(): boolean {
    return this.requirements.length === 0;
  }

  /** Returns whether the labels meet every requirement. As in apimachinery, `NotIn` also accepts absent labels. */
  matches(labels: LabelSet): boolean {
    for (const matches of this.#matchers) if (!matches(labels)) return false;
    return true;
  }
}

/** Parses a selector. @throws ERR_KUBELOOM_SELECTOR, with the expected token and the place of the error */
export function parseLabelSelector(text: string): LabelSelector {
  // Any other value lacks a length, and would select everything.
  if (typeof text !== 'string') throw selectorError(`a label selector must be a string, got ${shown(text)}`);
  return new LabelSelector(new Parser(text).parse());
}

/**
 * Returns the selector of a workload's `spec.selector`. As in apimachinery an absent selector matches no object, an
 * empty selector every object.
 */
export function labelSelectorAsSelector(selector: LabelSelectorObject | undefined): LabelSelector {
  if (!selector) return new LabelSelector([{ key: '', operator: 'In', values: [] }]);
  if (!isSelectorObject(selector))
    throw selectorError(
      'a label selector is { matchLabels, matchExpressions: [{ key, operator, values }] }, all of texts',
    );
  const equalities = Object.entries(selector.matchLabels ?? {}).map(([key, value]) =>
    checked({ key, operator: 'In', values: [value] }),
  );
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values: given }) => {
    const values = given ?? [];
    if (!isSetOperator(operator)) throw selectorError(`"${operator}" is not a valid label selector operator`);
    const wantsValues = operator === 'In' || operator === 'NotIn';
    if (wantsValues !== values.length > 0) {
      throw selectorError(`${operator} of ${key} takes ${wantsValues ? 'values' : 'no values'}`);
    }
    return checked({ key, operator, values });
  });
  return new LabelSelector([...equalities, ...expressions]);
}

function isRequirement(value: unknown): value is Requirement {
  const { key, operator, values } = Object(value) as Partial<Requirement>;
  return typeof key === 'string' && typeof operator === 'string' && areTexts(values);
}

function isSelectorObject(selector: unknown): selector is LabelSelectorObject {
  const { matchLabels, matchExpressions } = Object(selector) as LabelSelectorObject;
  return (
    areTexts(Object.values(matchLabels ?? {})) &&
    (matchExpressions === undefined ||
      matchExpressions === null ||
      (Array.isArray(matchExpressions) && matchExpressions.every(isExpression)))
  );
}

function isExpression(value: unknown): boolean {
  const { key, operator, values } = Object(value) as Partial<Requirement>;
  return isRequirement({ key, operator, values: values ?? [] });
}

function areTexts(values: unknown): values is readonly string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}

function isSetOperator(operator: string): operator is SelectorOperator {
  return ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator);
}

function matcherOf({ key, operator, values }: Requirement): Matcher {
  const wanted = new Set(values);
  const bound =
    operator === 'GreaterThan' || operator === 'LessThan' ? integerOf(values[0] ?? '') : undefined;
  const compared = (labels: LabelSet, isIn: (value: bigint, limit: bigint) => boolean): boolean => {
    const value = Object.hasOwn(labels, key) ? integerOf(labels[key] ?? '') : undefined;
    return value !== undefined && bound !== undefined && isIn(value, bound);
  };
  switch (operator) {
    case 'Exists':
      return (labels) => Object.hasOwn(labels, key);
    case 'DoesNotExist':
      return (labels) => !Object.hasOwn(labels, key);
    case 'In':
      return (labels) => Object.hasOwn(labels, key) && wanted.has(labels[key] ?? '');
    case 'NotIn':
      return (labels) => !Object.hasOwn(labels, key) || !wanted.has(labels[key] ?? '');
    case 'GreaterThan':
      return (labels) => compared(labels, (value, limit) => value > limit);
    default:
      return (labels) => compared(labels, (value, limit) => value < limit);
  }
}

const INTEGER = /^-?\d+$/;

/** Returns an integer of 64 bits, which a number would round; undefined for any other text. */
function integerOf(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

interface Token {
  readonly kind: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };
/** Blanks, a symbol, or a word: the next token after the last match. */
const TOKEN = /\s+|(==|!=|[=!(),><])|([^\s=!(),<>]+)/y;
const OPERATORS: Readonly<Record<string, SelectorOperator>> = {
  in: 'In',
  notin: 'NotIn',
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'GreaterThan',
  '<': 'LessThan',
};
/** Operators in the order of Kubernetes' error message. */
const OPERATORS_LISTED = 'in, notin, =, ==, !=, gt, lt';

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const [, symbol, word] = TOKEN.exec(text) ?? [];
    if (symbol !== undefined) tokens.push({ kind: 'symbol', text: symbol });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
  }
  return tokens;
}

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = scan(text);
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    for (;;) {
      const next = this.#peek();
      if (next.kind === 'end') return requirements;
      if (!startsRequirement(next)) {
        throw selectorError(`found '${next.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(checked(this.#requirement()));
      const after = this.#take();
      if (after.kind === 'end') return requirements;
      if (after.text !== ',') throw selectorError(`found '${after.text}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (!startsRequirement(following)) {
        throw selectorError(`found '${following.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): Requirement {
    let token = this.#take();
    const isNegated = token.text === '!';
    if (isNegated) token = this.#take();
    if (token.kind !== 'word') throw requirementError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    checkKey(key);
    if (isNegated) return { key, operator: 'DoesNotExist', values: [] };
    if (endsRequirement(this.#peek())) return { key, operator: 'Exists', values: [] };
    const { text } = this.#take();
    const operator = Object.hasOwn(OPERATORS, text) ? OPERATORS[text] : undefined;
    if (!operator) throw requirementError(`found '${text}', expected: ${OPERATORS_LISTED}`);
    return { key, operator, values: text === 'in' || text === 'notin' ? this.#list() : [this.#value()] };
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
    return this.#tokens[this.#position] ?? END;
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

const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const NAME_LENGTH_MAX = 63;
const PREFIX_LENGTH_MAX = 253;

const NAME_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const INTEGER_RULE = "for 'Gt', 'Lt' operators, the value must be an integer";

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  checkKey(key);
  for (const value of values) {
    if (value !== '' && !isText(value, NAME, NAME_LENGTH_MAX)) throw invalidValue(key, value, VALUE_RULE);
  }
  const [bound = ''] = values;
  if ((operator === 'GreaterThan' || operator === 'LessThan') && integerOf(bound) === undefined) {
    throw invalidValue(key, bound, INTEGER_RULE);
  }
  return requirement;
}

function checkKey(key: string): void {
  const slash = key.lastIndexOf('/');
  const name = key.slice(slash + 1);
  const isPrefixValid = slash < 0 || isText(key.slice(0, slash), PREFIX, PREFIX_LENGTH_MAX);
  if (isPrefixValid && isText(name, NAME, NAME_LENGTH_MAX)) return;
  throw requirementError(`<nil>: Invalid value: ${JSON.stringify(key)}: ${NAME_RULE}`);
}

/** Checks the length first, so that the regular expression sees only short text. */
function isText(text: string, pattern: RegExp, lengthMax: number): boolean {
  return text.length <= lengthMax && pattern.test(text);
}

function invalidValue(key: string, value: string, rule: string): KubeloomError {
  return requirementError(`values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${rule}`);
}

function requirementError(why: string): KubeloomError {
  return selectorError(`unable to parse requirement: ${why}`);
}

function selectorError(why: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_SELECTOR', why);
}
