/**
 * Field selectors, parsed as apimachinery's fields.ParseSelector does: `spec.nodeName=n1,status.phase!=Failed`.
 * Equality only; a backslash escapes `,`, `=` and itself within a value. The parser accepts any field; the server
 * checks it.
 */
import { KubeloomError } from '../base/errors.ts';
import { shown } from '../base/option-checks.ts';

/** A term. All terms of a selector must hold. */
export interface FieldRequirement {
  /** A dotted path. */
  readonly field: string;
  /** Equality or inequality; `==` is parsed as `=`. */
  readonly operator: '=' | '!=';
  /** Value to compare with, without the escapes of the text. May be empty. */
  readonly value: string;
}

/** Parses a selector; an empty selector matches everything. @throws ERR_KUBELOOM_SELECTOR */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  if (typeof text !== 'string') throw selectorError(`a field selector must be a string, got ${shown(text)}`);
  return termsOf(text).map((term) => requirementOf(term, text));
}

/** Splits at commas that no backslash escapes; ignores empty terms. */
function termsOf(text: string): readonly string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms.filter((term) => term !== '');
}

function requirementOf(term: string, selector: string): FieldRequirement {
  const at = term.search(/!=|=/);
  const field = term.slice(0, at);
  if (at <= 0) throw selectorError(`invalid selector: '${selector}'; can't understand '${term}'`);
  const isNegated = term[at] === '!';
  const length = isNegated || term[at + 1] === '=' ? 2 : 1;
  return { field, operator: isNegated ? '!=' : '=', value: unescaped(term.slice(at + length)) };
}

function unescaped(value: string): string {
  let result = '';
  for (let at = 0; at < value.length; at++) {
    const character = value.charAt(at);
    if (character === '=' || character === ',') {
      throw selectorError(`invalid field selector: unescaped character in value: ${character}`);
    }
    if (character !== '\\') {
      result += character;
      continue;
    }
    const escaped = value.charAt(++at);
    if (!['\\', ',', '='].includes(escaped)) {
      throw selectorError(`invalid field selector: invalid escape sequence: \\${escaped}`);
    }
    result += escaped;
  }
  return result;
}

function selectorError(why: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_SELECTOR', why);
}
