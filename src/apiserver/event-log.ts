/**
 * The one revision counter and the events of all resources. Every change is first an event in the log. LIST,
 * WATCH, conflicts and 410s follow from this one order, as in etcd.
 */

import { realTimers } from '../base/clock.ts';
import { Collection } from './collection.ts';
import type { ChangeType, HistoryLimits } from './history.ts';
import { qualifiedName } from './status.ts';
import type { ResourceDefinition } from './resources.ts';
import type { StoredObject } from './stored-object.ts';

export class EventLog {
  readonly #limits: HistoryLimits;
  readonly #collections = new Map<string, Collection>();
  readonly #waiting = new Set<() => void>();
  #revision: number;
  #compacted: number;

  constructor(limits: HistoryLimits, firstRevision: number) {
    this.#limits = limits;
    this.#revision = firstRevision;
    this.#compacted = firstRevision;
  }

  /** Revision of the last change of any resource. */
  get revision(): number {
    return this.#revision;
  }

  collection(definition: ResourceDefinition): Collection {
    const name = qualifiedName(definition);
    let collection = this.#collections.get(name);
    if (collection === undefined) {
      collection = new Collection(definition, this.#limits, this.#compacted);
      this.#collections.set(name, collection);
    }
    return collection;
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

  /** Forgets the history up to and including `revision`; lists and watches from before it expire. */
  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
    for (const collection of this.#collections.values()) collection.history.compact(revision);
  }

  /** Resolves true when the log has reached `revision`, false when `timeoutMs` have passed first. */
  reached(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.#revision >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (reached: boolean): void => {
        realTimers.clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(reached);
      };
      const check = (): void => {
        if (this.#revision >= revision) finish(true);
      };
      const timer = realTimers.setTimeout(finish, timeoutMs, false);
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
