/** The objects that a LIST, WATCH or deletecollection concerns: namespace, label selector and field selector. */

import { KubeloomError } from '../base/errors.ts';
import { parseLabelSelector } from '../kube/label-selector.ts';
import type { LabelSelector } from '../kube/label-selector.ts';
import { parseFieldSelector } from './field-selector.ts';
import type { ResourcePath } from './request-info.ts';
import type { ResourceDefinition } from './resources.ts';
import { badRequest } from './status.ts';
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
  const labels = labelSelectorOf(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', definition);
  if (path.name !== '' && fields.name !== undefined && fields.name !== path.name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  const { namespace, name } = path;
  return {
    everything: labels.isEverything && fields.isEverything,
    matches: ({ identity }) =>
      (namespace === '' || identity.namespace === namespace) &&
      (name === '' || identity.name === name) &&
      labels.matches(identity.labels) &&
      fields.matches(identity.fields),
  };
}

/** Parses a label selector. @throws StatusError 400, as in the real server, when it is malformed */
function labelSelectorOf(text: string): LabelSelector {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    throw error instanceof KubeloomError ? badRequest(error.message) : error;
  }
}
