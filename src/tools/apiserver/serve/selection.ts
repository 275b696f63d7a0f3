/**
 * The objects that a LIST, WATCH or deletecollection selects: namespace, label, field and shard selector. A field
 * selector (`metadata.name=web-0,status.phase!=Failed`) can name only the fields that the resource declares.
 */

import { KubeloomError } from '../../../base/errors.ts';
import { parseFieldSelector } from '../../../kube/field-selector.ts';
import { parseLabelSelector } from '../../../kube/label-selector.ts';
import { ShardFilter } from '../../../kube/shard-filter.ts';
import { parseShardSelector } from '../../../kube/shard-selector.ts';
import type { ResolvedOptions } from '../store/server-options.ts';
import type { ResourcePath } from '../wire/request-info.ts';
import type { ServedResource } from '../store/resources.ts';
import { badRequest, qualifiedName, quote } from '../store/status.ts';
import type { StoredObject } from '../store/stored-object.ts';

export interface Selection {
  matches(object: StoredObject): boolean;
  /** True without a selector; only then is the number of remaining items known. */
  readonly everything: boolean;
}

export function selectionOf(
  definition: ServedResource,
  path: ResourcePath,
  query: URLSearchParams,
  sharding: ResolvedOptions['sharding'],
): Selection {
  const labels = parsed(parseLabelSelector, query.get('labelSelector'));
  const fields = parsed(parseFieldSelector, query.get('fieldSelector'));
  const shards = sharding === 'ignores' ? undefined : shardFilterOf(query);
  const { namespace } = path;
  for (const { field } of fields) checkField(field, definition);
  return {
    everything: labels.isEverything && fields.length === 0 && shards === undefined,
    matches: ({ identity }) =>
      (namespace === '' || identity.namespace === namespace) &&
      labels.matches(identity.labels) &&
      (shards?.matchesText(identity[shards.key]) ?? true) &&
      fields.every(({ field, operator, value }) => (identity.fields[field] === value) === (operator === '=')),
  };
}

/** Returns undefined for a request without a shard selector, or with an empty selector. */
function shardFilterOf(query: URLSearchParams): ShardFilter | undefined {
  const selector = query.get('shardSelector') ?? '';
  return selector === '' ? undefined : new ShardFilter(parsed(parseShardSelector, selector));
}

/** Parses a selector. @throws StatusError 400, as in the real server, when it is malformed */
function parsed<T>(parse: (selector: string) => T, selector: string | null): T {
  try {
    return parse(selector ?? '');
  } catch (error) {
    throw error instanceof KubeloomError ? badRequest(error.message) : error;
  }
}

/** Words of kinds that refuse an unknown field in words of their own. */
const REFUSALS: Readonly<Record<string, (field: string) => string>> = {
  'jobs.batch': (field) => `field label ${quote(field)} not supported for Job`,
  'resourceslices.resource.k8s.io': (field) =>
    `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
};

function checkField(field: string, definition: ServedResource): void {
  const { fields = {}, derived = {}, custom, namespaced } = definition;
  const isStrict = definition.fields !== undefined || custom === true;
  if (field === 'metadata.name' || Object.hasOwn(fields, field) || Object.hasOwn(derived, field)) return;
  if (field === 'metadata.namespace' && (namespaced || !isStrict)) return;
  const why = isStrict
    ? (REFUSALS[qualifiedName(definition)]?.(field) ?? `field label not supported: ${field}`)
    : `${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
  throw badRequest(why);
}
