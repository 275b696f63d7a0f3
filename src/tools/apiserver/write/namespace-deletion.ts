/**
 * Deletion of namespaces: the objects of a namespace that is being deleted are deleted. When no finalizer keeps an
 * object any longer, the namespace is also deleted.
 */

import type { Collection, EventLog } from '../store/event-log.ts';
import type { ControlLoop, StoredChange } from './control-loops.ts';
import { isJsonObject } from '../store/json.ts';
import type { StoredObjectWriter } from './writer.ts';

export class NamespaceDeletion implements ControlLoop {
  readonly #namespaces: Collection;
  readonly #log: EventLog;
  readonly #writer: StoredObjectWriter;
  readonly #terminating = new Set<string>();
  readonly #pending = new Set<string>();

  constructor(namespaces: Collection, log: EventLog, writer: StoredObjectWriter) {
    this.#namespaces = namespaces;
    this.#log = log;
    this.#writer = writer;
  }

  saw({ type, collection, object }: StoredChange): void {
    const { name = '', namespace = '', deletionTimestamp } = object.metadata;
    if (collection !== this.#namespaces) {
      if (this.#terminating.has(namespace)) this.#pending.add(namespace);
    } else if (type === 'DELETED') {
      this.#terminating.delete(name);
    } else if (deletionTimestamp !== undefined) {
      this.#terminating.add(name);
      this.#pending.add(name);
    }
  }

  work(): boolean {
    const names = [...this.#pending];
    this.#pending.clear();
    for (const name of names) this.#empty(name);
    return names.length > 0;
  }

  #empty(namespace: string): void {
    const object = this.#namespaces.get(namespace)?.parse();
    if (object === undefined) return;
    let kept = 0;
    for (const collection of this.#log.stored()) {
      if (collection.definition.namespaced) kept += this.#deleteAll(collection, namespace);
    }
    if (kept > 0) return;
    const spec = isJsonObject(object['spec']) ? object['spec'] : {};
    const empty = { ...object, spec: { ...spec, finalizers: [] } };
    this.#writer.update(this.#namespaces, namespace, empty, 'everything', { trusted: true, isOwn: true });
  }

  /** Deletes the objects of a resource. Returns the number of objects that finalizers keep. */
  #deleteAll(collection: Collection, namespace: string): number {
    let kept = 0;
    for (const key of collection.keys()) {
      if (!key.startsWith(`${namespace}/`)) continue;
      const stored = collection.get(key);
      if (stored === undefined) continue;
      const isMarked = stored.parse().metadata.deletionTimestamp !== undefined;
      if (isMarked || !this.#writer.delete(collection, key, stored.identity.name).gone) kept++;
    }
    return kept;
  }
}
