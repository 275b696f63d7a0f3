/**
 * Field selectors: `metadata.name=web-0,status.phase!=Failed`. A selector can name only the fields that the
 * resource declares.
 */

import { KubeloomError } from '../base/errors.ts';
import { parseFieldSelector as parse } from '../kube/field-selector.ts';
import type { FieldRequirement } from '../kube/field-selector.ts';
import { badRequest, quote } from './status.ts';
import type { ResourceDefinition } from './resources.ts';

type Matcher = (fields: Readonly<Record<string, string>>) => boolean;

const everything: Matcher = () => true;

export interface FieldSelector {
  readonly matches: Matcher;
  /** True when the selector is empty. */
  readonly isEverything: boolean;
  /** The one object that the selector can match, when it names metadata.name. */
  readonly name: string | undefined;
}

export function parseFieldSelector(selector: string, definition: ResourceDefinition): FieldSelector {
  const matchers: Matcher[] = [];
  let name: string | undefined;
  for (const { field, operator, value } of requirementsOf(selector)) {
    checkField(field, definition);
    if (field === 'metadata.name' && operator === '=') name = value;
    matchers.push((fields) => (fields[field] === value) === (operator === '='));
  }
  if (matchers.length === 0) return { matches: everything, isEverything: true, name };
  const matches: Matcher = (fields) => matchers.every((one) => one(fields));
  return { matches, isEverything: false, name };
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

function requirementsOf(selector: string): readonly FieldRequirement[] {
  try {
    return parse(selector);
  } catch (error) {
    if (error instanceof KubeloomError) throw badRequest(error.message);
    throw error;
  }
}
