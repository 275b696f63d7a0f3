/**
 * Field selectors: `metadata.name=web-0,status.phase!=Failed`. Only the fields that a resource declares can be asked for.
 */

import { badRequest, quote } from './status.ts';
import type { ResourceDefinition } from './resources.ts';
import { everything } from './label-selector.ts';
import type { Matcher } from './label-selector.ts';

export interface FieldSelector {
  readonly matches: Matcher;
  /** The one object it can match, when it asks for metadata.name. */
  readonly name: string | undefined;
}

export function parseFieldSelector(selector: string, definition: ResourceDefinition): FieldSelector {
  const matchers: Matcher[] = [];
  let name: string | undefined;
  for (const term of splitTerms(selector)) {
    const parts = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (parts === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
    const [, field = '', operator, escaped = ''] = parts;
    const wanted = unescape(escaped);
    checkField(field, definition);
    if (field === 'metadata.name' && operator !== '!=') name = wanted;
    matchers.push((fields) => (fields[field] === wanted) === (operator !== '!='));
  }
  if (matchers.length === 0) return { matches: everything, name };
  return { matches: (fields) => matchers.every((matches) => matches(fields)), name };
}

function checkField(field: string, definition: ResourceDefinition): void {
  if (field === 'metadata.name' || field === 'metadata.namespace') return;
  if (Object.hasOwn(definition.fields ?? {}, field)) return;
  if (definition.fields !== undefined || definition.custom === true) {
    throw badRequest(`field label not supported: ${field}`);
  }
  throw badRequest(
    `${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/** Splits at commas that no backslash escapes. */
function splitTerms(selector: string): string[] {
  const terms = selector.match(/(?:\\.|[^,\\])+/gs) ?? [];
  return terms.filter((term) => term !== '');
}

function unescape(value: string): string {
  return value.replaceAll(/\\(.)/gs, '$1');
}
