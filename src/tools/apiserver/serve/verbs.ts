/**
 * The verbs over HTTP. A writing verb reads the body, checks it against the URL, writes (`writer.ts`), and answers with
 * the object. The reading verbs are in `reads.ts`.
 */

import { isDryDeletion, propagationOf } from '../write/deletion.ts';
import type { EventLog } from '../store/event-log.ts';
import type { FaultEngine } from '../faults/fault-rules.ts';
import { contentType, jsonOf, parseBody, readBody, sendJson, sendPieces } from '../wire/http-io.ts';
import { isJsonObject } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { parseListOptions } from './list-options.ts';
import { listPieces, readPage } from './list.ts';
import type { Listener } from '../wire/listener.ts';
import type { ResolvedOptions } from '../store/server-options.ts';
import { APPLY_PATCH, applyPatch, configurationOf, requirePatchType } from '../write/patch.ts';
import { finalizerWarnings } from '../write/metadata-rules.ts';
import { distinctOwners, duplicateOwners } from '../write/duplicate-owners.ts';
import type { FieldWriter } from '../write/field-ownership.ts';
import { asObject } from '../write/object-preparation.ts';
import type { WriteScope } from '../write/object-preparation.ts';
import { addOwnerRights } from './owner-rights.ts';
import { answer, isScale, serveRead } from './reads.ts';
import type { ReadServices } from './reads.ts';
import type { Call } from '../wire/request-info.ts';
import type { RequestLog } from '../wire/request-log.ts';
import type { Rights } from '../wire/rights.ts';
import type { ResourceTable, ServedResource } from '../store/resources.ts';
import { POD_ACTIONS, bind, evict } from '../write/pod-subresources.ts';
import { SCALES, scaleOf, scaledConfiguration, withScale } from '../write/scale.ts';
import { selectionOf } from './selection.ts';
import { requestOptions } from './write-options.ts';
import type { RequestOptions } from './write-options.ts';
import {
  badRequest,
  created,
  methodNotAllowed,
  notFound,
  quote,
  success,
  unknownResource,
} from '../store/status.ts';
import { keyOf } from '../store/stored-object.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { StoredObjectWriter, WriteOptions } from '../write/writer.ts';

/** The parts of the server that answer requests. */
export interface Services extends ReadServices {
  readonly options: ResolvedOptions;
  readonly table: ResourceTable;
  readonly log: EventLog;
  readonly writer: StoredObjectWriter;
  readonly listener: Listener;
  readonly engine: FaultEngine;
  readonly requests: RequestLog;
  readonly rights: Rights;
  /** Token of the test itself, whose requests need no rights. */
  readonly adminToken: string;
}

export async function serveResource(services: Services, call: Call): Promise<void> {
  const { path, request } = call;
  const { definition } = call.collection;
  const action = definition.resource === 'pods' ? POD_ACTIONS.get(path.subresource) : undefined;
  const served =
    action !== undefined ||
    path.subresource === '' ||
    (path.subresource === 'status' && definition.status === true) ||
    (path.subresource === 'scale' && definition.scale !== undefined);
  if (!served || (path.namespace !== '' && !definition.namespaced)) throw unknownResource();
  const named = path.name !== '';
  if (definition.review !== undefined) {
    if (request.method !== 'POST' || named) throw methodNotAllowed();
    return sendJson(call.response, 201, definition.review(await readObject(services, call, optionsOf(call))));
  }
  if (action !== undefined) return actOnPod(services, call);
  switch (request.method) {
    case 'GET':
      return serveRead(services, call);
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

async function create(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  if (collection.definition.namespaced && path.namespace === '') throw methodNotAllowed();
  const options = optionsOf(call);
  const object = await readObject(services, call, options);
  const stored = services.writer.create(collection, path.namespace, object, writeOptions(call, options));
  addOwnerRights(services, path, object, undefined);
  answer(call, 201, stored);
}

/** Answers a Binding or an Eviction of a Pod. */
async function actOnPod(services: Services, call: Call): Promise<void> {
  const { path, request, collection } = call;
  if (request.method !== 'POST' || path.name === '') throw methodNotAllowed();
  const options = optionsOf(call);
  const body = await readObject(services, call, options);
  const { log, table, writer } = services;
  const budgets = log.collection(table.named('poddisruptionbudgets.policy'));
  const act = path.subresource === 'binding' ? bind : evict;
  act({ writer, pods: collection, budgets }, path, body, writeOptions(call, options));
  sendJson(call.response, 201, created());
}

async function update(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const options = optionsOf(call);
  const given = await readObject(services, call, options);
  checkName(call, given);
  const current = collection.get(keyOf(path.namespace, path.name));
  if (current === undefined) throw notFound(collection.definition, path.name);
  write(services, call, current, given, options);
}

/** @throws StatusError 400 when the URL names another object */
function checkName({ path }: Call, { metadata }: KubeObject): void {
  const { name = '', namespace = '' } = metadata;
  if (name !== path.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${path.name})`);
  }
  if (namespace !== '' && namespace !== path.namespace) {
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the request (${path.namespace})`,
    );
  }
}

async function patch(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const { definition } = collection;
  const type = contentType(call.request);
  requirePatchType(type, definition);
  if (type === APPLY_PATCH) return apply(services, call);
  const options = optionsOf(call);
  const body = await readBody(call.request, services.options.requestBytesMax);
  const current = collection.get(keyOf(path.namespace, path.name));
  if (current === undefined) throw notFound(definition, path.name);
  const target = isScale(call) ? scaleOf(definition, current.parse()) : current.parse();
  const patched = accepted(call, applyPatch(type, definition, target, body), options);
  checkName(call, patched);
  write(services, call, current, patched, options);
}

/** Server-side apply: the body is YAML, which includes JSON. */
async function apply(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const { definition } = collection;
  const options = requestOptions(call.request, call.query, true);
  const body = await readBody(call.request, services.options.requestBytesMax);
  const config = configurationOf(wireKind(call), body);
  const key = keyOf(path.namespace, path.name);
  const current = collection.get(key);
  const isNew = current === undefined;
  if (isNew && path.subresource !== '') throw notFound(definition, path.name);
  const { name = '', namespace = '' } = config.metadata;
  if (isNew && name === '') {
    const why = 'name must be provided';
    throw badRequest(`the name of the object (${path.name} based on URL) was undeterminable: ${why}`);
  }
  if (namespace !== '' && namespace !== path.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const named = { ...config, metadata: { ...config.metadata, ...(name === '' ? { name: path.name } : {}) } };
  checkName(call, named);
  const applied = isScale(call) ? scaledConfiguration(definition, named) : named;
  warn(call, finalizerWarnings(definition, applied.metadata));
  const request = { namespace: path.namespace, force: options.force, scope: scopeOf(call) };
  const { stored } = services.writer.apply(collection, key, applied, request, writeOptions(call, options));
  // An apply of a new object needs the right to create it.
  if (isNew) services.rights.add(path, 'create');
  addOwnerRights(services, path, applied, current);
  answer(call, isNew ? 201 : 200, stored);
}

/** Stores the object, the status or the scale, according to the path. */
function write(
  services: Services,
  call: Call,
  current: StoredObject,
  given: KubeObject,
  options: RequestOptions,
): void {
  const { collection } = call;
  const { definition } = collection;
  const object = isScale(call) ? withScale(definition, current.parse(), given) : given;
  const stored = services.writer.update(
    collection,
    current.identity.key,
    object,
    scopeOf(call),
    writeOptions(call, options),
  );
  addOwnerRights(services, call.path, object, current);
  answer(call, 200, stored);
}

function scopeOf({ path }: Call): WriteScope {
  return path.subresource === 'status' ? 'status' : 'object';
}

function optionsOf({ request, query }: Call): RequestOptions {
  return requestOptions(request, query, false);
}

function writeOptions(
  { path }: Call,
  { dryRun, manager }: RequestOptions,
): { readonly dryRun: boolean; readonly writer: FieldWriter } {
  return { dryRun, writer: { manager, subresource: path.subresource } };
}

/**
 * Returns the body as an object of the resource. Reports unknown fields as the request demands: as an error, as
 * warnings, or not at all. They are never stored.
 */
function accepted(call: Call, body: Json | undefined, { fieldValidation }: RequestOptions): KubeObject {
  const definition = wireKind(call);
  const paths: string[] = [];
  const object = asObject(definition, body, paths);
  const { kind, version, schema } = definition;
  paths.push(...(schema?.unknownFields(object) ?? []));
  const unknown = paths.map((field) => `unknown field ${quote(field)}`);
  if (fieldValidation === 'Strict' && unknown.length > 0) {
    const why = `strict decoding error: ${unknown.join(', ')}`;
    throw badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${why}`);
  }
  const { owners, twice } = distinctOwners(object.metadata.ownerReferences ?? []);
  if (twice.length > 0) object.metadata.ownerReferences = owners;
  warn(call, [
    ...(fieldValidation === 'Warn' ? unknown : []),
    ...(twice.length > 0 ? [duplicateOwners(call.request.method === 'PATCH', twice)] : []),
    ...finalizerWarnings(definition, object.metadata),
  ]);
  return object;
}

function warn({ response }: Call, warnings: readonly string[]): void {
  for (const text of warnings) response.appendHeader('Warning', `299 - ${quote(text)}`);
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

/** Deletes the selected objects, and answers with the list of the objects before the deletion. */
async function deleteMany(services: Services, call: Call): Promise<void> {
  const { collection, path, query } = call;
  const selection = selectionOf(collection.definition, path, query, services.options.sharding);
  const options = parseListOptions(query);
  const { dryRun = false, propagation } = await deleteOptions(services, call);
  const { freshnessTimeoutMs } = services.options;
  const page = await readPage(services.log, collection, options, selection, freshnessTimeoutMs);
  for (const { identity } of page.objects) {
    services.writer.delete(collection, identity.key, identity.name, { dryRun, propagation });
  }
  await sendPieces(call, listPieces(collection, page));
}

/** Grace periods are accepted and have no effect, because there is no kubelet. */
async function deleteOptions(services: Services, call: Call): Promise<WriteOptions> {
  const body = await readBody(call.request, services.options.requestBytesMax);
  const parsed = body.length === 0 ? {} : jsonOf(body);
  const given: JsonObject = isJsonObject(parsed) ? parsed : {};
  const { preconditions } = given;
  return {
    preconditions: isJsonObject(preconditions) ? preconditions : {},
    propagation: propagationOf(call.query, given),
    dryRun: isDryDeletion(call.query, given),
  };
}

async function readObject(services: Services, call: Call, options: RequestOptions): Promise<KubeObject> {
  const body = await readBody(call.request, services.options.requestBytesMax);
  return accepted(call, parseBody(call.request, body), options);
}

/** Returns the kind of a request's body, which differs for some subresources. */
function wireKind(call: Call): ServedResource {
  if (isScale(call)) return SCALES;
  const { collection, path } = call;
  const action = collection.definition.resource === 'pods' ? POD_ACTIONS.get(path.subresource) : undefined;
  return action ?? collection.definition;
}
