/**
 * The internal part of an informer: the replica with indexes and entries, and the settings with which the threads fill
 * it. `SharedIndexInformer` attaches and detaches the pipeline.
 */
import type { Clock } from '../base/clock.ts';
import type { DoneProgress } from '../base/done-checker.ts';
import { KubeloomError, firstLineOf } from '../base/errors.ts';
import { isListerWatcher } from '../kube/lister-watcher.ts';
import type { ListerWatcher } from '../kube/lister-watcher.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { ServerSource } from '../kube/server-source.ts';
import type { EventLatency } from '../replica/deliver/event-latency.ts';
import type { SharedProcessor } from '../replica/deliver/processor-listener.ts';
import { InformerMerge } from '../replica/merge/informer-merge.ts';
import { MainTransform } from '../replica/merge/main-transform.ts';
import { DeltaKind } from '../shared/record/delta.ts';
import { EntryOwner } from '../replica/store/entry-owner.ts';
import { EntryTable } from '../replica/store/entry-table.ts';
import { declaredFields, checkIndexers } from '../replica/store/index-functions.ts';
import type { Indexers } from '../replica/store/index-functions.ts';
import { IndexSet } from '../replica/store/replica-state.ts';
import { ReplicaIndexer } from '../replica/store/indexer.ts';
import { CacheExports } from '../replica/store/cache-exports.ts';
import type { CacheExportStats } from '../replica/store/cache-exports.ts';
import { Replica } from '../replica/store/replica.ts';
import type { Slabs } from '../replica/store/slabs.ts';
import type { PipelineClient } from './threads/attachments.ts';
import type { InformerThreads } from './threads/informer-threads.ts';
import type { ReflectorPhase, ReflectorSpec, ShardSpec } from '../shared/protocol.ts';
import { Credentials } from '../http/credentials/credentials.ts';
import { acceptSpec, shardSpec } from './informer-options.ts';
import type { InformerOptions, ResolvedInformerOptions } from './informer-options.ts';
import type { ErrorReporter } from './error-reporter.ts';
import { splitTransform, checkTransform } from './transform.ts';
import type { Transform } from './transform.ts';
import type { InformerActivity } from './informer-activity.ts';
import { tweaking } from './tweak.ts';
import { CacheMutationDetector } from './mutation/cache-mutation-detector.ts';
import { deepFreeze } from '../base/deep-freeze.ts';

/** @internal */
export interface PipelineOptions<T> {
  readonly name: string;
  readonly source: ServerSource | ListerWatcher<T>;
  readonly resource: ResourceRef;
  readonly options: InformerOptions<T>;
  readonly resolved: ResolvedInformerOptions;
  readonly reflectorSpec: Omit<ReflectorSpec, 'objectBytesMax' | 'accept' | 'dropsManagedFields'>;
  readonly shards: number;
  readonly drainBudgetMs: number;
  readonly listener: SharedProcessor;
  readonly reports: ErrorReporter;
  readonly activity: InformerActivity;
  readonly clock: Clock;
}

/** @internal */
export interface PipelineEvents {
  readonly phase: (phase: ReflectorPhase) => void;
  readonly progress: (progress: DoneProgress) => void;
  /** Called when a whole list was applied. */
  readonly replaced: () => void;
  /** Called when the threads have failed; it is the last event. */
  readonly failed: (error: KubeloomError) => void;
}

/** Bytes of objects in an informer's memory, without free room. */
export interface StoreBytes {
  /** Bytes of objects as received, or in their codec. */
  readonly plain: number;
  /** Packed bytes of objects that did not change for a while. */
  readonly packed: number;
}

interface Attached {
  readonly threads: InformerThreads;
  readonly owner: EntryOwner;
  readonly merge: InformerMerge;
  /** Number of the informer on the shards; undefined until they have accepted it. */
  number: number | undefined;
}

const COMPACTIONS_PER_TURN = 2;

/** @internal */
export class InformerPipeline<T> {
  readonly #options: PipelineOptions<T>;
  /** Declared paths, including the paths of indexers that were added before start. */
  readonly #fields: string[];
  readonly #indexes: IndexSet;
  readonly replica: Replica;
  readonly indexer: ReplicaIndexer<T>;
  /** The other threads that read the cache. */
  #cacheExports: CacheExports | undefined;
  readonly #detector: CacheMutationDetector | undefined;
  /** Transform that was set last before start. */
  #transform: Transform<T> | undefined;
  #attached: Attached | undefined;
  #credentials: Credentials | undefined;
  #records = 0;
  readonly #onNextMerge: Set<() => void> = new Set();
  /** Time at which objects or bookmarks were merged last. */
  mergedMs: number | undefined;

  /**
   * @param admit throws if indexers can no longer be added; returns true if the shards have started
   * @param checkStarted throws when the informer was never started
   */
  constructor(options: PipelineOptions<T>, admit: () => boolean, checkStarted: () => void) {
    const { name, clock, shards, drainBudgetMs, listener, reports, resolved } = options;
    this.#options = options;
    if (resolved.mutationDetector === 'compare')
      this.#detector = new CacheMutationDetector({ name, clock, failureFunc: reports.mutation });
    this.#transform = options.options.transform;
    this.#fields = [...resolved.fields];
    const indexers = (options.options.indexers ?? {}) as Indexers;
    const table = new EntryTable();
    this.#indexes = new IndexSet(table, indexers, this.#fields.length, reports.object);
    this.replica = new Replica(table, shards, this.#indexes, listener);
    this.indexer = new ReplicaIndexer<T>(
      this.replica,
      this.#indexes,
      (added) => this.#admitIndexers(added as Indexers, admit()),
      checkStarted,
      { clock, budgetMs: drainBudgetMs },
    );
  }

  /** Calls a function once, after the next merge of objects or bookmarks. */
  onNextMerge(callback: () => void): void {
    this.#onNextMerge.add(callback);
  }

  /** Replaces the transform. @throws ERR_KUBELOOM_OPTION, and keeps the previous transform */
  setTransform(transform: Transform<T>): void {
    checkTransform(transform);
    this.#shardSpec(transform);
    this.#transform = transform;
  }

  /**
   * Starts to list and watch. Rejects if a shard cannot accept the informer, for example because it cannot load a
   * module.
   *
   * @param signal ends the attempt before the start, and later the detection of writes
   */
  async attach(threads: InformerThreads, events: PipelineEvents, signal: AbortSignal): Promise<void> {
    const owner = this.#newOwner(threads);
    const merge = this.#newMerge(threads, owner, events);
    const attached: Attached = { threads, owner, merge, number: undefined };
    this.#attached = attached;
    void this.#detector?.run({ signal });
    threads.drain.addMaintenance(this.#maintain);
    threads.storeMemory.packing.add(owner.packed, (cause) => this.#packingFailed(cause));
    attached.number = await threads.attach(this.#client(attached, events), signal);
  }

  /** Storage of the objects; undefined before `attach`. */
  get owner(): EntryOwner | undefined {
    return this.#attached?.owner;
  }

  /** The other threads that read the cache; created for the first such thread, after `attach`. */
  get cacheExports(): CacheExports {
    this.#cacheExports ??= new CacheExports(this.replica.table, () => this.#attached?.threads.requestRun());
    if (this.#attached) this.#attached.owner.readers = this.#cacheExports;
    return this.#cacheExports;
  }

  /** The threads that fill the cache; undefined before `attach`. */
  get threads(): InformerThreads | undefined {
    return this.#attached?.threads;
  }

  /** Figures of other threads; undefined before the first such thread. */
  get exportStats(): CacheExportStats | undefined {
    return this.#cacheExports?.stats;
  }

  get objectBytesMax(): number {
    return this.#attached?.threads.options.objectBytesMax ?? 0;
  }

  /** Declared paths, and indexes, from which the shards extract values; final after start. */
  get extracted(): { readonly fields: readonly string[]; readonly indexers: Indexers } {
    return { fields: this.#fields, indexers: this.#indexes.indexers };
  }

  get latency(): EventLatency {
    return this.#options.listener.latency;
  }

  /** Records merged into the cache so far. */
  get records(): number {
    return this.#attached?.merge.records ?? 0;
  }

  /** Objects that the shards ignored, because their version was not newer than the cache's. */
  get ignored(): number {
    return this.#attached?.merge.ignored ?? 0;
  }

  /** Bytes of objects in use, as received and packed, including objects of pending notifications. */
  get storeBytes(): StoreBytes {
    const { slabs, packed } = this.#attached?.owner ?? {};
    return { plain: slabs?.liveBytes ?? 0, packed: packed?.slabs.liveBytes ?? 0 };
  }

  /** Stops listing and watching; resolves when all received records are merged. */
  async detach(): Promise<void> {
    this.#credentials?.close();
    const attached = this.#attached;
    if (attached?.number === undefined) return;
    await attached.threads.detach(attached.number);
    attached.number = undefined;
  }

  /** Releases the pipeline's place in maintenance and packing. The caller calls it after the last delivery. */
  close(): void {
    if (!this.#attached) return;
    const { threads, owner } = this.#attached;
    threads.drain.removeMaintenance(this.#maintain);
    threads.storeMemory.packing.remove(owner.packed);
  }

  #shardSpec(
    transform: Transform<T> | undefined = this.#transform,
    indexers: Indexers = this.#indexes.indexers,
  ): ShardSpec {
    const { codec = 'json', view } = this.#options.options;
    return shardSpec(codec, this.#fields, indexers, transform, view);
  }

  #newOwner({ storeMemory, options }: InformerThreads): EntryOwner {
    const { resource, resolved, reports } = this.#options;
    return new EntryOwner(this.replica.table, {
      // Used in messages. The kind is empty if the resource was given without a kind.
      kind: resource.kind || resource.resource,
      fields: this.#fields,
      retainChecks: resolved.retainChecks,
      decodedCache: storeMemory.decodedCache,
      slabMemory: storeMemory.slabMemory,
      packing: { totalBytesMin: storeMemory.packBytesMin, looseBytesMax: storeMemory.looseBytesMax },
      objectBytesMax: options.objectBytesMax,
      report: reports.object,
      guard: this.#guard(),
      sharesMembers: this.#detector === undefined,
    });
  }

  /** Returns the function that receives every decoded object before the reader; undefined if detection is off. */
  #guard(): ((tree: unknown, key: string) => void) | undefined {
    const detector = this.#detector;
    if (detector) return (tree, key) => detector.addObject(tree, key);
    return this.#options.resolved.mutationDetector === 'freeze' ? deepFreeze : undefined;
  }

  #newMerge(threads: InformerThreads, owner: EntryOwner, events: PipelineEvents): InformerMerge {
    const { object: onError } = this.#options.reports;
    const { plain } = splitTransform(this.#transform);
    this.#indexes.fieldCount = this.#fields.length;
    return new InformerMerge({
      replica: this.replica,
      owner,
      transform: plain ? new MainTransform(plain, this.#fields, onError) : undefined,
      latency: this.latency,
      onError,
      onControl: (record) => {
        if (record.kind === DeltaKind.ReplaceEnd) events.replaced();
        if (record.kind === DeltaKind.Detach) threads.confirmDetached(record.informer);
      },
    });
  }

  #client({ threads, merge }: Attached, events: PipelineEvents): PipelineClient {
    const { reports, activity, source, options, reflectorSpec } = this.#options;
    const { tweakListOptions, view = 'object' } = options;
    const { objectBytesMax } = threads.options;
    const { storeMemory, shards } = threads;
    const packing = storeMemory.isPacking ? { packBytesMin: storeMemory.packBytesMin / shards } : {};
    const shardSpec = { ...this.#shardSpec(), ...packing };
    return {
      merge,
      shardSpec,
      reflectorSpec: { ...reflectorSpec, ...acceptSpec(view, shardSpec.drop), objectBytesMax },
      ...(isListerWatcher(source) ? { listerWatcher: source } : { connect: this.#connector(source) }),
      ...(tweakListOptions
        ? { tweak: tweaking(tweakListOptions, (error) => reports.report(error, 'request')) }
        : {}),
      error: reports.watch,
      restarted: (error) => reports.report(error, 'thread'),
      counters: activity.counters,
      activity: (received) => activity.receive(received),
      ...events,
    };
  }

  #connector(source: ServerSource): NonNullable<PipelineClient['connect']> {
    const { reports } = this.#options;
    const credentials = new Credentials(source, (error) => reports.report(error, 'credentials'));
    this.#credentials = credentials;
    return (isUnauthorized) => credentials.connection(isUnauthorized);
  }

  #admitIndexers(indexers: Indexers, isRunning: boolean): void {
    checkIndexers(indexers);
    const missing = declaredFields(indexers).filter((path) => !this.#fields.includes(path));
    if (!isRunning) {
      this.#shardSpec(this.#transform, { ...this.#indexes.indexers, ...indexers });
      this.#fields.push(...new Set(missing));
      return;
    }
    const modules = Object.values(indexers).filter(
      (indexer) => typeof indexer === 'object' && indexer.index === 'module',
    );
    if (missing.length === 0 && modules.length === 0) return;
    const what =
      missing.length > 0 ? `${missing.join(', ')} is not a declared field` : 'a module cannot be loaded';
    throw new KubeloomError(
      'ERR_KUBELOOM_STARTED',
      `${what}, and the informer is running: name it in \`fields\` or \`indexers\` when the informer is made`,
    );
  }

  #packingFailed(cause: unknown): void {
    const message = `packing has ended; unchanged objects keep their length: ${firstLineOf(cause)}`;
    const error = new KubeloomError('ERR_KUBELOOM_ASSERTION', message, { cause });
    this.#options.reports.report(error, 'lifecycle');
  }

  /** Runs after every round of the drain; returns true when there is more to do. */
  readonly #maintain = (): boolean => {
    if (!this.#attached) return false;
    const { merge, owner } = this.#attached;
    if (merge.records !== this.#records) this.#merged(merge.records);
    const { slabs, packed } = owner;
    const hasMore = compact(slabs) || compact(packed.slabs);
    return this.replica.dispose() || hasMore;
  };

  #merged(records: number): void {
    this.#records = records;
    this.mergedMs = this.#options.clock.now();
    this.#cacheExports?.merged();
    if (this.#onNextMerge.size === 0) return;
    const callbacks = [...this.#onNextMerge];
    this.#onNextMerge.clear();
    for (const callback of callbacks) callback();
  }
}

/** Empties a few slabs; returns true while there is more to do. */
function compact(slabs: Slabs): boolean {
  for (let count = 0; count < COMPACTIONS_PER_TURN && slabs.hasCompaction; count++) slabs.compact();
  return slabs.hasCompaction;
}
