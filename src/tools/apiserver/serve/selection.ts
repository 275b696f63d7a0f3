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
import type { ResourceDefinition } from '../store/resources.ts';
import { badRequest, quote } from '../store/status.ts';
import type { StoredObject } from '../store/stored-object.ts';

export interface Selection {
  matches(object: StoredObject): boolean;
  /** True without a selector; only then is the number of remaining items known. */
  readonly everything: boolean;
}

export function selectionOf(
  definition: ResourceDefinition,
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
