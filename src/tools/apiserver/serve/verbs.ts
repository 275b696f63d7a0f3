/**
 * The verbs over HTTP. A writing verb reads the body, checks it against the URL, writes (`writer.ts`), and answers with
 * the object. The reading verbs are in `reads.ts`.
 */

import { deletionOptions, evictionOptions } from './delete-options.ts';
import type { DeletionOptions } from './delete-options.ts';
import type { EventLog } from '../store/event-log.ts';
import type { FaultEngine } from '../faults/fault-rules.ts';
import {
  contentType,
  parseBody,
  readBody,
  representationFor,
  sendJson,
  sendPieces,
} from '../wire/http-io.ts';
import type { Json, KubeObject } from '../store/json.ts';
import { parseListOptions } from './list-options.ts';
import { listPieces, readPage } from './list.ts';
import type { Listener } from '../wire/listener.ts';
import type { ResolvedOptions } from '../store/server-options.ts';
import { APPLY_PATCH, applyPatch, configurationOf, requirePatchType } from '../write/patch.ts';
import type { Patched } from '../write/patch.ts';
import { strictFaults, unknownField } from '../write/strict-faults.ts';
import { finalizerWarnings } from '../write/metadata-rules.ts';
import { distinctOwners, duplicateOwners } from '../write/duplicate-owners.ts';
import type { FieldWriter } from '../write/field-ownership.ts';
import { asObject } from '../write/object-preparation.ts';
import type { WriteScope } from '../write/object-preparation.ts';
import { addOwnerRights } from './owner-rights.ts';
import { answer, isScale, listRepresentation, serveRead } from './reads.ts';
import type { ReadServices } from './reads.ts';
import type { Call } from '../wire/request-info.ts';
import type { RequestLog } from '../wire/request-log.ts';
import type { Rights } from '../wire/rights.ts';
import type { ResourceTable, ServedResource } from '../store/resources.ts';
import { warningHeaders } from '../wire/warnings.ts';
import { POD_ACTIONS, bind, evict } from '../write/pod-subresources.ts';
import { SCALES, scaleOf, scaledConfiguration, withScale } from '../write/scale.ts';
import { selectionOf } from './selection.ts';
import { requestOptions } from './write-options.ts';
import type { RequestOptions } from './write-options.ts';
import {
  StatusError,
  badRequest,
  changedUid,
  created,
  undecodablePatch,
  nameUndeterminable,
  notFound,
  otherUid,
  quote,
  success,
} from '../store/status.ts';
import { keyOf } from '../store/stored-object.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { createsByUpdate } from '../write/update-rules.ts';
import type { StoredObjectWriter } from '../write/writer.ts';

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

/** Answers a request with a verb that discovery lists. */
export async function serveResource(services: Services, call: Call, verb: string): Promise<void> {
  const { definition } = call.collection;
  representationFor(call.request, call.query);
  if (definition.deprecation !== undefined) warn(call, [definition.deprecation]);
  if (definition.review !== undefined)
    return sendJson(call.response, 201, definition.review(await readObject(services, call, optionsOf(call))));
  if (isPodAction(call)) return actOnPod(services, call);
  switch (verb) {
    case 'create':
      return create(services, call);
    case 'update':
      return update(services, call);
    case 'patch':
      return patch(services, call);
    case 'delete':
      return deleteOne(services, call);
    case 'deletecollection':
      return deleteMany(services, call);
    default:
      return serveRead(services, call);
  }
}

async function create(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const options = optionsOf(call);
  const object = await readObject(services, call, options);
  const stored = services.writer.create(collection, path.namespace, object, writeOptions(call, options));
  addOwnerRights(services, path, object, undefined);
  answer(call, 201, stored);
}

/** Answers a Binding or an Eviction of a Pod. */
async function actOnPod(services: Services, call: Call): Promise<void> {
  const { path, collection } = call;
  const options = optionsOf(call);
  const body = await readObject(services, call, options);
  const { log, table, writer } = services;
  const budgets = log.collection(table.named('poddisruptionbudgets.policy'));
  const parts = { writer, pods: collection, budgets };
  if (path.subresource === 'binding') bind(parts, path, body, writeOptions(call, options));
  else evict(parts, path, body, { ...writeOptions(call, options), ...evictionOptions(body, options.dryRun) });
  sendJson(call.response, 201, created());
}

async function update(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const options = optionsOf(call);
  const given = await readObject(services, call, options);
  checkName(call, given);
  const current = collection.get(keyOf(path.namespace, path.name));
  if (current !== undefined) return write(services, call, current, given, options);
  if (path.subresource !== '' || !createsByUpdate(collection.definition))
    throw notFound(collection.definition, path.name);
  const { uid, resourceVersion: _, ...metadata } = given.metadata;
  if (uid !== undefined && uid !== '')
    throw otherUid(collection.definition, keyOf(path.namespace, path.name), uid, '');
  const made = { ...given, metadata };
  const stored = services.writer.create(collection, path.namespace, made, writeOptions(call, options));
  services.rights.add(path, 'create');
  addOwnerRights(services, path, made, undefined);
  answer(call, 201, stored);
}

/** @throws StatusError 400 when the URL names another object */
function checkName({ path }: Call, { metadata }: KubeObject): void {
  const { name = '', namespace = '' } = metadata;
  if (name === '') throw nameUndeterminable(path.name);
  if (name !== path.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${path.name})`);
  }
  if (namespace !== '' && namespace !== path.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
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
  const patched = acceptedPatch(call, applyPatch(type, definition, target, body), options);
  checkName(call, patched);
  const { uid = '' } = patched.metadata;
  if (uid !== '' && uid !== current.identity.uid) throw changedUid(definition, path.name, uid);
  write(services, call, current, patched, options);
}

/** Returns a patched object. @throws StatusError 422 for an object that is not of the kind, or has unknown fields */
function acceptedPatch(call: Call, { object, faults, shown }: Patched, options: RequestOptions): KubeObject {
  try {
    return accepted(call, object, options, (unknown) => [...faults, ...strictFaults([], unknown)]);
  } catch (error) {
    throw error instanceof StatusError && error.status.code === 400
      ? undecodablePatch(shown(), error)
      : error;
  }
}

/** Server-side apply: the body is YAML, which includes JSON. */
async function apply(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const { definition } = collection;
  const options = requestOptions(call.request, call.query, true);
  const body = await readBody(call.request, services.options.requestBytesMax);
  const { config, repeated } = configurationOf(wireKind(call), body);
  reportRepeated(call, repeated, options);
  const key = keyOf(path.namespace, path.name);
  const current = collection.get(key);
  const isNew = current === undefined;
  if (isNew && path.subresource !== '') throw notFound(definition, path.name);
  const { name = '', namespace = '' } = config.metadata;
  if (isNew && name === '') {
    throw nameUndeterminable(path.name);
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
  return path.subresource === 'status' || path.subresource === 'finalize' ? path.subresource : 'object';
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

/** Reports keys that the YAML of an apply repeats. @throws StatusError 400 */
function reportRepeated(call: Call, repeated: readonly string[], { fieldValidation }: RequestOptions): void {
  if (repeated.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Warn') return warn(call, repeated);
  const why = ['yaml: unmarshal errors:', ...repeated].join('\n  ');
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${why}`);
}

/**
 * Returns the body as an object of the resource. Reports faults as the request demands: as an error, as warnings, or not
 * at all. Unknown fields are never stored.
 */
function accepted(
  call: Call,
  body: Json | undefined,
  { fieldValidation }: RequestOptions,
  faultsOf: (unknown: readonly string[]) => readonly string[],
): KubeObject {
  const definition = wireKind(call);
  const paths: string[] = [];
  const object = asObject(definition, body, paths);
  const { kind, version, schema } = definition;
  paths.push(...(schema?.unknownFields(object) ?? []));
  const faults = faultsOf(paths);
  if (fieldValidation === 'Strict' && faults.length > 0) {
    const why = `strict decoding error: ${faults.join(', ')}`;
    throw badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${why}`);
  }
  const { owners, twice } = distinctOwners(object.metadata.ownerReferences ?? []);
  if (twice.length > 0) object.metadata.ownerReferences = owners;
  warn(call, [
    ...(fieldValidation === 'Warn' ? faults : []),
    ...(twice.length > 0 ? [duplicateOwners(call.request.method === 'PATCH', twice)] : []),
    ...finalizerWarnings(definition, object.metadata),
  ]);
  return object;
}

function warn({ response }: Call, warnings: readonly string[]): void {
  const written = String(response.getHeader('Warning') ?? '').length;
  for (const header of warningHeaders(warnings, written)) response.appendHeader('Warning', header);
}

async function deleteOne(services: Services, call: Call): Promise<void> {
  const { collection, path } = call;
  const { definition } = collection;
  const options = await deleteOptions(services, call);
  const key = keyOf(path.namespace, path.name);
  const { object, gone } = services.writer.delete(collection, key, path.name, options);
  if (!gone || definition.returnsDeleted === true)
    answer(call, !gone && options.isOldBackground ? 202 : 200, object);
  else sendJson(call.response, 200, success(definition, path.name, object.identity.uid));
}

/** Deletes the selected objects, and answers with the list of the objects before the deletion. */
async function deleteMany(services: Services, call: Call): Promise<void> {
  const { collection, path, query } = call;
  const options = parseListOptions(query);
  const selection = selectionOf(collection.definition, path, query, services.options.sharding);
  const deletion = await deleteOptions(services, call);
  const { freshnessTimeoutMs } = services.options;
  const page = await readPage(services.log, collection, options, selection, freshnessTimeoutMs);
  for (const { identity } of page.objects)
    services.writer.delete(collection, identity.key, identity.name, deletion);
  await sendPieces(call, listPieces(collection, page, listRepresentation(call)));
}

async function deleteOptions(services: Services, { request, query }: Call): Promise<DeletionOptions> {
  const body = await readBody(request, services.options.requestBytesMax);
  return deletionOptions(contentType(request), body, query);
}

async function readObject(services: Services, call: Call, options: RequestOptions): Promise<KubeObject> {
  const body = await readBody(call.request, services.options.requestBytesMax);
  const isStruct = wireKind(call).custom !== true;
  const { value, members } = parseBody(call.request, body, isStruct);
  return accepted(call, value, options, (unknown) =>
    // Go decodes a custom resource as a map, before the schema finds unknown fields.
    isStruct ? strictFaults(members, unknown) : [...strictFaults(members), ...unknown.map(unknownField)],
  );
}

/** Returns the kind of a request's body, which differs for some subresources. */
function wireKind(call: Call): ServedResource {
  if (isScale(call)) return SCALES;
  const action = isPodAction(call) ? POD_ACTIONS.get(call.path.subresource) : undefined;
  return action ?? call.collection.definition;
}

function isPodAction({ collection: { definition }, path }: Call): boolean {
  return definition.resource === 'pods' && definition.group === '' && POD_ACTIONS.has(path.subresource);
}
