/**
 * The revision counter and the events of all resources. Every change is first an event in the log. LIST, WATCH,
 * conflicts and 410s follow from this single order, as in etcd.
 */

import { backgroundClock, realTimers } from '../../../base/clock.ts';
import type { Clock } from '../../../base/clock.ts';
import { History } from './history.ts';
import type { ChangeType, HistoryLimits, LogEvent } from './history.ts';
import { Journal } from './journal.ts';
import { apiVersionOf } from './resources.ts';
import type { ServedResource } from './resources.ts';
import type { KubeObject } from './json.ts';
import { StoredObject } from './stored-object.ts';

/** The revision up to which a server answers, and the wait for a later revision. */
export type LogView = Pick<EventLog, 'revision' | 'reached'>;

export class EventLog {
  readonly #limits: HistoryLimits;
  readonly #clock: Clock;
  readonly #collections = new Map<string, Collection>();
  readonly #waiting = new Set<() => void>();
  #revision: number;
  #compacted: number;

  constructor(limits: HistoryLimits, firstRevision: number, clock: Clock = backgroundClock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#revision = firstRevision;
    this.#compacted = firstRevision;
  }

  /** Revision of the last change of any resource. */
  get revision(): number {
    return this.#revision;
  }

  collection(definition: ServedResource): Collection {
    const name = nameOf(definition);
    let collection = this.#collections.get(name);
    if (collection === undefined) {
      const floor = definition.custom === true ? this.#revision : this.#compacted;
      collection = new Collection(definition, this.#limits, floor, this);
      this.#collections.set(name, collection);
    }
    return collection;
  }

  /** Every collection that stores objects: a single collection for all versions of a resource. */
  stored(): Collection[] {
    return [...this.#collections.values()].filter((collection) => collection.storage === collection);
  }

  /** Forgets a version that is no longer defined. */
  forget(collection: Collection): void {
    collection.leave();
    this.#collections.delete(nameOf(collection.definition));
  }

  /** Gives the next revision to the object that `make` returns, and adds the change to the log. */
  write(collection: Collection, make: (revision: number) => StoredObject): StoredObject {
    const object = make(this.#revision + 1);
    const previous = collection.get(object.identity.key);
    this.#append(collection, previous === undefined ? 'ADDED' : 'MODIFIED', object, previous);
    return object;
  }

  delete(collection: Collection, previous: StoredObject): StoredObject {
    const object = previous.withRevision(this.#revision + 1);
    this.#append(collection, 'DELETED', object, previous);
    return object;
  }

  /** Forgets the history up to and including `revision`; lists and watches from earlier revisions expire. */
  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
    for (const collection of this.#collections.values()) collection.history.compact(revision);
  }

  /** Resolves true when the log reaches `revision`, false after `timeoutMs`. */
  reached(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.#revision >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (reached: boolean): void => {
        cancel();
        this.#waiting.delete(check);
        resolve(reached);
      };
      const check = (): void => {
        if (this.#revision >= revision) finish(true);
      };
      const cancel = this.#clock.schedule(timeoutMs, () => finish(false));
      this.#waiting.add(check);
    });
  }

  #append(
    collection: Collection,
    type: ChangeType,
    object: StoredObject,
    previous: StoredObject | undefined,
  ): void {
    this.#revision = object.revision;
    collection.commit({ type, revision: object.revision, object, previous });
    for (const check of this.#waiting) check();
  }
}

function nameOf(definition: ServedResource): string {
  return `${definition.resource}.${apiVersionOf(definition)}`;
}

/** All objects of a resource at a revision, in the order of their keys (the order of etcd, hence of LIST). */
export interface Snapshot {
  readonly revision: number;
  readonly objects: readonly StoredObject[];
}

/**
 * Number of kept snapshots. The pages of a list follow each other soon, so a few snapshots serve all lists in progress.
 */
const SNAPSHOTS_MAX = 4;

/**
 * A resource: the current objects, the recent history, and snapshots of every moment in that history. A snapshot is
 * computed backwards from the present state: each event is undone, the newest first.
 */
export class Collection {
  definition: ServedResource;
  /** The collection that stores the objects: another collection if this collection shows them in another version. */
  storage: Collection = this;
  readonly history: History;
  readonly journal: Journal = new Journal();
  /** The log that numbers the changes. */
  readonly log: LogView;
  readonly #objects = new Map<string, StoredObject>();
  readonly #listeners = new Set<() => void>();
  readonly #snapshots = new Map<number, Snapshot>();
  /** Collections that show these objects in other versions. */
  readonly #views = new Set<Collection>();
  /** Keys in order; undefined after a key was added or removed. */
  #keys: string[] | undefined;
  #announced = false;

  constructor(definition: ServedResource, limits: HistoryLimits, revision: number, log: LogView) {
    this.definition = definition;
    this.log = log;
    this.history = new History(limits, revision);
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  /** Keys in the order of LIST. */
  keys(): readonly string[] {
    this.#keys ??= [...this.#objects.keys()].sort();
    return this.#keys;
  }

  /** Returns the object in the version of this collection. */
  encode(object: KubeObject, revision: number): StoredObject {
    const { schema } = this.definition;
    return StoredObject.encode(this.definition, schema?.coerce(object, true) ?? object, revision);
  }

  /** Serves the resource by a new definition: the objects get the new defaults, and keep their versions. */
  redefine(definition: ServedResource): void {
    this.definition = definition;
    for (const [key, object] of this.#objects) {
      this.#objects.set(key, this.encode(object.parse(), object.revision));
    }
  }

  /** Shows the objects of another collection from now on; if `storage` is this collection, stores them itself. */
  follow(storage: Collection): void {
    this.leave();
    this.storage = storage;
    if (storage === this) return;
    storage.#views.add(this);
    for (const [key, object] of storage.#objects) {
      if (!this.#objects.has(key)) this.#objects.set(key, this.encode(object.parse(), object.revision));
    }
    this.#keys = undefined;
  }

  /** Stops showing events of the storage. */
  leave(): void {
    this.storage.#views.delete(this);
  }

  /** Applies an event. Only the event log calls this, because it owns the revision. */
  commit(event: LogEvent): void {
    const { key } = event.object.identity;
    if (event.type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, event.object);
    if (event.type !== 'MODIFIED') this.#keys = undefined;
    this.history.push(event);
    this.#forgetSnapshots();
    this.journal.append(event.revision, event.type, key);
    this.#announce();
    for (const view of this.#views) view.#show(event);
  }

  /** Calls `listener` once in each turn of the event loop that commits events. @returns a function that stops it */
  onCommit(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Returns the state at `revision` (≤ the present), or undefined if the history does not reach that far back. The
   * snapshot is kept only for lists in pages, because it holds all objects in memory.
   */
  snapshot(revision: number, paged: boolean): Snapshot | undefined {
    if (revision < this.history.floor) return undefined;
    const known = this.#snapshots.get(revision);
    if (known !== undefined) return known;
    const snapshot = { revision, objects: this.#rewound(revision) };
    if (paged) this.#snapshots.set(revision, snapshot);
    this.#forgetSnapshots();
    return snapshot;
  }

  /** Applies an event of the storage, in the version of this collection. */
  #show({ type, revision, object }: LogEvent): void {
    const previous = this.get(object.identity.key);
    const shown =
      type === 'DELETED' && previous !== undefined
        ? previous.withRevision(revision)
        : this.encode(object.parse(), revision);
    this.commit({ type, revision, object: shown, previous });
  }

  #forgetSnapshots(): void {
    for (const revision of this.#snapshots.keys()) {
      if (this.#snapshots.size <= SNAPSHOTS_MAX && revision >= this.history.floor) break;
      this.#snapshots.delete(revision);
    }
  }

  #rewound(revision: number): StoredObject[] {
    const changed = new Map<string, StoredObject | undefined>();
    const start = this.history.after(revision);
    for (let position = this.history.end - 1; position >= start; position--) {
      const event = this.history.at(position);
      if (event !== undefined) changed.set(event.object.identity.key, event.previous);
    }
    const gone = [...changed.keys()].filter((key) => !this.#objects.has(key));
    const keys = gone.length === 0 ? this.keys() : [...this.keys(), ...gone].sort();
    const objects: StoredObject[] = [];
    for (const key of keys) {
      const object = changed.has(key) ? changed.get(key) : this.#objects.get(key);
      if (object !== undefined) objects.push(object);
    }
    return objects;
  }

  #announce(): void {
    if (this.#announced || this.#listeners.size === 0) return;
    this.#announced = true;
    realTimers.setImmediate(() => {
      this.#announced = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
