/**
 * One kind in one namespace (or in all): one informer, which all views share. Two only for the moment in which whole
 * objects are wanted of what was followed as metadata: the metadata's readers and handlers move over when the new
 * one has caught up, and then the old one ends. Whole objects are never given up for metadata again.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import type { InformerOptions } from '../informer/options.ts';
import { SharedIndexInformer } from '../informer/shared-index-informer.ts';
import { compareResourceVersions, isComparableResourceVersion } from '../kube/resource-version.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { KubeObject } from '../kube/wire.ts';
import type { Depth, FieldIndexes } from './field-indexes.ts';
import type { Informer, ViewRegistration } from './view-registration.ts';

export interface ScopeParts {
  readonly source: KubeConfig;
  readonly resource: ResourceRef;
  readonly indexes: FieldIndexes;
  readonly options: InformerOptions<KubeObject>;
  /** The handlers of the metadata view. */
  readonly metadataHandlers: () => Iterable<ViewRegistration>;
}

export class Scope {
  readonly #parts: ScopeParts;
  #object: Informer | undefined;
  /** Until all have moved to `#object`. */
  #metadata: Informer | undefined;
  #moving: Promise<void> | undefined;
  readonly #ends: Set<Promise<void>> = new Set();

  constructor(parts: ScopeParts) {
    this.#parts = parts;
  }

  /** All that run. */
  get informers(): readonly Informer[] {
    return [this.#object, this.#metadata].filter((informer) => informer !== undefined);
  }

  /** What a view of this depth reads and listens to. */
  informer(depth: Depth): Informer | undefined {
    return depth === 'object' ? this.#object : (this.#metadata ?? this.#object);
  }

  isReady(depth: Depth): boolean {
    const informer = this.informer(depth);
    const isMoving = depth === 'object' && this.#metadata !== undefined;
    return informer !== undefined && informer.hasSynced() && !informer.isStopped() && !isMoving;
  }

  /** Starts what is missing. */
  ensure(depth: Depth): void {
    if (this.#object !== undefined || this.informer(depth) !== undefined) return;
    const informer = this.#start(depth);
    if (depth === 'metadata') {
      this.#metadata = informer;
      return;
    }
    this.#object = informer;
    if (this.#metadata) this.#moving = this.#moveTo(informer, this.#metadata);
    this.#moving?.catch(() => undefined);
  }

  /** Resolves when readers of metadata have moved; rejects with what prevents it. */
  async moved(): Promise<void> {
    await this.#moving;
  }

  /** Nobody wants whole objects any more. If the move is not over yet, it is called off. */
  abandonObjects(): void {
    const object = this.#object;
    if (!object || !this.#metadata) return;
    this.#object = undefined;
    this.#moving = undefined;
    this.#end(object);
  }

  /** @param depth which informers have these indexes */
  addIndexers(): void {
    for (const [informer, depth] of [
      [this.#object, 'object'],
      [this.#metadata, 'metadata'],
    ] as const) {
      if (!informer) continue;
      const known = informer.getIndexer().getIndexers();
      const missing = Object.entries(this.#parts.indexes.indexers(depth, new Set())).filter(
        ([name]) => !Object.hasOwn(known, name),
      );
      informer.addIndexers(Object.fromEntries(missing));
    }
  }

  /** Stops everything; resolves when the calls of handlers have returned as well. */
  async close(drain: boolean = false): Promise<void> {
    for (const informer of this.informers) this.#end(informer, drain);
    await Promise.all(this.#ends);
  }

  #start(depth: Depth): Informer {
    const { source, resource, indexes, options } = this.#parts;
    const fields = indexes.paths(depth);
    const informer = new SharedIndexInformer<KubeObject>(source, resource, {
      ...options,
      projection: depth,
      fields,
      indexers: indexes.indexers(depth, new Set(fields)),
    });
    // Why it ends, it reports itself; who waits for it hears of it too.
    informer.run().catch(() => undefined);
    return informer;
  }

  async #moveTo(object: Informer, metadata: Informer): Promise<void> {
    await object.waitForSync();
    while (this.#object === object && isBehind(object, metadata)) {
      await object.waitForResourceVersion(metadata.lastSyncResourceVersion());
    }
    if (this.#object !== object || object.isStopped()) return;
    // From here on in one turn: both caches stand still.
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

/** Versions without an order do not say. */
function isBehind(one: Informer, other: Informer): boolean {
  const versions = [one.lastSyncResourceVersion(), other.lastSyncResourceVersion()] as const;
  return versions.every(isComparableResourceVersion) && compareResourceVersions(...versions) < 0;
}
