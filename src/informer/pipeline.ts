/**
 * The internal part of one informer: its replica with indexes and entries, and the settings with which the threads
 * fill it. `SharedIndexInformer` attaches and detaches it.
 */
import type { DoneProgress } from '../base/done-checker.ts';
import { KubeloomError } from '../base/errors.ts';
import { isListerWatcher } from '../kube/list-watch.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { InformerMerge } from '../replica/merge/informer-merge.ts';
import { MainTransform } from '../replica/merge/main-transform.ts';
import { DeltaKind } from '../shared/record/delta.ts';
import { EntryOwner } from '../replica/store/entry-owner.ts';
import { declaredFields, wantIndexers } from '../replica/store/index-functions.ts';
import type { Indexers } from '../replica/store/index-functions.ts';
import { IndexSet } from '../replica/store/replica-state.ts';
import { ReplicaIndexer } from '../replica/store/indexer.ts';
import { Replica } from '../replica/store/replica.ts';
import type { ReplicaListener } from '../replica/store/replica.ts';
import type { Slabs } from '../replica/store/slabs.ts';
import type { PipelineClient } from './threads/attachments.ts';
import type { InformerThreads } from './threads/informer-threads.ts';
import type { ReflectorPhase, ReflectorSpec, ShardSpec } from '../shared/protocol.ts';
import { Credentials } from '../reflector/transport/credentials.ts';
import { shardSpec } from './options.ts';
import type { InformerOptions } from './options.ts';
import type { ResolvedInformerOptions } from './resolve-options.ts';
import type { ErrorReporter } from './error-reporter.ts';
import { splitTransform, wantTransform } from './transform.ts';
import type { Transform } from './transform.ts';
import { refusedOptions, tweaked } from './tweak.ts';
import type { TweakListOptions } from './tweak.ts';

export interface PipelineOptions<T> {
  readonly source: ServerSource | ListerWatcher<T>;
  readonly resource: ResourceRef;
  readonly options: InformerOptions<T>;
  readonly resolved: ResolvedInformerOptions;
  readonly reflectorSpec: Omit<ReflectorSpec, 'objectBytesMax'>;
  readonly shards: number;
  readonly listener: ReplicaListener;
  readonly reports: ErrorReporter;
  /** Receives each decoded object before its reader. */
  readonly guard: ((tree: unknown, key: string) => void) | undefined;
}

/** Events of a running pipeline. */
export interface PipelineEvents {
  phase(phase: ReflectorPhase): void;
  progress(progress: DoneProgress): void;
  /** Called once for a batch of merged records. */
  merged(): void;
  /** Called when a whole list was applied. */
  replaced(): void;
  /** Called when the threads have failed; no event follows. */
  failed(error: KubeloomError): void;
}

/** State of an attached pipeline: its threads, and the owner of its entries. */
interface Attached {
  readonly threads: InformerThreads;
  readonly owner: EntryOwner;
  /** Number of the informer on the shards; undefined until they have accepted it. */
  number: number | undefined;
}

/** Slabs that one round of maintenance may empty. */
const COMPACTIONS_PER_TURN = 2;

export class InformerPipeline<T> {
  readonly #options: PipelineOptions<T>;
  /** Declared paths, including those of indexers that were added before start. */
  readonly #fields: string[];
  readonly #indexes: IndexSet;
  readonly replica: Replica;
  readonly indexer: ReplicaIndexer<T>;
  /** Transform that was set last before start. */
  #transform: Transform<T> | undefined;
  #attached: Attached | undefined;
  #credentials: Credentials | undefined;
  /** Reports merged records since its last call. */
  #look: () => void = () => {};

  /**
   * @param admit throws when indexers can no longer be added; returns true when the shards have started
   * @param wantStarted throws when the informer was never started
   */
  constructor(options: PipelineOptions<T>, admit: () => boolean, wantStarted: () => void) {
    const { shards, listener, reports, resolved } = options;
    this.#options = options;
    this.#transform = options.options.transform;
    this.#fields = [...resolved.fields];
    const indexers = (options.options.indexers ?? {}) as Indexers;
    this.#indexes = new IndexSet(indexers, this.#fields.length, reports.object);
    this.replica = new Replica(shards, this.#indexes, listener);
    this.indexer = new ReplicaIndexer<T>(
      this.replica,
      this.#indexes,
      (added) => this.#admitIndexers(added as Indexers, admit()),
      wantStarted,
    );
  }

  /** Replaces the transform. @throws ERR_KUBELOOM_OPTION, and keeps the previous transform */
  setTransform(transform: Transform<T>): void {
    wantTransform(transform);
    this.#shardSpec(transform);
    this.#transform = transform;
  }

  /**
   * Starts to list and watch. Rejects when a shard cannot accept the informer, e.g. cannot load a module.
   *
   * @param signal ends the attempt; then nothing has started
   */
  async attach(threads: InformerThreads, events: PipelineEvents, signal: AbortSignal): Promise<void> {
    const attached: Attached = { threads, owner: this.#newOwner(threads), number: undefined };
    this.#attached = attached;
    threads.drain.addUpkeep(this.#upkeep);
    threads.storeMemory.packing.add(attached.owner.packed);
    attached.number = await threads.attach(this.#client(attached, events), signal);
  }

  /** Stops listing and watching; resolves when all records that were sent are merged. */
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
    threads.drain.removeUpkeep(this.#upkeep);
    threads.storeMemory.packing.remove(owner.packed);
  }

  #shardSpec(
    transform: Transform<T> | undefined = this.#transform,
    indexers: Indexers = this.#indexes.indexers,
  ): ShardSpec {
    return shardSpec(this.#options.options.codec ?? 'json', this.#fields, indexers, transform);
  }

  #newOwner({ storeMemory, options }: InformerThreads): EntryOwner {
    const { resource, resolved, guard } = this.#options;
    return new EntryOwner({
      // Used in messages. A resource that was given without its kind has an empty kind.
      kind: resource.kind || resource.resource,
      fields: this.#fields,
      borrowChecks: resolved.borrowChecks,
      decodedCache: storeMemory.decodedCache,
      slabMemory: storeMemory.slabMemory,
      packing: { totalBytesMin: storeMemory.packBytesMin },
      objectBytesMax: options.objectBytesMax,
      guard,
    });
  }

  #client({ threads, owner }: Attached, events: PipelineEvents): PipelineClient {
    const { reports, source, options, reflectorSpec } = this.#options;
    const fields = this.#fields;
    this.#indexes.fieldCount = fields.length;
    const { plain } = splitTransform(this.#transform);
    const merge = new InformerMerge({
      replica: this.replica,
      owner,
      transform: plain ? new MainTransform(plain, fields, reports.object) : undefined,
      onError: reports.object,
      onControl: (record) => {
        if (record.kind === DeltaKind.ReplaceEnd) events.replaced();
        if (record.kind === DeltaKind.Detach) threads.confirmDetached(record.informer);
      },
    });
    this.#look = lookFor(merge, () => events.merged());
    return {
      merge,
      shardSpec: this.#shardSpec(),
      reflectorSpec: { ...reflectorSpec, objectBytesMax: threads.options.objectBytesMax },
      ...(isListerWatcher(source)
        ? { listerWatcher: source }
        : { prepare: preparing(this.#credentialsFor(source)) }),
      ...(options.tweakListOptions ? { tweak: tweaking(options.tweakListOptions, reports) } : {}),
      phase: (phase) => events.phase(phase),
      progress: (progress) => events.progress(progress),
      error: (_during, error) => reports.watch(error),
      restarted: (error) => reports.report(error),
      failed: (error) => events.failed(error),
    };
  }

  #credentialsFor(source: ServerSource): Credentials {
    this.#credentials = new Credentials(source, this.#options.reports.report);
    return this.#credentials;
  }

  #admitIndexers(indexers: Indexers, isRunning: boolean): void {
    wantIndexers(indexers);
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
      'ERR_KUBELOOM_INDEX_TOO_LATE',
      `${what}, and the informer is running: name it in \`fields\` or \`indexers\` when the informer is made`,
    );
  }

  readonly #upkeep = (): boolean => {
    this.#look();
    if (!this.#attached) return false;
    const { slabs, packed } = this.#attached.owner;
    const hasMore = compact(slabs) || compact(packed.slabs);
    return this.replica.dispose() || hasMore;
  };
}

/** Empties a few slabs; returns true while there is more to do. */
function compact(slabs: Slabs): boolean {
  for (let count = 0; count < COMPACTIONS_PER_TURN && slabs.hasCompaction; count++) slabs.compact();
  return slabs.hasCompaction;
}

/** Returns a function that calls `onMerged` when records were merged since its previous call. */
function lookFor(merge: InformerMerge, onMerged: () => void): () => void {
  let { records } = merge;
  return () => {
    if (merge.records === records) return;
    records = merge.records;
    onMerged();
  };
}

function tweaking(tweak: TweakListOptions, reports: ErrorReporter): NonNullable<PipelineClient['tweak']> {
  let isReported = false;
  return (query) =>
    tweaked(query, tweak, (names) => {
      if (!isReported) reports.report(refusedOptions(names));
      isReported = true;
    });
}

function preparing(credentials: Credentials): NonNullable<PipelineClient['prepare']> {
  return async (_verb, query, isRefused) => ({ connection: await credentials.connection(isRefused), query });
}
