/**
 * Serves the resources that CustomResourceDefinitions define: a new or changed definition is served with the new rules,
 * and accepted in its status, in the same turn of the event loop. The deletion of a definition first deletes the
 * objects, then ends the watches.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Collection, EventLog } from '../store/event-log.ts';
import { CLEANUP } from '../write/deletion.ts';
import type { ControlLoop, StoredChange } from '../write/control-loops.ts';
import { isJsonObject, memberOf, writeJson } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { timestamp } from '../write/object-preparation.ts';
import type { ResourceTable, ServedResource } from '../store/resources.ts';
import type { Watches } from './watches.ts';
import type { StoredObjectWriter } from '../write/writer.ts';
import { text } from '../store/causes.ts';
import { APPROVAL, approvalOf } from '../crd/definition-names.ts';
import { specOf, versionsOf } from '../crd/definition.ts';

interface Parts {
  readonly table: ResourceTable;
  readonly log: EventLog;
  readonly writer: StoredObjectWriter;
  readonly watches: Watches;
}

/** The collections of a definition. */
interface Served {
  /** Part of the definition from which the collections were made. */
  readonly source: string;
  readonly storage: Collection;
  /** By version. */
  readonly collections: ReadonlyMap<string, Collection>;
}

export class ServedDefinitions implements ControlLoop {
  readonly #parts: Parts;
  readonly #definitions: Collection;
  /** By the name of the definition. */
  readonly #served = new Map<string, Served>();
  readonly #pending = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#definitions = parts.log.collection(
      parts.table.named('customresourcedefinitions.apiextensions.k8s.io'),
    );
  }

  saw({ collection, object }: StoredChange): void {
    if (collection === this.#definitions) this.#pending.add(object.metadata.name ?? '');
    const { custom, resource, group, terminating } = collection.definition;
    if (custom === true && terminating === true) this.#pending.add(`${resource}.${group}`);
  }

  work(): boolean {
    const names = [...this.#pending];
    this.#pending.clear();
    for (const name of names) this.#follow(name);
    return names.length > 0;
  }

  #follow(name: string): void {
    const object = this.#definitions.get(name)?.parse();
    if (object === undefined) {
      this.#withdraw(name);
      return;
    }
    this.#serve(name, object);
    if (object.metadata.deletionTimestamp === undefined) this.#accept(name, object);
    else this.#cleanUp(name, object);
  }

  #serve(name: string, object: KubeObject): void {
    const { log, table, watches } = this.#parts;
    const before = this.#served.get(name);
    const source = writeJson([object['spec'], object.metadata.deletionTimestamp]);
    if (before?.source === source) return;
    const earlier = [...(before?.collections.values() ?? [])];
    for (const { definition } of earlier) withdrawFrom(table, definition);
    const collections = new Map<string, Collection>();
    let storage: Collection | undefined;
    for (const { resource, served, storage: isStorage } of versionsOf(object)) {
      // Replaces a resource that was registered without a schema, but not a built-in resource.
      if (!withdrawFrom(table, resource)) continue;
      const collection = before?.collections.get(resource.version) ?? log.collection(resource);
      collection.redefine(resource);
      if (served) table.register(resource);
      if (isStorage) storage = collection;
      collections.set(resource.version, collection);
    }
    if (storage === undefined) return;
    // First the new storage takes over the objects; then the other versions show them.
    if (before !== undefined) storage.follow(before.storage);
    storage.follow(storage);
    for (const collection of collections.values()) collection.follow(storage);
    this.#served.set(name, { source, storage, collections });
    for (const collection of earlier) {
      const { group, version, resource } = collection.definition;
      if (table.find(group, version, resource) === undefined) watches.end(collection);
      if (!collections.has(version)) log.forget(collection);
    }
  }

  /** Writes the status of a definition that is served. */
  #accept(name: string, object: KubeObject): void {
    const { names, versions } = specOf(object);
    const given = isJsonObject(object['status']) ? object['status'] : {};
    const stored = Array.isArray(given['storedVersions']) ? given['storedVersions'] : [];
    const current = versions.find(({ storage }) => storage)?.name ?? '';
    const status = {
      conditions: conditions(given['conditions'], approvalCondition(object)),
      acceptedNames: names,
      storedVersions: [...new Set([...stored, current])],
    };
    if (!isDeepStrictEqual(status, object['status'])) this.#write(name, { ...object, status });
  }

  /** Deletes the objects, and removes the finalizer that kept the definition. */
  #cleanUp(name: string, object: KubeObject): void {
    const storage = this.#served.get(name)?.storage;
    for (const key of storage?.keys() ?? []) {
      const stored = storage?.get(key);
      if (storage === undefined || stored?.parse().metadata.deletionTimestamp !== undefined) continue;
      this.#parts.writer.delete(storage, key, stored?.identity.name ?? '');
    }
    if (storage !== undefined && storage.keys().length > 0) return;
    const finalizers = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP);
    this.#write(name, { ...object, metadata: { ...object.metadata, finalizers } });
  }

  #withdraw(name: string): void {
    for (const collection of this.#served.get(name)?.collections.values() ?? []) {
      withdrawFrom(this.#parts.table, collection.definition);
      this.#parts.watches.end(collection);
      this.#parts.log.forget(collection);
    }
    this.#served.delete(name);
  }

  #write(name: string, object: KubeObject): void {
    this.#parts.writer.update(this.#definitions, name, object, 'everything', { trusted: true, isOwn: true });
  }
}

/** Returns false for a built-in resource, which stays. */
function withdrawFrom(table: ResourceTable, { group, version, resource }: ServedResource): boolean {
  const registered = table.find(group, version, resource);
  if (registered === undefined) return true;
  if (registered.custom === true) table.unregister(registered);
  return registered.custom === true;
}

interface Condition extends JsonObject {
  type: string;
  status: string;
  reason: string;
  message: string;
}

/** Returns the condition of a definition in a group of Kubernetes itself. */
function approvalCondition({ metadata, spec }: KubeObject): Condition[] {
  const approval = approvalOf(text(memberOf(spec, 'group')), text(metadata.annotations?.[APPROVAL]));
  if (approval === undefined) return [];
  const { state, reason: message } = approval;
  const status = state === 'Approved' ? 'True' : 'False';
  return [{ type: 'KubernetesAPIApprovalPolicyConformant', status, reason: `${state}Annotation`, message }];
}

/** Returns the conditions of an accepted definition; conditions that already hold keep their time. */
function conditions(given: Json | undefined, more: readonly Condition[]): Json[] {
  const known = Array.isArray(given) ? given.filter((condition) => isJsonObject(condition)) : [];
  const status = 'True';
  const wanted: Condition[] = [
    { type: 'NamesAccepted', status, reason: 'NoConflicts', message: 'no conflicts found' },
    {
      type: 'Established',
      status,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
    ...more,
  ];
  return wanted.map((condition) => {
    const present = known.find((old) => old['type'] === condition.type && old['status'] === condition.status);
    return { lastTransitionTime: timestamp(), ...present, ...condition };
  });
}
