/**
 * The garbage collector: deletes objects whose owners are gone, and carries out the policies Foreground and Orphan. The
 * decisions are those of the real garbage collector (in kube-controller-manager), without the delays.
 *
 * An owner is found by kind, name and uid, in the namespace of the dependent or cluster-scoped. An owner in another
 * namespace is therefore absent. An owner of a kind that is not served is unknown, and the dependent stays.
 */

import { FOREGROUND, ORPHAN } from './deletion.ts';
import type { Propagation } from './deletion.ts';
import type { Collection, EventLog } from '../store/event-log.ts';
import type { ControlLoop, StoredChange } from './control-loops.ts';
import { isJsonObject } from '../store/json.ts';
import type { JsonObject, KubeObject, OwnerReference } from '../store/json.ts';
import type { ResourceTable } from '../store/resources.ts';
import { qualifiedName } from '../store/status.ts';
import { keyOf } from '../store/stored-object.ts';
import type { StoredObjectWriter } from './writer.ts';

/** The place of an object. */
interface Place {
  readonly collection: Collection;
  readonly key: string;
}

/** An object with owners. */
interface Owned {
  readonly place: Place;
  /** Uids of the owners. */
  readonly owners: readonly string[];
}

type OwnerState = 'present' | 'absent' | 'waiting' | 'unknown';

export class GarbageCollector implements ControlLoop {
  readonly #table: ResourceTable;
  readonly #log: EventLog;
  readonly #writer: StoredObjectWriter;
  /** Objects with owners, by resource and key. */
  readonly #owned = new Map<string, Owned>();
  /** Places of the dependents, by the uid of an owner. */
  readonly #dependents = new Map<string, Set<Place>>();
  /** Deleted owners that wait for their dependents, by uid. */
  readonly #waiting = new Map<string, Place>();
  readonly #pending = new Set<Place>();

  constructor(table: ResourceTable, log: EventLog, writer: StoredObjectWriter) {
    this.#table = table;
    this.#log = log;
    this.#writer = writer;
  }

  saw({ type, collection, object, checksOwners }: StoredChange): void {
    const { name = '', namespace = '', uid = '', deletionTimestamp, finalizers = [] } = object.metadata;
    const key = keyOf(namespace, name);
    const id = `${qualifiedName(collection.definition)}/${key}`;
    const before = this.#owned.get(id);
    const owners = type === 'DELETED' ? [] : ownersOf(object).map((owner) => owner.uid);
    const place = before?.place ?? { collection, key };
    if (before !== undefined || owners.length > 0) {
      const isChanged = owners.join() !== before?.owners.join();
      if (isChanged) this.#link(id, place, before?.owners ?? [], owners);
      if (isChanged && checksOwners) this.#pending.add(place);
      for (const owner of before?.owners ?? []) this.#reconsider(this.#waiting.get(owner));
    }
    const isWaiting =
      type !== 'DELETED' &&
      deletionTimestamp !== undefined &&
      finalizers.some((finalizer) => isPolicy(finalizer));
    if (isWaiting) {
      this.#waiting.set(uid, place);
      this.#pending.add(place);
    } else {
      this.#waiting.delete(uid);
    }
    if (!isWaiting && type !== 'DELETED') return;
    for (const dependent of this.#dependents.get(uid) ?? []) this.#pending.add(dependent);
  }

  work(): boolean {
    const places = [...this.#pending];
    this.#pending.clear();
    for (const place of places) {
      const object = read(place);
      if (object === undefined) continue;
      if (object.metadata.deletionTimestamp === undefined) this.#checkOwners(place, object);
      else this.#carryOut(place, object);
    }
    return places.length > 0;
  }

  #reconsider(place: Place | undefined): void {
    if (place !== undefined) this.#pending.add(place);
  }

  #link(id: string, place: Place, before: readonly string[], owners: readonly string[]): void {
    for (const owner of before) {
      const places = this.#dependents.get(owner);
      places?.delete(place);
      if (places?.size === 0) this.#dependents.delete(owner);
    }
    for (const owner of owners) {
      this.#dependents.set(owner, (this.#dependents.get(owner) ?? new Set()).add(place));
    }
    if (owners.length === 0) this.#owned.delete(id);
    else this.#owned.set(id, { place, owners });
  }

  /** Deletes an object whose owners are all gone, and removes references to single owners that are gone. */
  #checkOwners(place: Place, object: KubeObject): void {
    const { namespace = '', uid = '', finalizers = [] } = object.metadata;
    const owners = ownersOf(object);
    const states = owners.map((owner) => this.#stateOf(owner, namespace));
    if (owners.length === 0 || states.includes('unknown')) return;
    const present = owners.filter((_, index) => states[index] === 'present');
    if (present.length === owners.length) return;
    if (present.length > 0) {
      this.#setOwners(place, object, present);
      return;
    }
    const dependents = [...(this.#dependents.get(uid) ?? [])];
    if (!states.includes('waiting') || dependents.length === 0) {
      const policy = finalizers.includes(ORPHAN) ? 'Orphan' : 'Background';
      this.#delete(place, object, finalizers.includes(FOREGROUND) ? 'Foreground' : policy);
      return;
    }
    // In a circle of owners, at least one object must not wait.
    if (dependents.some((dependent) => read(dependent)?.metadata.finalizers?.includes(FOREGROUND))) {
      this.#setOwners(
        place,
        object,
        owners.map((owner) => ({ ...owner, blockOwnerDeletion: false })),
      );
    }
    this.#delete(place, object, 'Foreground');
  }

  /** Carries out the policy of a deleted owner, as far as the dependents allow. */
  #carryOut(place: Place, object: KubeObject): void {
    const { uid = '', finalizers = [] } = object.metadata;
    const dependents = [...(this.#dependents.get(uid) ?? [])];
    if (finalizers.includes(ORPHAN)) {
      for (const dependent of dependents) this.#disown(dependent, uid);
    } else if (dependents.some((dependent) => blocks(read(dependent), uid))) {
      return;
    }
    const rest = finalizers.filter((finalizer) => !isPolicy(finalizer));
    if (rest.length < finalizers.length) this.#update(place, object, { finalizers: rest });
  }

  #disown(place: Place, owner: string): void {
    const object = read(place);
    if (object === undefined) return;
    this.#setOwners(
      place,
      object,
      ownersOf(object).filter(({ uid }) => uid !== owner),
    );
  }

  #stateOf({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): OwnerState {
    const definition = this.#table.ofKind(apiVersion, kind);
    if (definition === undefined || (definition.namespaced && namespace === '')) return 'unknown';
    const key = keyOf(definition.namespaced ? namespace : '', name);
    const owner = this.#log.collection(definition).get(key);
    if (owner === undefined || owner.identity.uid !== uid) return 'absent';
    const { deletionTimestamp, finalizers = [] } = owner.parse().metadata;
    return deletionTimestamp !== undefined && finalizers.includes(FOREGROUND) ? 'waiting' : 'present';
  }

  #setOwners(place: Place, object: KubeObject, owners: OwnerReference[]): void {
    this.#update(place, object, { ownerReferences: owners });
  }

  #update(place: Place, object: KubeObject, change: JsonObject): void {
    const changed = { ...object, metadata: { ...object.metadata, ...change } };
    const options = { trusted: true, isOwn: true };
    this.#writer.update(place.collection, place.key, changed, 'everything', options);
  }

  #delete({ collection, key }: Place, { metadata }: KubeObject, propagation: Propagation): void {
    this.#writer.delete(collection, key, metadata.name ?? '', { propagation });
  }
}

function isPolicy(finalizer: string): boolean {
  return finalizer === FOREGROUND || finalizer === ORPHAN;
}

function blocks(dependent: KubeObject | undefined, owner: string): boolean {
  if (dependent === undefined) return false;
  return ownersOf(dependent).some(
    ({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true,
  );
}

function read({ collection, key }: Place): KubeObject | undefined {
  return collection.get(key)?.parse();
}

function ownersOf({ metadata }: KubeObject): OwnerReference[] {
  const { ownerReferences } = metadata;
  if (!Array.isArray(ownerReferences)) return [];
  return ownerReferences.filter((owner) => isJsonObject(owner));
}
