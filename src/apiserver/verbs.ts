/**
 * Selects the verb of a resource request, and performs the reading verbs. WATCH is in `watches.ts`, the
 * writing verbs are in `write-verbs.ts`.
 */

import type { Call } from './call.ts';
import { acceptsPartial, sendJson, sendPieces } from './http-io.ts';
import { parseGetOptions, parseListOptions } from './list-options.ts';
import { listPieces, readPage, requireFresh } from './list.ts';
import { flag } from './request-info.ts';
import { selectionOf } from './selection.ts';
import type { Services } from './services.ts';
import { methodNotAllowed, notFound, unknownResource } from './status.ts';
import { keyOf } from './stored-object.ts';
import { create, deleteMany, deleteOne, patch, update } from './write-verbs.ts';

export async function serveResource(services: Services, call: Call): Promise<void> {
  const { path, request, query } = call;
  const { definition } = call.collection;
  const served = path.subresource === '' || (path.subresource === 'status' && definition.status === true);
  if (!served || (path.namespace !== '' && !definition.namespaced)) throw unknownResource();
  const named = path.name !== '';
  switch (request.method) {
    case 'GET':
      // A watch of one object is a list with a field selector. With a name in the path, `watch` has no effect.
      if (named) return get(services, call);
      return flag(query, 'watch') ? services.watches.open(call) : list(services, call);
    case 'POST':
      if (!named) return create(services, call);
      break;
    case 'PUT':
      if (named) return update(services, call);
      break;
    case 'PATCH':
      if (named) return patch(services, call);
      break;
    case 'DELETE':
      return named ? deleteOne(services, call) : deleteMany(services, call);
    default:
      break;
  }
  throw methodNotAllowed();
}

async function get(
  { log, options }: Services,
  { collection, request, response, path, query }: Call,
): Promise<void> {
  const partial = acceptsPartial(request);
  await requireFresh(log, parseGetOptions(query), options.freshnessTimeoutMs);
  const stored = collection.get(keyOf(path.namespace, path.name));
  if (stored === undefined) throw notFound(collection.definition, path.name);
  sendJson(response, 200, partial ? Buffer.concat(stored.metadataOnly()) : stored.toBuffer());
}

async function list({ log, options }: Services, call: Call): Promise<void> {
  const { collection, path, query } = call;
  const partial = acceptsPartial(call.request);
  const listOptions = parseListOptions(query);
  const selection = selectionOf(collection.definition, path, query);
  const { view = log, listMetadata, versions } = call.faults;
  const page = await readPage(view, collection, listOptions, selection, options.freshnessTimeoutMs);
  call.record.listedRevision = page.revision;
  const pieces = listPieces(collection, page, partial, listMetadata);
  await sendPieces(call, versions ? [versions.rewrite(Buffer.concat([...pieces]))] : pieces);
}
