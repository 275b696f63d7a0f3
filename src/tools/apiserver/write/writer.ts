/**
 * The writing verbs: create, update, delete. Each is a synchronous step from the present state to the next event in the
 * log, so concurrent requests cannot interleave. The schema of the kind
 * gives an object its stored form, and judges the values.
 */

import { deleting, keepersOf } from './deletion.ts';
import type { Propagation } from './deletion.ts';
import type { Collection, EventLog } from '../store/event-log.ts';
import { ControlLoops } from './control-loops.ts';
import type { KubeObject } from '../store/json.ts';
import { applied, differOnlyInTime, groupVersionKind, trackUpdate } from './field-ownership.ts';
import type { FieldWriter } from './field-ownership.ts';
import { immutableErrors, metadataErrors } from './metadata-rules.ts';
import { prepareCreate, prepareUpdate } from './object-preparation.ts';
import type { WriteScope } from './object-preparation.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ServedResource } from '../store/resources.ts';
import { needsVersion } from './update-rules.ts';
import {
  STALE_RESOURCE_VERSION,
  StatusError,
  alreadyExists,
  badRequest,
  bareFailure,
  conflict,
  createNotAllowed,
  deleteConflict,
  invalid,
  namespaceImmortal,
  namespaceTerminating,
  notFound,
  otherUid,
  quote,
  unconvertible,
} from '../store/status.ts';
import { NEVER_STORED, StoredObject, keyOf } from '../store/stored-object.ts';

const VERSION_MAX = 2n ** 64n - 1n;
const IMMORTAL_NAMESPACES: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** Options of a write without a body of the kind's type. */
export interface WriteOptions {
  /** Does everything except storing (`dryRun=All`). */
  readonly dryRun?: boolean;
  /** True for the control API: the rules about names, status and resourceVersion do not apply. */
  readonly trusted?: boolean;
  /** True for an apply: its nulls were not decoded, so the schema judges them. */
  readonly isApplied?: boolean;
  /** True for the server's own writes, which change only metadata: the object is stored as it is. */
  readonly isOwn?: boolean;
  /** The manager of the fields that a write changes; if absent, the object carries its managers. */
  readonly writer?: FieldWriter;
  /** For a deletion. */
  readonly preconditions?: Preconditions;
  /** For a deletion: the policy for the dependents. */
  readonly propagation?: Propagation | undefined;
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
  readonly controlLoops: ControlLoops = new ControlLoops();
  readonly #log: EventLog;
  readonly #namespaces: Collection;

  constructor(log: EventLog, namespaces: Collection) {
    this.#log = log;
    this.#namespaces = namespaces;
  }

  /** Creates the missing namespace of a trusted create. */
  ensureNamespace(name: string): void {
    if (this.#namespaces.get(name) !== undefined) return;
    const namespace = prepareCreate(this.#namespaces.definition, { metadata: { name } }, '', true);
    this.#store(this.#namespaces, namespace, {});
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
    const coerced = coerce(definition, given, options);
    const prepared = prepareCreate(definition, coerced, namespace, trusted);
    const { managedFields } = given.metadata;
    const { writer } = options;
    const object = writer ? trackUpdate(definition, undefined, prepared, managedFields, writer) : prepared;
    validate(definition, object, undefined, options, 'object');
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
    const trusted = options.trusted === true;
    const stored = collection.get(key);
    if (stored === undefined) throw notFound(definition, given.metadata.name ?? '');
    const current = stored.parse();
    if (!trusted) checkUpdate(definition, stored, current, given);
    const coerced = coerce(definition, given, options);
    const prepared = prepareUpdate(definition, current, coerced, scope);
    const { managedFields } = given.metadata;
    const { writer } = options;
    const updated = writer
      ? trackUpdate(definition, current, prepared, managedFields, writer)
      : {
          ...prepared,
          metadata: { ...prepared.metadata, ...(managedFields === undefined ? {} : { managedFields }) },
        };
    if (options.isOwn !== true && scope !== 'binding') validate(definition, updated, current, options, scope);
    const unchanged = StoredObject.encode(definition, updated, stored.revision);
    const isLast =
      updated.metadata.deletionTimestamp !== undefined && keepersOf(definition, updated).length === 0;
    if (isLast && options.dryRun !== true) {
      // The last finalizer was removed. The event contains the state before; the answer contains the state that was
      // never stored.
      this.#remove(collection, current);
      return unchanged;
    }
    // A write without a change causes no event: the object keeps its revision.
    if (unchanged.toBuffer().equals(stored.toBuffer())) return stored;
    if (isSameButTimes(definition, updated, current, stored)) return stored;
    return options.dryRun === true ? unchanged : this.#store(collection, updated, options);
  }

  /** Applies a configuration: creates the object, or changes the fields that the manager owns. */
  apply(
    collection: Collection,
    key: string,
    config: KubeObject,
    request: { readonly namespace: string; readonly force: boolean; readonly scope: WriteScope },
    { writer, ...rest }: WriteOptions & { readonly writer: FieldWriter },
  ): { readonly stored: StoredObject; readonly isNew: boolean } {
    const { definition } = collection;
    const options = { ...rest, isApplied: true };
    const current = collection.get(key);
    const object = applied(definition, current?.parse(), config, writer, request.force);
    if (current !== undefined) {
      return { stored: this.update(collection, key, object, request.scope, options), isNew: false };
    }
    const { resourceVersion: _, ...metadata } = object.metadata;
    const { uid, name = '' } = metadata;
    if (uid !== undefined) {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(definition, name, why);
    }
    return {
      stored: this.create(collection, request.namespace, { ...object, metadata }, options),
      isNew: true,
    };
  }

  delete(collection: Collection, key: string, name: string, options: WriteOptions = {}): Deletion {
    const { definition } = collection;
    const stored = collection.get(key);
    if (stored === undefined) throw notFound(definition, name);
    const isNamespace = collection === this.#namespaces;
    if (isNamespace && IMMORTAL_NAMESPACES.has(name)) throw namespaceImmortal(definition, name);
    checkPreconditions(definition, stored, options.preconditions ?? {});
    const object = stored.parse();
    const isMarked = object.metadata.deletionTimestamp !== undefined;
    const ending = deleting(definition, object, options.propagation);
    if (keepersOf(definition, ending).length > 0) {
      const again = StoredObject.encode(definition, ending, stored.revision);
      if (options.dryRun === true || again.toBuffer().equals(stored.toBuffer()))
        return { object: again, gone: false };
      return { object: this.#store(collection, ending, {}), gone: false };
    }
    if (options.dryRun === true) return { object: stored, gone: true };
    if (definition.graceful !== true || isMarked || options.trusted === true) {
      return { object: this.#remove(collection, object), gone: true };
    }
    // Even without a grace period, clients first receive the deletionTimestamp and then the deletion.
    this.#store(collection, ending, {});
    return { object: this.#remove(collection, ending), gone: true };
  }

  #checkCreate(definition: ServedResource, given: KubeObject, namespace: string): void {
    const { namespace: own = '', resourceVersion = '', name = '' } = given.metadata;
    if (own !== '' && namespace !== '' && own !== namespace) {
      throw badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    }
    if (/^0*[1-9]\d*$/.test(resourceVersion) && BigInt(resourceVersion) <= VERSION_MAX) {
      throw bareFailure('resourceVersion should not be set on objects to be created');
    }
    if (definition.terminating === true) throw createNotAllowed(definition, name);
    if (!definition.namespaced) return;
    const stored = this.#namespaces.get(namespace);
    if (stored === undefined) throw notFound(this.#namespaces.definition, namespace);
    if (stored.parse().metadata.deletionTimestamp !== undefined) {
      throw namespaceTerminating(definition, name, namespace);
    }
  }

  #store(collection: Collection, object: KubeObject, options: WriteOptions): StoredObject {
    const { definition, storage } = collection;
    if (options.dryRun === true) return StoredObject.encode(definition, object, NEVER_STORED);
    const type = storage.get(keyOf(object.metadata.namespace ?? '', object.metadata.name ?? ''))
      ? 'MODIFIED'
      : 'ADDED';
    const stored = this.#log.write(storage, (revision) => storage.encode(object, revision));
    this.controlLoops.saw({ type, collection: storage, object, checksOwners: options.trusted !== true });
    return collection.get(stored.identity.key) ?? stored;
  }

  #remove(collection: Collection, object: KubeObject): StoredObject {
    const { storage, definition } = collection;
    const { namespace = '', name = '' } = object.metadata;
    const key = keyOf(namespace, name);
    const seen = collection.get(key);
    const stored = storage.get(key);
    if (stored === undefined || seen === undefined) throw notFound(definition, name);
    const { revision } = this.#log.delete(storage, stored);
    this.controlLoops.saw({ type: 'DELETED', collection: storage, object, checksOwners: false });
    return seen.withRevision(revision);
  }
}

/** Returns the number of a version, 0 if absent. @throws StatusError 500, as a cluster answers what is not a number */
function versionOf(text: string): bigint {
  const isNumber = /^\d*$/.test(text);
  const version = isNumber ? BigInt(text) : 0n;
  if (isNumber && version <= VERSION_MAX) return version;
  const why = isNumber ? 'value out of range' : 'invalid syntax';
  throw bareFailure(`strconv.ParseUint: parsing ${quote(text)}: ${why}`);
}

function checkUpdate(
  definition: ServedResource,
  stored: StoredObject,
  current: KubeObject,
  given: KubeObject,
): void {
  const { name = '', resourceVersion = '', uid = '' } = given.metadata;
  if (uid !== '' && uid !== stored.identity.uid) {
    throw otherUid(definition, stored.identity.key, uid, stored.identity.uid);
  }
  const version = versionOf(resourceVersion);
  if (version === 0n && needsVersion(definition)) {
    const body = 'Invalid value: 0: must be specified for an update';
    const named = { kind: definition.resource, group: definition.group };
    throw invalid(named, name, [{ type: 'FieldValueInvalid', field: 'metadata.resourceVersion', body }]);
  }
  if (version !== 0n && version !== BigInt(stored.revision)) {
    throw conflict(definition, name, STALE_RESOURCE_VERSION);
  }
  const errors = immutableErrors(given.metadata, current.metadata);
  if (errors.length > 0) throw invalid(definition, name, errors);
}

/** True if only the times of managers differ from the stored object. */
function isSameButTimes(
  definition: ServedResource,
  updated: KubeObject,
  current: KubeObject,
  stored: StoredObject,
): boolean {
  const { managedFields } = current.metadata;
  if (managedFields === undefined || !differOnlyInTime(updated.metadata.managedFields, managedFields))
    return false;
  const same = { ...updated, metadata: { ...updated.metadata, managedFields } };
  return StoredObject.encode(definition, same, stored.revision).toBuffer().equals(stored.toBuffer());
}

/** Returns the object as the schema keeps it. @throws StatusError 400; 500 for an apply, whose result a cluster converts */
function coerce(definition: ServedResource, given: KubeObject, options: WriteOptions): KubeObject {
  const { trusted = false, isApplied } = options;
  try {
    return definition.schema?.coerce(given, trusted, isApplied) ?? given;
  } catch (error) {
    if (isApplied !== true || !(error instanceof StatusError)) throw error;
    const { namespace = '', name = '' } = given.metadata;
    const kind = groupVersionKind(apiVersionOf(definition), definition.kind);
    throw unconvertible(`${namespace}/${name}`, kind, error);
  }
}

function validate(
  definition: ServedResource,
  object: KubeObject,
  previous: KubeObject | undefined,
  { trusted = false }: WriteOptions,
  scope: WriteScope,
): void {
  const errors = [
    ...(trusted ? [] : metadataErrors(definition, object, previous)),
    ...(definition.schema?.validate(object, previous, trusted || scope !== 'object') ?? []),
  ];
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors);
}

/** @throws StatusError 409 */
export function checkPreconditions(
  definition: ServedResource,
  stored: StoredObject,
  wanted: Preconditions,
): void {
  const { uid, name } = stored.identity;
  const version = String(stored.revision);
  // The registries of these two check before the common code does.
  if (definition.resource === 'namespaces' || definition.resource === 'customresourcedefinitions') {
    for (const [what, given, found] of [
      ['UID', wanted.uid, uid],
      ['ResourceVersion', wanted.resourceVersion, version],
    ]) {
      const why = `Precondition failed: ${what} in precondition: ${given}, ${what} in object meta: ${found}`;
      if (given !== undefined && given !== found) throw conflict(definition, name, why);
    }
  }
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    const why = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw deleteConflict(definition, name, why);
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== version) {
    const why = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`;
    throw deleteConflict(definition, name, why);
  }
}
