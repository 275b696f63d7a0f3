/**
 * The verbs that change objects: create, update, patch, delete. Each is one synchronous step from the present
 * state to the next event in the log, so concurrent requests cannot interleave inside one. The server sets identity,
 * generation, status and names before it stores an object. Specs are neither validated nor defaulted.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Collection, EventLog } from './event-log.ts';
import { isJsonObject } from './json.ts';
import type { Json, JsonObject, KubeObject, ObjectMeta } from './json.ts';
import { apiVersionOf } from './resources.ts';
import type { ResourceDefinition } from './resources.ts';
import {
  STALE_RESOURCE_VERSION,
  alreadyExists,
  badRequest,
  bareFailure,
  conflict,
  deleteConflict,
  invalid,
  notFound,
  objectNotRecognized,
  quote,
} from './status.ts';
import type { FieldError } from './status.ts';
import { StoredObject, keyOf } from './stored-object.ts';

const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const NAME_SUFFIX_LENGTH = 5;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
/** Names of RBAC objects may contain colons: they only have to fit into a URL. */
const PATH_SEGMENT_GROUP = 'rbac.authorization.k8s.io';

export interface WriteOptions {
  /** Does everything except the storing (`dryRun=All`). */
  readonly dryRun?: boolean;
  /** True for the control API: the rules about names, status and resourceVersion do not apply. */
  readonly trusted?: boolean;
  /** For a deletion. */
  readonly preconditions?: Preconditions;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

interface Deletion {
  readonly object: StoredObject;
  /** False while finalizers keep the object. */
  readonly gone: boolean;
}

export class StoredObjectWriter {
  readonly #log: EventLog;
  readonly #namespaces: Collection;

  constructor(log: EventLog, namespaces: Collection) {
    this.#log = log;
    this.#namespaces = namespaces;
  }

  /** Creates the namespace of a trusted create when it does not exist. */
  ensureNamespace(name: string): void {
    if (this.#namespaces.get(name) !== undefined) return;
    const metadata = { name, labels: { 'kubernetes.io/metadata.name': name } };
    const namespace = { metadata, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    this.#store(this.#namespaces, prepareCreate(this.#namespaces.definition, namespace, '', true), {});
  }

  create(
    collection: Collection,
    namespace: string,
    given: KubeObject,
    options: WriteOptions = {},
  ): StoredObject {
    const { definition } = collection;
    const trusted = options.trusted === true;
    if (!trusted) this.#checkCreate(definition, given, namespace);
    else if (definition.namespaced) this.ensureNamespace(namespace);
    const object = prepareCreate(definition, given, namespace, trusted);
    const { name = '' } = object.metadata;
    if (collection.get(keyOf(definition.namespaced ? namespace : '', name)) !== undefined) {
      throw alreadyExists(definition, name);
    }
    return this.#store(collection, object, options);
  }

  update(
    collection: Collection,
    key: string,
    given: KubeObject,
    scope: WriteScope,
    options: WriteOptions = {},
  ): StoredObject {
    const { definition } = collection;
    const stored = collection.get(key);
    const { name = '', resourceVersion = '', uid = '' } = given.metadata;
    if (stored === undefined) throw notFound(definition, name);
    if (options.trusted !== true) {
      if (resourceVersion === '' && definition.custom === true) {
        const body = 'Invalid value: 0: must be specified for an update';
        throw invalid(definition, name, [
          { type: 'FieldValueInvalid', field: 'metadata.resourceVersion', body },
        ]);
      }
      if (uid !== '' && uid !== stored.identity.uid) {
        const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.identity.uid}`;
        const where = `Key: /registry/${definition.resource}/${key}, ResourceVersion: 0`;
        throw conflict(
          definition,
          name,
          `StorageError: invalid object, Code: 4, ${where}, AdditionalErrorMsg: ${why}`,
        );
      }
      if (resourceVersion !== '' && resourceVersion !== String(stored.revision)) {
        throw conflict(definition, name, STALE_RESOURCE_VERSION);
      }
    }
    const updated = prepareUpdate(definition, stored.parse(), given, scope);
    const unchanged = StoredObject.encode(definition, updated, stored.revision);
    const { deletionTimestamp, finalizers = [] } = updated.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0 && options.dryRun !== true) {
      // The last finalizer was removed. The event has the state before; the answer has the state that was
      // never stored.
      this.#log.delete(collection, stored);
      return unchanged;
    }
    // A write that changes nothing makes no event: the object and its revision stay.
    if (unchanged.toBuffer().equals(stored.toBuffer())) return stored;
    return this.#store(collection, updated, options);
  }

  delete(collection: Collection, key: string, name: string, options: WriteOptions = {}): Deletion {
    const { definition } = collection;
    const stored = collection.get(key);
    if (stored === undefined) throw notFound(definition, name);
    checkPreconditions(definition, stored, options.preconditions ?? {});
    if (options.dryRun === true) return { object: stored, gone: true };
    const object = stored.parse();
    const { finalizers = [], deletionTimestamp, generation = 0 } = object.metadata;
    const deleting = { ...object.metadata, deletionTimestamp: timestamp(), deletionGracePeriodSeconds: 0 };
    if (finalizers.length > 0) {
      if (deletionTimestamp !== undefined) return { object: stored, gone: false };
      return { object: this.#store(collection, { ...object, metadata: deleting }, {}), gone: false };
    }
    if (definition.graceful !== true || deletionTimestamp !== undefined || options.trusted === true) {
      return { object: this.#log.delete(collection, stored), gone: true };
    }
    // Even without a grace period, clients first receive the deletionTimestamp and then the deletion.
    const ending = { ...object, metadata: { ...deleting, generation: generation + 1 } };
    return { object: this.#log.delete(collection, this.#store(collection, ending, {})), gone: true };
  }

  #checkCreate(definition: ResourceDefinition, given: KubeObject, namespace: string): void {
    const { namespace: own = '', resourceVersion = '' } = given.metadata;
    if (own !== '' && namespace !== '' && own !== namespace) {
      throw badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    }
    if (resourceVersion !== '' && resourceVersion !== '0') {
      throw bareFailure('resourceVersion should not be set on objects to be created');
    }
    if (definition.namespaced && this.#namespaces.get(namespace) === undefined) {
      throw notFound(this.#namespaces.definition, namespace);
    }
  }

  #store(collection: Collection, object: KubeObject, options: WriteOptions): StoredObject {
    const { definition } = collection;
    if (options.dryRun === true) return StoredObject.encode(definition, object, this.#log.revision);
    return this.#log.write(collection, (revision) => StoredObject.encode(definition, object, revision));
  }
}

function checkPreconditions(
  definition: ResourceDefinition,
  stored: StoredObject,
  wanted: Preconditions,
): void {
  const { uid, name } = stored.identity;
  const version = String(stored.revision);
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    const why = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw deleteConflict(definition, name, why);
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== version) {
    const why = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`;
    throw deleteConflict(definition, name, why);
  }
}

function timestamp(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}

/** Returns the body of a request as an object of this resource. @throws StatusError 400 when it is none */
export function asObject(definition: ResourceDefinition, body: Json): KubeObject {
  const { kind: expectedKind, version } = definition;
  if (!isJsonObject(body))
    throw objectNotRecognized(definition, 'the body is no object', JSON.stringify(body));
  const kind = typeof body['kind'] === 'string' ? body['kind'] : expectedKind;
  const apiVersion = typeof body['apiVersion'] === 'string' ? body['apiVersion'] : apiVersionOf(definition);
  const { metadata = {} } = body;
  if (apiVersion !== apiVersionOf(definition)) {
    const why = `no kind ${quote(kind)} is registered for version ${quote(apiVersion)}`;
    throw cannotHandle(kind, apiVersion, expectedKind, `${why} in scheme "pkg/runtime/scheme.go:111"`);
  }
  if (kind !== expectedKind) {
    const why = `converting (${version}.${kind}) to (core.${expectedKind}): unknown conversion`;
    throw cannotHandle(kind, apiVersion, expectedKind, why);
  }
  return { ...body, metadata: isJsonObject(metadata) ? metadata : {} };
}

function cannotHandle(kind: string, version: string, expected: string, why: string): Error {
  return badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${expected}: ${why}`);
}

/**
 * Sets the fields of a new object. `trusted` (the control API) keeps the given status and skips the rules for names.
 */
function prepareCreate(
  definition: ResourceDefinition,
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
  if (!trusted) checkNames(definition, given.generateName ?? '', name);
  const metadata: ObjectMeta = { ...given, name };
  if (definition.namespaced) metadata.namespace = namespace;
  else delete metadata.namespace;
  delete metadata.deletionTimestamp;
  metadata.uid = trusted && given.uid !== undefined ? given.uid : crypto.randomUUID();
  metadata.creationTimestamp =
    trusted && given.creationTimestamp !== undefined ? given.creationTimestamp : timestamp();
  if (isJsonObject(object['spec']) && !(trusted && given.generation !== undefined)) metadata.generation = 1;
  const created = withoutEmpty(definition, { ...object, metadata });
  if (trusted || definition.status !== true || definition.resource === 'nodes') return created;
  delete created['status'];
  if (definition.resource === 'pods') created['status'] = { phase: 'Pending' };
  return created;
}

/** Go omits these when they are empty, and also the data of ConfigMaps and Secrets. */
const OMITTED_WHEN_EMPTY = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields'];
const DATA = ['data', 'binaryData', 'stringData'];

/** Returns the object without the nulls and empty containers that a typed server would not keep. */
function withoutEmpty(definition: ResourceDefinition, object: KubeObject): KubeObject {
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
type WriteScope = 'object' | 'status' | 'everything';

/** Returns the object after an update. Immutable fields stay, and the generation counts changes of the spec. */
function prepareUpdate(
  definition: ResourceDefinition,
  current: KubeObject,
  given: KubeObject,
  scope: WriteScope,
): KubeObject {
  const source = scope === 'status' ? { ...current, status: given['status'] } : given;
  const meta = scope === 'status' ? current.metadata : given.metadata;
  const metadata: ObjectMeta = { ...meta };
  keep(metadata, current.metadata, [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generateName',
    'generation',
  ]);
  const updated: KubeObject = { ...source, metadata };
  if (scope === 'object' && definition.status === true) keep(updated, current, ['status']);
  if (isJsonObject(updated['spec']) && !isDeepStrictEqual(updated['spec'], current['spec'])) {
    metadata.generation = (current.metadata.generation ?? 0) + 1;
  }
  return withoutEmpty(definition, updated);
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
  return `${prefix}${suffix.join('')}`;
}

function checkNames(definition: ResourceDefinition, generate: string, name: string): void {
  if (definition.group === PATH_SEGMENT_GROUP) return;
  const errors: FieldError[] = [];
  // A suffix follows the prefix, so the prefix may end in a dash.
  if (generate !== '' && !isSubdomain(generate.replace(/-$/, 'a')))
    errors.push(invalidName('generateName', generate));
  if (!isSubdomain(name)) errors.push(invalidName('name', name));
  if (errors.length > 0) throw invalid(definition, name, errors);
}

function isSubdomain(name: string): boolean {
  return name.length <= 253 && SUBDOMAIN.test(name);
}

function invalidName(field: string, value: string): FieldError {
  const body = `Invalid value: ${quote(value)}: ${SUBDOMAIN_RULE}`;
  return { type: 'FieldValueInvalid', field: `metadata.${field}`, body };
}
