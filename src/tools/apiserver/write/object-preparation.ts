/**
 * The object that a create or an update stores: the server sets identity, generation, status and names, and keeps the
 * fields that the client may not change. Pure functions from the body of a request and the present object.
 */

import { isDeepStrictEqual } from 'node:util';
import { members } from '../store/causes.ts';
import { isJsonObject, following, writeJson } from '../store/json.ts';
import type { Json, JsonObject, KubeObject, ObjectMeta } from '../store/json.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ServedResource } from '../store/resources.ts';
import {
  badRequest,
  invalid,
  memberMissing,
  objectNotRecognized,
  qualifiedName,
  quote,
} from '../store/status.ts';
import { decodeMetadata } from '../shapes/decoder.ts';
import { initialStatus, updatedStatus } from './initial-status.ts';
import { countedParts, countsFromCreation } from './update-rules.ts';

const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const NAME_SUFFIX_LENGTH = 5;
/** Longer prefixes are cut, so that a generated name is a DNS label. */
const GENERATED_NAME_LENGTH_MAX = 63;

export function timestamp(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}

/**
 * Returns the body of a request as an object of this resource, and adds the paths of unknown fields in the metadata.
 * @throws StatusError 400 for any other body
 */
export function asObject(definition: ServedResource, body: Json | undefined, unknown: string[]): KubeObject {
  const { kind: expectedKind, version } = definition;
  if (!isJsonObject(body)) throw objectNotRecognized(definition);
  for (const [member, name] of Object.entries({ kind: 'Kind', apiVersion: 'apiVersion' } as const)) {
    if (definition.custom === true && body[member] === undefined)
      throw memberMissing(definition, name, writeJson(body));
  }
  const kind = typeof body['kind'] === 'string' ? body['kind'] : expectedKind;
  const apiVersion = typeof body['apiVersion'] === 'string' ? body['apiVersion'] : apiVersionOf(definition);
  if (apiVersion !== apiVersionOf(definition)) {
    const why = `no kind ${quote(kind)} is registered for version ${quote(apiVersion)}`;
    throw cannotHandle(kind, apiVersion, expectedKind, `${why} in scheme "pkg/runtime/scheme.go:111"`);
  }
  if (kind !== expectedKind) {
    const why = `converting (${version}.${kind}) to (core.${expectedKind}): unknown conversion`;
    throw cannotHandle(kind, apiVersion, expectedKind, why);
  }
  const metadata = decodeMetadata(definition, unknown, body['metadata']);
  return { ...body, metadata };
}

function cannotHandle(kind: string, version: string, expected: string, why: string): Error {
  return badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${expected}: ${why}`);
}

/**
 * Sets the fields of a new object. `trusted` (the control API) keeps the given status and skips the rules for names.
 */
export function prepareCreate(
  definition: ServedResource,
  object: KubeObject,
  namespace: string,
  trusted: boolean,
): KubeObject {
  const given = object.metadata;
  const generated = given.name === undefined || given.name === '';
  if (generated && !given.generateName) {
    const body = 'Required value: name or generateName is required';
    throw invalid(definition, '', [{ type: 'FieldValueRequired', field: 'metadata.name', body }]);
  }
  const name = generated ? generateName(given.generateName ?? '') : (given.name ?? '');
  const metadata: ObjectMeta = { ...given, name };
  if (definition.namespaced) metadata.namespace = namespace;
  else delete metadata.namespace;
  delete metadata.deletionTimestamp;
  delete metadata['deletionGracePeriodSeconds'];
  delete metadata['selfLink'];
  // Go's clients send a null for an unset time.
  const kept: Partial<Record<'uid' | 'creationTimestamp', string | null>> = trusted ? given : {};
  metadata.uid = kept.uid ?? crypto.randomUUID();
  metadata.creationTimestamp = kept.creationTimestamp ?? timestamp();
  const counts = definition.custom === true || countsFromCreation(definition, object);
  if (counts && !(trusted && given.generation !== undefined)) metadata.generation = 1;
  const isNamespace = qualifiedName(definition) === 'namespaces';
  if (isNamespace) metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': name };
  const created = withoutEmpty(definition, { ...object, metadata });
  if (isNamespace) created['spec'] = { finalizers: ['kubernetes'], ...members(created['spec']) };
  if (definition.status !== true || (trusted && !isNamespace)) return created;
  const { status, ...rest } = created;
  const initial = initialStatus(definition, created);
  if (initial === undefined) return rest;
  return { ...rest, status: trusted ? { ...members(initial), ...members(status) } : initial };
}

/** Go omits these if they are empty, and also the data of ConfigMaps and Secrets. */
const OMITTED_WHEN_EMPTY = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields'];
const DATA = ['data', 'binaryData', 'stringData'];

/** Returns the object without the nulls and empty containers that a typed server would not keep. */
function withoutEmpty(definition: ServedResource, object: KubeObject): KubeObject {
  const metadata: ObjectMeta = { ...object.metadata };
  dropEmpty(metadata, OMITTED_WHEN_EMPTY);
  for (const name of Object.keys(metadata)) if (metadata[name] === null) delete metadata[name];
  const result: KubeObject = { ...object, metadata };
  if (definition.custom !== true) dropEmpty(result, DATA);
  return result;
}

function dropEmpty(target: JsonObject, names: readonly string[]): void {
  for (const name of names) {
    const value = target[name];
    if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) delete target[name];
  }
}

/** The part of the object that a write may change. */
export type WriteScope = 'object' | 'status' | 'finalize' | 'binding' | 'everything';

/** Returns the object after an update. Immutable fields stay, and the generation counts changes of the spec. */
export function prepareUpdate(
  definition: ServedResource,
  current: KubeObject,
  given: KubeObject,
  scope: WriteScope,
): KubeObject {
  const source = scope === 'status' ? current : given;
  const metadata: ObjectMeta = { ...given.metadata };
  if (scope === 'status') keep(metadata, current.metadata, keptByStatus(definition, metadata));
  keep(metadata, current.metadata, [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'selfLink',
  ]);
  const updated: KubeObject = { ...source, metadata };
  if (scope === 'status' || scope === 'binding')
    updated['status'] = updatedStatus(definition, given['status'], current['status']);
  const isWhole = scope === 'object' || scope === 'finalize';
  if (isWhole && definition.status === true) keep(updated, current, ['status']);
  if (qualifiedName(definition) === 'namespaces' && scope !== 'everything') {
    // Only `/finalize` changes the spec, which consists of the finalizers.
    if (scope === 'object') keep(updated, current, ['spec']);
    metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name ?? '' };
  }
  const counts = scope === 'object' || scope === 'everything';
  if (counts && isCounted(definition, current, updated)) {
    metadata.generation = following(current.metadata.generation ?? 0);
  }
  return withoutEmpty(definition, updated);
}

/** Kinds whose status is written without the metadata, as for custom resources. */
const STATUS_ALONE: ReadonlySet<string> = new Set([
  'apiservices.apiregistration.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'resourceclaims.resource.k8s.io',
  'servicecidrs.networking.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'volumeattachments.storage.k8s.io',
]);

/** Returns the metadata that a write through `/status` does not change. */
function keptByStatus(definition: ServedResource, given: ObjectMeta): readonly string[] {
  const name = qualifiedName(definition);
  if (definition.custom === true || STATUS_ALONE.has(name)) {
    return [...Object.keys(given), 'labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields'];
  }
  if (name === 'deployments.apps') return ['labels'];
  return name === 'pods' ? ['ownerReferences'] : [];
}

/**
 * True for a change that the generation counts: of the spec, and for a custom resource of any member except metadata
 * and a status that is a subresource.
 */
function isCounted(definition: ServedResource, current: KubeObject, updated: KubeObject): boolean {
  if (definition.custom !== true) {
    const [before, after] = [current, updated].map((object) => countedParts(definition, object));
    return after !== undefined && !isDeepStrictEqual(after, before);
  }
  const notCounted = ['metadata', 'kind', 'apiVersion', ...(definition.status === true ? ['status'] : [])];
  const content = (object: KubeObject): JsonObject => {
    return Object.fromEntries(Object.entries(object).filter(([name]) => !notCounted.includes(name)));
  };
  return !isDeepStrictEqual(content(updated), content(current));
}

function keep(target: JsonObject, source: JsonObject, names: readonly string[]): void {
  for (const name of names) {
    if (source[name] === undefined) delete target[name];
    else target[name] = source[name];
  }
}

function generateName(prefix: string): string {
  const random = crypto.getRandomValues(new Uint8Array(NAME_SUFFIX_LENGTH));
  const suffix = [...random].map((byte) => NAME_ALPHABET[byte % NAME_ALPHABET.length]);
  return `${prefix.slice(0, GENERATED_NAME_LENGTH_MAX - NAME_SUFFIX_LENGTH)}${suffix.join('')}`;
}
