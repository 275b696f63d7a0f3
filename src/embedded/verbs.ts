/**
 * From a resource request to its answer: one function per verb. Reading verbs stream bytes that exist already,
 * writing verbs are in `writer.ts`.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Collection } from './collection.ts';
import type { Connections } from './connections.ts';
import type { EventLog } from './event-log.ts';
import {
  acceptsPartial,
  contentType,
  parseJson,
  readBody,
  requireJson,
  sendJson,
  sendPieces,
} from './http-io.ts';
import type { JsonObject } from './json.ts';
import { isJsonObject } from './json.ts';
import { parseListOptions } from './list-options.ts';
import { listPieces, readPage } from './list.ts';
import { asObject } from './object-rules.ts';
import type { ResolvedOptions } from './options.ts';
import { applyPatch } from './patch.ts';
import type { ResourcePath } from './request-info.ts';
import type { ResourceDefinition } from './resources.ts';
import { selectionOf } from './selection.ts';
import { badRequest, methodNotAllowed, notFound, success, unknownResource } from './status.ts';
import { keyOf } from './stored-object.ts';
import type { StoredObject } from './stored-object.ts';
import type { Watches } from './watches.ts';
import type { Preconditions, Writer } from './writer.ts';

export interface Services {
  readonly options: ResolvedOptions;
  readonly log: EventLog;
  readonly writer: Writer;
  readonly watches: Watches;
  readonly connections: Connections;
}

export interface ResourceRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly definition: ResourceDefinition;
  readonly watch: boolean;
}

export async function serveResource(services: Services, call: ResourceRequest): Promise<void> {
  const { definition, path, request } = call;
  const knownSubresource =
    path.subresource === '' || (path.subresource === 'status' && definition.status === true);
  if (!knownSubresource) throw unknownResource();
  if (path.namespace !== '' && !definition.namespaced) throw unknownResource();
  const collection = services.log.collection(definition);
  const named = path.name !== '';
  switch (request.method) {
    case 'GET':
      if (call.watch) return services.watches.open(collection, call);
      return named ? get(collection, call) : list(services, collection, call);
    case 'POST':
      if (named) throw methodNotAllowed();
      return create(services, collection, call);
    case 'PUT':
      if (!named) throw methodNotAllowed();
      return update(services, collection, call);
    case 'PATCH':
      if (!named) throw methodNotAllowed();
      return patch(services, collection, call);
    case 'DELETE':
      return named ? deleteOne(services, collection, call) : deleteMany(services, collection, call);
    default:
      throw methodNotAllowed();
  }
}

function find(collection: Collection, path: ResourcePath): StoredObject {
  const stored = collection.get(keyOf(path.namespace, path.name));
  if (stored === undefined) throw notFound(collection.definition, path.name);
  return stored;
}

async function get(collection: Collection, { request, response, path }: ResourceRequest): Promise<void> {
  const partial = acceptsPartial(request);
  const stored = find(collection, path);
  sendJson(response, 200, partial ? Buffer.concat(stored.metadataOnly()) : stored.toBuffer());
}

async function list(services: Services, collection: Collection, call: ResourceRequest): Promise<void> {
  const partial = acceptsPartial(call.request);
  const options = parseListOptions(call.query);
  const selection = selectionOf(collection.definition, call.path, call.query);
  const { freshnessTimeoutMs } = services.options;
  const page = await readPage(services.log, collection, options, selection, freshnessTimeoutMs);
  await sendPieces(call.response, listPieces(collection, page, partial));
}

async function create(services: Services, collection: Collection, call: ResourceRequest): Promise<void> {
  const { definition } = collection;
  requireJson(call.request);
  if (definition.namespaced && call.path.namespace === '') throw methodNotAllowed();
  const object = asObject(
    definition,
    parseJson(await readBody(call.request, services.options.requestBytesMax)),
  );
  const stored = services.writer.create(collection, call.path.namespace, object, { dryRun: isDryRun(call) });
  sendJson(call.response, 201, stored.toBuffer());
}

async function update(services: Services, collection: Collection, call: ResourceRequest): Promise<void> {
  const { definition } = collection;
  const { path } = call;
  requireJson(call.request);
  const object = asObject(
    definition,
    parseJson(await readBody(call.request, services.options.requestBytesMax)),
  );
  const { name = '', namespace = '' } = object.metadata;
  if (name !== path.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${path.name})`);
  }
  if (namespace !== '' && namespace !== path.namespace) {
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the request (${path.namespace})`,
    );
  }
  const stored = services.writer.update(collection, keyOf(path.namespace, name), object, scopeOf(path), {
    dryRun: isDryRun(call),
  });
  sendJson(call.response, 200, stored.toBuffer());
}

async function patch(services: Services, collection: Collection, call: ResourceRequest): Promise<void> {
  const { definition } = collection;
  const { path } = call;
  const type = contentType(call.request);
  const body = parseJson(await readBody(call.request, services.options.requestBytesMax));
  const dryRun = isDryRun(call);
  const key = keyOf(path.namespace, path.name);
  const current = collection.get(key);
  if (current === undefined) {
    if (type !== 'application/apply-patch+yaml') throw notFound(definition, path.name);
    const applied = asObject(definition, body);
    sendJson(
      call.response,
      201,
      services.writer.create(collection, path.namespace, applied, { dryRun }).toBuffer(),
    );
    return;
  }
  const patched = asObject(definition, applyPatch(type, current.parse(), body as JsonObject, definition));
  const stored = services.writer.update(collection, key, patched, scopeOf(path), { dryRun });
  sendJson(call.response, 200, stored.toBuffer());
}

async function deleteOne(services: Services, collection: Collection, call: ResourceRequest): Promise<void> {
  const { definition } = collection;
  const { path } = call;
  const options = await deleteOptions(services, call);
  const key = keyOf(path.namespace, path.name);
  const { object, gone } = services.writer.delete(
    collection,
    key,
    path.name,
    options.preconditions,
    options.dryRun,
  );
  const withObject = !gone || definition.returnsDeleted === true;
  sendJson(
    call.response,
    200,
    withObject ? object.toBuffer() : success(definition, path.name, object.identity.uid),
  );
}

async function deleteMany(services: Services, collection: Collection, call: ResourceRequest): Promise<void> {
  const selection = selectionOf(collection.definition, call.path, call.query);
  const options = parseListOptions(call.query);
  const { dryRun } = await deleteOptions(services, call);
  const page = await readPage(
    services.log,
    collection,
    options,
    selection,
    services.options.freshnessTimeoutMs,
  );
  const deleted = page.objects.map(({ identity }) => {
    return services.writer.delete(collection, identity.key, identity.name, {}, dryRun).object;
  });
  await sendPieces(call.response, listPieces(collection, { ...page, objects: deleted }, false));
}

interface DeleteRequest {
  readonly preconditions: Preconditions;
  readonly dryRun: boolean;
}

/** Grace periods and propagation are accepted and have no effect: there is no kubelet and no garbage collector. */
async function deleteOptions(services: Services, call: ResourceRequest): Promise<DeleteRequest> {
  const body = await readBody(call.request, services.options.requestBytesMax);
  const given = body.length === 0 ? {} : (parseJson(body) as JsonObject);
  const preconditions = isJsonObject(given['preconditions']) ? given['preconditions'] : {};
  const dryRun = isDryRun(call) || (Array.isArray(given['dryRun']) && given['dryRun'].includes('All'));
  return { preconditions, dryRun };
}

function isDryRun({ query }: ResourceRequest): boolean {
  return query.get('dryRun') === 'All';
}

function scopeOf(path: ResourcePath): 'object' | 'status' {
  return path.subresource === 'status' ? 'status' : 'object';
}
