/**
 * A collection of a mirror: what a reflector lists and watches at the origin, in the form in which the embedded apiserver
 * serves its own. It is to the mirror what the watch cache is to a real apiserver, and keeps its rules: every object and
 * every event has the resourceVersion of the origin, and a new list ends all watches, because what happened between the
 * last event and the list is not known.
 */

import type { Collection, EventLog } from '../apiserver/event-log.ts';
import type { KubeObject } from '../apiserver/json.ts';
import { StoredObject } from '../apiserver/stored-object.ts';
import { KubeloomError } from '../base/errors.ts';
import type { ReflectorStore } from '../client-go/index.ts';

export interface MirroredCollectionOptions {
  readonly log: EventLog;
  readonly collection: Collection;
  /** Ends the watches of the collection, whose clients then begin anew. */
  readonly endWatches: () => void;
}

export class MirroredCollection implements ReflectorStore<KubeObject> {
  readonly collection: Collection;
  readonly #log: EventLog;
  readonly #endWatches: () => void;
  #hasSynced = false;

  constructor({ log, collection, endWatches }: MirroredCollectionOptions) {
    this.#log = log;
    this.collection = collection;
    this.#endWatches = endWatches;
  }

  /** True when the first list of the origin is stored. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  add(object: KubeObject): void {
    this.#record(object, false);
  }

  update(object: KubeObject): void {
    this.#record(object, false);
  }

  delete(object: KubeObject): void {
    this.#record(object, true);
  }

  /** @throws ERR_KUBELOOM_STORE_WRITE for a resourceVersion that is no number; then nothing has changed */
  replace(objects: readonly KubeObject[], resourceVersion: string): void {
    const revision = revisionOf(resourceVersion);
    const stored = objects.map((object) => this.#encode(object));
    this.#endWatches();
    this.#log.restore(this.collection, stored, revision);
    this.#hasSynced = true;
  }

  /** Does nothing: clients of the mirror have resyncs of their own. */
  resync(): void {}

  /** The reflector calls it for every event and every bookmark. */
  updateResourceVersion(resourceVersion: string): void {
    this.#log.advance(revisionOf(resourceVersion));
  }

  /** Skips an event that is not newer than the collection: the origin has sent it before. */
  #record(object: KubeObject, isDeleted: boolean): void {
    const stored = this.#encode(object);
    if (stored.revision > this.#log.revision) this.#log.record(this.collection, stored, isDeleted);
  }

  #encode(object: KubeObject): StoredObject {
    const revision = revisionOf(object.metadata.resourceVersion ?? '');
    return StoredObject.encode(this.collection.definition, object, revision);
  }
}

function revisionOf(resourceVersion: string): number {
  const revision = Number(resourceVersion);
  if (/^[1-9]\d*$/.test(resourceVersion) && Number.isSafeInteger(revision)) return revision;
  const what = `resourceVersion ${JSON.stringify(resourceVersion)} is not a number up to 2^53`;
  const message = `${what}: a mirror orders events by it; list this resource at the cluster itself`;
  throw new KubeloomError('ERR_KUBELOOM_STORE_WRITE', message);
}
