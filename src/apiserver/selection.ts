/**
 * The objects that a LIST, WATCH or deletecollection concerns: namespace, label selector and field selector. A field
 * selector (`metadata.name=web-0,status.phase!=Failed`) can name only the fields that the resource declares.
 */

import { KubeloomError } from '../base/errors.ts';
import { parseFieldSelector } from '../kube/field-selector.ts';
import { parseLabelSelector } from '../kube/label-selector.ts';
import type { ResourcePath } from './request-info.ts';
import type { ResourceDefinition } from './resources.ts';
import { badRequest, quote } from './status.ts';
import type { StoredObject } from './stored-object.ts';

export interface Selection {
  matches(object: StoredObject): boolean;
  /** True without a selector: then the number of remaining items is known. */
  readonly everything: boolean;
}

export function selectionOf(
  definition: ResourceDefinition,
  path: ResourcePath,
  query: URLSearchParams,
): Selection {
  const labels = parsed(parseLabelSelector, query.get('labelSelector'));
  const fields = parsed(parseFieldSelector, query.get('fieldSelector'));
  const { namespace } = path;
  for (const { field } of fields) checkField(field, definition);
  return {
    everything: labels.isEverything && fields.length === 0,
    matches: ({ identity }) =>
      (namespace === '' || identity.namespace === namespace) &&
      labels.matches(identity.labels) &&
      fields.every(({ field, operator, value }) => (identity.fields[field] === value) === (operator === '=')),
  };
}

/** Parses a selector. @throws StatusError 400, as in the real server, when it is malformed */
function parsed<T>(parse: (selector: string) => T, selector: string | null): T {
  try {
    return parse(selector ?? '');
  } catch (error) {
    throw error instanceof KubeloomError ? badRequest(error.message) : error;
  }
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
