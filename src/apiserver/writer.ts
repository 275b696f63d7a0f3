/**
 * The verbs that change objects: create, update, patch, delete. Each is one synchronous step from the present
 * state to the next event in the log, so concurrent requests cannot interleave inside one.
 */

import type { Collection, EventLog } from './event-log.ts';
import type { KubeObject } from './json.ts';
import { prepareCreate, prepareUpdate, timestamp } from './object-rules.ts';
import type { WriteScope } from './object-rules.ts';
import type { ResourceDefinition } from './resources.ts';
import {
  STALE_RESOURCE_VERSION,
  bareFailure,
  alreadyExists,
  badRequest,
  conflict,
  deleteConflict,
  invalid,
  notFound,
} from './status.ts';
import { StoredObject, keyOf } from './stored-object.ts';

export interface WriteOptions {
  /** Does everything except the storing (`dryRun=All`). */
  readonly dryRun?: boolean;
  /** True for the control API: the rules about names, status and resourceVersion do not apply. */
  readonly trusted?: boolean;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface DeleteOptions extends WriteOptions {
  readonly preconditions?: Preconditions;
}

export interface Deletion {
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

  delete(collection: Collection, key: string, name: string, options: DeleteOptions = {}): Deletion {
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
