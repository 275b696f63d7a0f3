/**
 * The verbs over HTTP. A writing verb reads the body, checks it against the URL, writes (`writer.ts`), and answers
 * with the object. WATCH is in `watches.ts`.
 */

import type { EventLog } from './event-log.ts';
import type { FaultEngine } from './fault-rules.ts';
import {
  acceptsPartial,
  contentType,
  parseJson,
  readBody,
  requireJson,
  sendJson,
  sendPieces,
} from './http-io.ts';
import { isJsonObject } from './json.ts';
import type { JsonObject, KubeObject } from './json.ts';
import { parseGetOptions, parseListOptions } from './list-options.ts';
import { listPieces, readPage, requireFresh } from './list.ts';
import type { Listener } from './listener.ts';
import type { ResolvedOptions } from './options.ts';
import { APPLY_PATCH, applyPatch, requirePatchType } from './patch.ts';
import { flag } from './request-info.ts';
import type { Call } from './request-info.ts';
import type { RequestLog } from './request-log.ts';
import type { ResourceTable } from './resources.ts';
import { selectionOf } from './selection.ts';
import {
  badRequest,
  methodNotAllowed,
  notFound,
  objectNotRecognized,
  success,
  unknownResource,
} from './status.ts';
import { keyOf } from './stored-object.ts';
import type { StoredObject } from './stored-object.ts';
import type { Watches } from './watches.ts';
import { asObject } from './writer.ts';
import type { StoredObjectWriter, WriteOptions } from './writer.ts';

/** The parts of the server that answer requests. */
export interface Services {
  readonly options: ResolvedOptions;
  readonly table: ResourceTable;
  readonly log: EventLog;
  readonly writer: StoredObjectWriter;
  readonly watches: Watches;
  readonly listener: Listener;
  readonly engine: FaultEngine;
  readonly requests: RequestLog;
}

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

async function get({ log, options }: Services, call: Call): Promise<void> {
  const { collection, request, response, path, query } = call;
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

async function create(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  if (collection.definition.namespaced && path.namespace === '') throw methodNotAllowed();
  const object = await readObject(services, call);
  answer(call, 201, services.writer.create(collection, path.namespace, object, { dryRun: isDryRun(call) }));
}

async function update(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const object = await readObject(services, call);
  const { name = '', namespace = '' } = object.metadata;
  if (name !== path.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${path.name})`);
  }
  if (namespace !== '' && namespace !== path.namespace) {
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the request (${path.namespace})`,
    );
  }
  const key = keyOf(path.namespace, name);
  const options = { dryRun: isDryRun(call) };
  answer(call, 200, services.writer.update(collection, key, object, scopeOf(call), options));
}

async function patch(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const { definition } = collection;
  const type = contentType(call.request);
  requirePatchType(type, definition);
  const body = parseJson(await readBody(call.request, services.options.requestBytesMax));
  const options = { dryRun: isDryRun(call) };
  const key = keyOf(path.namespace, path.name);
  const current = collection.get(key);
  if (current === undefined) {
    if (type !== APPLY_PATCH) throw notFound(definition, path.name);
    const object = asObject(definition, body);
    return answer(call, 201, services.writer.create(collection, path.namespace, object, options));
  }
  const patched = asObject(definition, applyPatch(type, current.parse(), body));
  answer(call, 200, services.writer.update(collection, key, patched, scopeOf(call), options));
}

async function deleteOne(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const { definition } = collection;
  const options = await deleteOptions(services, call);
  const key = keyOf(path.namespace, path.name);
  const { object, gone } = services.writer.delete(collection, key, path.name, options);
  if (!gone || definition.returnsDeleted === true) answer(call, 200, object);
  else sendJson(call.response, 200, success(definition, path.name, object.identity.uid));
}

/** Deletes the selected objects, and answers with the list as it was before. */
async function deleteMany(services: Services, call: Call): Promise<void> {
  const { collection, path, query } = call;
  const selection = selectionOf(collection.definition, path, query);
  const options = parseListOptions(query);
  const { dryRun = false } = await deleteOptions(services, call);
  const { freshnessTimeoutMs } = services.options;
  const page = await readPage(services.log, collection, options, selection, freshnessTimeoutMs);
  for (const { identity } of page.objects) {
    services.writer.delete(collection, identity.key, identity.name, { dryRun });
  }
  await sendPieces(call, listPieces(collection, page, false));
}

/**
 * Grace periods and propagation are accepted and have no effect, because there is no kubelet and no garbage collector.
 */
async function deleteOptions(services: Services, call: Call): Promise<WriteOptions> {
  const body = await readBody(call.request, services.options.requestBytesMax);
  const parsed = body.length === 0 ? {} : parseJson(body);
  const given: JsonObject = isJsonObject(parsed) ? parsed : {};
  const { preconditions, dryRun } = given;
  return {
    preconditions: isJsonObject(preconditions) ? preconditions : {},
    dryRun: isDryRun(call) || (Array.isArray(dryRun) && dryRun.includes('All')),
  };
}

async function readObject(services: Services, call: Call): Promise<KubeObject> {
  const { definition } = call.collection;
  requireJson(call.request);
  const body = await readBody(call.request, services.options.requestBytesMax);
  try {
    return asObject(definition, parseJson(body));
  } catch (error) {
    if (error instanceof SyntaxError) throw objectNotRecognized(definition, error.message, body.toString());
    throw error;
  }
}

function answer(call: Call, code: number, stored: StoredObject): void {
  sendJson(call.response, code, stored.toBuffer());
}

function isDryRun({ query }: Call): boolean {
  return query.get('dryRun') === 'All';
}

function scopeOf({ path }: Call): 'object' | 'status' {
  return path.subresource === 'status' ? 'status' : 'object';
}
