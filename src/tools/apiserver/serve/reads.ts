/** The reading verbs: GET, LIST and WATCH. */

import { representationFor, sendJson, sendPieces } from '../wire/http-io.ts';
import type { Representation } from '../wire/http-io.ts';
import type { JsonObject } from '../store/json.ts';
import { parseGetOptions, parseListOptions } from './list-options.ts';
import { listPieces, readPage, requireFresh } from './list.ts';
import type { ResolvedOptions } from '../store/server-options.ts';
import { flag } from '../wire/request-info.ts';
import type { Call } from '../wire/request-info.ts';
import { SCALES, scaleOf } from '../write/scale.ts';
import { selectionOf } from './selection.ts';
import { badRequest, notAcceptable, notFound } from '../store/status.ts';
import type { ServedResource } from '../store/resources.ts';
import { StoredObject, keyOf, withoutManagedFields } from '../store/stored-object.ts';
import { tableOf } from '../tables/table.ts';
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
  const { collection, path, query } = call;
  if (flag(query, 'export'))
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  await requireFresh(collection.log, parseGetOptions(query), options.freshnessTimeoutMs);
  const stored = collection.get(keyOf(path.namespace, path.name));
  if (stored === undefined) throw notFound(collection.definition, path.name);
  answer(call, 200, stored);
}

/** Returns the form of a list. @throws StatusError 406 if the client accepts only the metadata of an object */
export function listRepresentation({ request, query, collection: { definition } }: Call): Representation {
  const representation = representationFor(request, query);
  if (representation.as !== 'PartialObjectMetadata') return representation;
  const list = definition.listKind ?? `${definition.kind}List`;
  throw notAcceptable(
    `you requested PartialObjectMetadata, but the requested object is a list (${goName(definition, list)})`,
  );
}

async function list({ options }: ReadServices, call: Call): Promise<void> {
  const { collection, path, query } = call;
  const representation = listRepresentation(call);
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

/** Sends the object, its metadata, or its scale if the path names the scale. */
export function answer(call: Call, code: number, stored: StoredObject): void {
  const {
    request,
    response,
    query,
    collection: { definition },
  } = call;
  const representation = representationFor(request, query);
  const { isPartial, as, dropsManagedFields, includeObject } = representation;
  if (as === 'PartialObjectMetadataList') {
    const found = goName(definition, definition.kind);
    throw notAcceptable(`you requested ${as}, but the requested object is not a list (${found})`);
  }
  const [shown, object] = isScale(call)
    ? [SCALES, StoredObject.encode(SCALES, scaleOf(definition, stored.parse()), stored.revision)]
    : [definition, stored];
  if (includeObject !== undefined) return sendJson(response, code, tableOf(shown, object, representation));
  const pieces = isPartial ? object.metadataOnly() : [object.toBuffer()];
  sendJson(response, code, dropsManagedFields ? withoutManagedFields(pieces) : Buffer.concat(pieces));
}

/** Returns a kind as Go names the type: in the package of the group. */
function goName({ group, custom }: ServedResource, kind: string): string {
  if (custom === true)
    return kind.endsWith('List') ? '*unstructured.UnstructuredList' : '*unstructured.Unstructured';
  return `*${group === '' ? 'core' : (group.split('.')[0] ?? '')}.${kind}`;
}

export function isScale({ path }: Call): boolean {
  return path.subresource.split('/')[0] === 'scale';
}
