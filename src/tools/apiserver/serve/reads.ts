/** The reading verbs: GET, LIST and WATCH. */

import { representationFor, sendJson, sendPieces } from '../wire/http-io.ts';
import type { JsonObject } from '../store/json.ts';
import { parseGetOptions, parseListOptions } from './list-options.ts';
import { listPieces, readPage, requireFresh } from './list.ts';
import type { ResolvedOptions } from '../store/server-options.ts';
import { flag } from '../wire/request-info.ts';
import type { Call } from '../wire/request-info.ts';
import { scaleOf } from '../write/scale.ts';
import { selectionOf } from './selection.ts';
import { notFound } from '../store/status.ts';
import { keyOf, withoutManagedFields } from '../store/stored-object.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { Watches } from './watches.ts';

/** The parts of a server that answer reads. */
export interface ReadServices {
  readonly options: Pick<ResolvedOptions, 'freshnessTimeoutMs' | 'sharding'>;
  readonly watches: Watches;
}

/** A watch of a single object is a list with a field selector. With a name in the path, `watch` has no effect. */
export function serveRead(services: ReadServices, call: Call): Promise<void> {
  if (call.path.name !== '') return get(services, call);
  return flag(call.query, 'watch') ? services.watches.open(call) : list(services, call);
}

/** Answers with the object, or with the object's scale. */
async function get({ options }: ReadServices, call: Call): Promise<void> {
  const { collection, request, response, path, query } = call;
  const { isPartial, dropsManagedFields } = representationFor(request);
  await requireFresh(collection.log, parseGetOptions(query), options.freshnessTimeoutMs);
  const stored = collection.get(keyOf(path.namespace, path.name));
  if (stored === undefined) throw notFound(collection.definition, path.name);
  if (!isPartial && (!dropsManagedFields || isScale(call))) {
    answer(call, 200, stored);
    return;
  }
  const pieces = isPartial ? stored.metadataOnly() : [stored.toBuffer()];
  sendJson(response, 200, dropsManagedFields ? withoutManagedFields(pieces) : Buffer.concat(pieces));
}

async function list({ options }: ReadServices, call: Call): Promise<void> {
  const { collection, path, query } = call;
  const representation = representationFor(call.request);
  const listOptions = parseListOptions(query);
  const selection = selectionOf(collection.definition, path, query, options.sharding);
  const { view, listMetadata, versions } = call.faults;
  const log = view?.(collection.log) ?? collection.log;
  const page = await readPage(log, collection, listOptions, selection, options.freshnessTimeoutMs);
  call.record.listedRevision = page.revision;
  const pieces = listPieces(collection, page, representation, {
    ...shardInfoOf(call, options, representation.isPartial),
    ...listMetadata,
  });
  await sendPieces(call, versions ? [versions.rewrite(Buffer.concat([...pieces]))] : pieces);
}

/** Returns the confirmation of a shard selector, which lists of custom resources and of metadata omit. */
function shardInfoOf(
  { collection, query }: Call,
  { sharding }: ReadServices['options'],
  partial: boolean,
): JsonObject {
  const selector = query.get('shardSelector') ?? '';
  const isConfirmed =
    sharding === 'echoes' && selector !== '' && !partial && collection.definition.custom !== true;
  return isConfirmed ? { shardInfo: { selector } } : {};
}

/** Sends the object, or the object's scale if the path names the scale. */
export function answer(call: Call, code: number, stored: StoredObject): void {
  const { definition } = call.collection;
  sendJson(call.response, code, isScale(call) ? scaleOf(definition, stored.parse()) : stored.toBuffer());
}

export function isScale({ path }: Call): boolean {
  return path.subresource === 'scale';
}
