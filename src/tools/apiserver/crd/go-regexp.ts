/** Regular expressions of Go (RE2), which schemas and rules contain: their time is linear in the text. */

import { RE2JS } from 're2js';
import { messageOf } from '../../../base/errors.ts';

const EXPRESSIONS_MAX = 10_000;
const compiled = new Map<string, RE2JS>();

/** Returns the expression, compiled at the first use. @throws Error for a pattern that Go cannot read */
export function goRegExp(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const expression = RE2JS.compile(pattern);
  if (compiled.size >= EXPRESSIONS_MAX) compiled.clear();
  compiled.set(pattern, expression);
  return expression;
}

/** True if the pattern matches a part of the text. */
export function matchesGo(pattern: string, text: string): boolean {
  return goRegExp(pattern).test(text);
}

/** Returns at most this many matches, from left to right. */
export function matchesOf(pattern: string, text: string, matchesMax: number): string[] {
  const found: string[] = [];
  const matcher = goRegExp(pattern).matcher(text);
  while (found.length < matchesMax && matcher.find()) found.push(matcher.group() ?? '');
  return found;
}

/** Returns why Go cannot read the pattern; undefined for a regular expression. */
export function patternError(pattern: string): string | undefined {
  try {
    goRegExp(pattern);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
