/**
 * The verbs that change something: create, update, patch, delete. Each is one synchronous step from the present
 * state to the next event in the log, so concurrent requests cannot interleave inside one.
 */

import type { Collection } from './collection.ts';
import type { EventLog } from './event-log.ts';
import type { KubeObject } from './json.ts';
import { prepareCreate, prepareUpdate, qualifiedKind, timestamp } from './object-rules.ts';
import type { WriteScope } from './object-rules.ts';
import {
  STALE_RESOURCE_VERSION,
  StatusError,
  alreadyExists,
  badRequest,
  conflict,
  invalid,
  notFound,
} from './status.ts';
import { StoredObject, keyOf } from './stored-object.ts';

export interface WriteOptions {
  /** Everything but the storing (`dryRun=All`). */
  readonly dryRun?: boolean;
  /** From the control API: no rules about names, status and resourceVersion. */
  readonly trusted?: boolean;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface Deletion {
  readonly object: StoredObject;
  /** False while finalizers keep it. */
  readonly gone: boolean;
}

export class Writer {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  create(
    collection: Collection,
    namespace: string,
    given: KubeObject,
    options: WriteOptions = {},
  ): StoredObject {
    const { definition } = collection;
    const trusted = options.trusted === true;
    if (!trusted) checkCreate(given, namespace);
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
        throw invalid(qualifiedKind(definition), name, [
          { type: 'FieldValueInvalid', field: 'metadata.resourceVersion', body },
        ]);
      }
      if (uid !== '' && uid !== stored.identity.uid) {
        const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.identity.uid}`;
        throw conflict(definition, name, why);
      }
      if (resourceVersion !== '' && resourceVersion !== String(stored.revision)) {
        throw conflict(definition, name, STALE_RESOURCE_VERSION);
      }
    }
    const updated = prepareUpdate(definition, stored.parse(), given, scope);
    const { deletionTimestamp, finalizers = [] } = updated.metadata;
    const finished = deletionTimestamp !== undefined && finalizers.length === 0;
    if (finished && options.dryRun !== true) return this.#log.delete(collection, stored);
    // A write that changes nothing is no event: the object and its revision stay.
    if (StoredObject.encode(definition, updated, stored.revision).toBuffer().equals(stored.toBuffer()))
      return stored;
    return this.#store(collection, updated, options);
  }

  delete(
    collection: Collection,
    key: string,
    name: string,
    preconditions: Preconditions,
    dryRun: boolean,
  ): Deletion {
    const { definition } = collection;
    const stored = collection.get(key);
    if (stored === undefined) throw notFound(definition, name);
    const { uid } = stored.identity;
    const version = String(stored.revision);
    if (preconditions.uid !== undefined && preconditions.uid !== uid) {
      const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
      throw conflict(definition, name, why);
    }
    if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== version) {
      const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`;
      throw conflict(definition, name, why);
    }
    if (dryRun) return { object: stored, gone: true };
    const object = stored.parse();
    if ((object.metadata.finalizers ?? []).length === 0) {
      return { object: this.#log.delete(collection, stored), gone: true };
    }
    if (object.metadata.deletionTimestamp !== undefined) return { object: stored, gone: false };
    const metadata = { ...object.metadata, deletionTimestamp: timestamp(), deletionGracePeriodSeconds: 0 };
    return { object: this.#store(collection, { ...object, metadata }, {}), gone: false };
  }

  #store(collection: Collection, object: KubeObject, options: WriteOptions): StoredObject {
    const { definition } = collection;
    if (options.dryRun === true) return StoredObject.encode(definition, object, this.#log.revision);
    return this.#log.write(collection, (revision) => StoredObject.encode(definition, object, revision));
  }
}

function checkCreate(given: KubeObject, namespace: string): void {
  const { namespace: own = '', resourceVersion = '' } = given.metadata;
  if (own !== '' && namespace !== '' && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (resourceVersion !== '' && resourceVersion !== '0') {
    // The real server answers 500 without a reason, too.
    throw new StatusError({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'resourceVersion should not be set on objects to be created',
      code: 500,
    });
  }
}
