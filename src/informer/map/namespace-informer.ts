/**
 * The informer of a kind in a namespace (or in all), which all views share. There are two informers only while a kind
 * changes from metadata to whole objects: when the new informer has caught up, the readers and handlers of the metadata
 * move to it, and the old informer ends. A kind never changes back from whole objects to metadata.
 */
import type { InformerOptions } from '../informer-options.ts';
import { SharedIndexInformer } from '../shared-index-informer.ts';
import { compareResourceVersions, isComparableResourceVersion } from '../../kube/resource-version.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { ServerSource } from '../../kube/server-source.ts';
import type { KubeObject } from '../../kube/wire.ts';
import type { FieldIndexes } from './field-indexes.ts';
import type { InformerView } from '../informer-options.ts';
import type { Informer, ViewRegistration } from './view-registration.ts';

export interface NamespaceInformerParts {
  readonly source: ServerSource;
  readonly resource: ResourceRef;
  readonly indexes: FieldIndexes;
  readonly options: InformerOptions<KubeObject>;
  /** Returns the handlers of the metadata view. */
  readonly metadataHandlers: () => Iterable<ViewRegistration>;
  /** Called when an informer ended by itself. That informer reports the failure and rejects the waits for it. */
  readonly onFailure: (error: unknown) => void;
}

export class NamespaceInformer {
  readonly #parts: NamespaceInformerParts;
  #object: Informer | undefined;
  /** Informer of metadata, until the handlers of metadata have moved to `#object`. */
  #metadata: Informer | undefined;
  /** Resolves when the handlers of metadata have moved; rejects with the error that prevents the move. */
  moving: Promise<void> = Promise.resolve();
  readonly #ends: Set<Promise<void>> = new Set();

  constructor(parts: NamespaceInformerParts) {
    this.#parts = parts;
  }

  /** All running informers. */
  get informers(): readonly Informer[] {
    return [this.#object, this.#metadata].filter((informer) => informer !== undefined);
  }

  /** Returns the informer that this view reads and listens to. */
  informer(view: InformerView): Informer | undefined {
    return view === 'object' ? this.#object : (this.#metadata ?? this.#object);
  }

  isReady(view: InformerView): boolean {
    const informer = this.informer(view);
    const isMoving = view === 'object' && this.#metadata !== undefined;
    return informer !== undefined && informer.hasSynced() && !informer.isStopped() && !isMoving;
  }

  /** Starts the informer of this view if it is missing. */
  ensure(view: InformerView): void {
    if (this.#object !== undefined || this.informer(view) !== undefined) return;
    const informer = this.#start(view);
    if (view === 'metadata') {
      this.#metadata = informer;
      return;
    }
    this.#object = informer;
    if (this.#metadata) this.moving = this.#moveTo(informer, this.#metadata);
    this.moving.catch(() => undefined);
  }

  /** Ends the informer of whole objects if the handlers of metadata did not move to it yet. */
  abandonObjects(): void {
    const object = this.#object;
    if (!object || !this.#metadata) return;
    this.#object = undefined;
    this.moving = Promise.resolve();
    this.#end(object);
  }

  /** Adds the missing indexes to the running informers. */
  addIndexers(): void {
    for (const [informer, view] of [
      [this.#object, 'object'],
      [this.#metadata, 'metadata'],
    ] as const) {
      if (!informer) continue;
      const known = informer.getIndexer().getIndexers();
      const all = Object.entries(this.#parts.indexes.indexers(view, new Set()));
      informer.addIndexers(Object.fromEntries(all.filter(([name]) => !Object.hasOwn(known, name))));
    }
  }

  /** Stops the informers; resolves when the calls of handlers have also returned. */
  async close(drain: boolean = false): Promise<void> {
    for (const informer of this.informers) this.#end(informer, drain);
    await Promise.all(this.#ends);
  }

  #start(view: InformerView): Informer {
    const { source, resource, indexes, options } = this.#parts;
    const fields = indexes.paths(view);
    const informer = new SharedIndexInformer<KubeObject>(source, resource, {
      ...options,
      view,
      fields,
      indexers: indexes.indexers(view, new Set(fields)),
    });
    informer.run().catch(this.#parts.onFailure);
    return informer;
  }

  async #moveTo(object: Informer, metadata: Informer): Promise<void> {
    await object.waitForSync();
    while (this.#object === object && isBehind(object, metadata)) {
      await object.waitForResourceVersion(metadata.lastSyncResourceVersion());
    }
    if (this.#object !== object || object.isStopped()) return;
    // The rest runs in the same turn of the event loop, so neither cache changes.
    for (const handler of this.#parts.metadataHandlers()) handler.move(metadata, object);
    this.#metadata = undefined;
    this.#end(metadata, true);
  }

  #end(informer: Informer, drain: boolean = false): void {
    const end = informer.shutdown({ drain });
    this.#ends.add(end);
    void end.finally(() => this.#ends.delete(end));
  }
}

/** Whether the first cache is older than the second; false if the versions have no order. */
function isBehind(one: Informer, other: Informer): boolean {
  const versions = [one.lastSyncResourceVersion(), other.lastSyncResourceVersion()] as const;
  return versions.every(isComparableResourceVersion) && compareResourceVersions(...versions) < 0;
}
