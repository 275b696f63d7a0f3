/**
 * What lies behind one informer: its replica with indexes and entries, and what the threads must know to
 * fill it. Users never see it; `SharedIndexInformer` decides when it is attached and detached.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import type { DoneProgress } from '../done-checker.ts';
import { KubeloomError } from '../errors.ts';
import { isListerWatcher } from '../kube/list-watch.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { InformerMerge } from '../processor/informer-merge.ts';
import { MainTransform } from '../processor/main-transform.ts';
import { DeltaKind } from '../record/delta.ts';
import type { ControlRecord } from '../record/delta.ts';
import { EntryOwner } from '../store/entry-owner.ts';
import { declaredFields, wantIndexers } from '../store/index-functions.ts';
import type { Indexers } from '../store/index-functions.ts';
import { IndexSet } from '../store/index-values.ts';
import { ReplicaIndexer } from '../store/indexer.ts';
import { Replica } from '../store/replica.ts';
import type { ReplicaListener } from '../store/replica.ts';
import type { Slabs } from '../store/slabs.ts';
import type { PipelineClient } from '../threads/attachment.ts';
import type { InformerThreads } from '../threads/informer-threads.ts';
import type { ReflectorPhase, ReflectorSpec } from '../threads/protocol.ts';
import { Credentials } from '../transport/credentials.ts';
import { shardSpec } from './options.ts';
import type { InformerOptions, ResolvedInformerOptions } from './options.ts';
import type { Reports } from './reports.ts';
import { splitTransform } from './transform.ts';
import type { Transform } from './transform.ts';
import { refusedOptions, tweaked } from './tweak.ts';
import type { TweakListOptions } from './tweak.ts';

export interface PipelineOptions<T> {
  readonly source: KubeConfig | ListerWatcher<T>;
  readonly resource: ResourceRef;
  readonly options: InformerOptions<T>;
  readonly resolved: ResolvedInformerOptions;
  readonly reflectorSpec: Omit<ReflectorSpec, 'recordBytesMax'>;
  readonly threads: InformerThreads;
  readonly listener: ReplicaListener;
  readonly reports: Reports;
  /** Sees what is decoded before anybody else does. */
  readonly guard: ((tree: unknown, key: string) => void) | undefined;
}

/** What an informer is told while it runs. */
export interface PipelineEvents {
  phase(phase: ReflectorPhase): void;
  progress(progress: DoneProgress): void;
  /** Records were merged; once for a batch. */
  merged(): void;
  /** A list was applied as a whole. */
  replaced(): void;
  /** The threads are gone; nothing more will come. */
  failed(error: KubeloomError): void;
}

/** Slabs emptied between two batches of the merge. */
const COMPACTIONS_PER_TURN = 2;

export class InformerPipeline<T> {
  readonly #options: PipelineOptions<T>;
  /** Declared paths; those of indexers that are added before start join them. */
  readonly #fields: string[];
  readonly #indexes: IndexSet;
  readonly #owner: EntryOwner;
  readonly replica: Replica;
  readonly indexer: ReplicaIndexer<T>;
  /** The last one that was set before start. */
  transform: Transform<T> | undefined;
  #number: number | undefined;
  #credentials: Credentials | undefined;
  /** Looks whether something was merged. */
  #look: () => void = () => {};

  /** @param admit throws when no indexers can be added any more; true when shards have started */
  constructor(options: PipelineOptions<T>, admit: () => boolean) {
    const { resource, threads, listener, reports, resolved, guard } = options;
    this.#options = options;
    this.transform = options.options.transform;
    this.#fields = [...resolved.fields];
    const indexers = (options.options.indexers ?? {}) as Indexers;
    this.#indexes = new IndexSet(indexers, this.#fields.length, reports.object);
    this.replica = new Replica(threads.shards, this.#indexes, listener);
    this.indexer = new ReplicaIndexer<T>(this.replica, this.#indexes, (added) =>
      this.#admitIndexers(added as Indexers, admit()),
    );
    this.#owner = new EntryOwner({
      // In messages; nobody knows the kind of what was only named by its resource.
      kind: resource.kind || resource.resource,
      fields: this.#fields,
      lifetimes: resolved.lifetimes,
      decodedCache: threads.storeMemory.decodedCache,
      slabMemory: threads.storeMemory.slabMemory,
      packing: { totalBytesMin: threads.storeMemory.packBytesMin },
      recordBytesMax: threads.options.recordBytesMax,
      guard,
    });
  }

  /** Starts to list and watch. Rejects when a shard cannot take it, e.g. cannot load a module. */
  async attach(events: PipelineEvents): Promise<void> {
    const { threads } = this.#options;
    threads.drain.addUpkeep(this.#upkeep);
    threads.storeMemory.packing.add(this.#owner.packed);
    this.#number = await threads.attach(this.#client(events));
  }

  /** Stops listing and watching; resolves when everything that was sent is merged. */
  async detach(): Promise<void> {
    this.#credentials?.close();
    if (this.#number !== undefined) await this.#options.threads.detach(this.#number);
    this.#number = undefined;
  }

  /** After the last delivery. */
  close(): void {
    const { drain, storeMemory } = this.#options.threads;
    drain.removeUpkeep(this.#upkeep);
    storeMemory.packing.remove(this.#owner.packed);
  }

  #client(events: PipelineEvents): PipelineClient {
    const { threads, reports, source, options, reflectorSpec } = this.#options;
    const fields = this.#fields;
    this.#indexes.fieldCount = fields.length;
    const { plain } = splitTransform(this.transform);
    const merge = new InformerMerge({
      replica: this.replica,
      owner: this.#owner,
      transform: plain ? new MainTransform(plain, fields, reports.object) : undefined,
      onError: reports.object,
      onControl: (record) => this.#controlled(record, events),
    });
    this.#look = lookFor(merge, () => events.merged());
    return {
      merge,
      shardSpec: shardSpec(options.codec ?? 'json', fields, this.#indexes.indexers, this.transform),
      reflectorSpec: { ...reflectorSpec, recordBytesMax: threads.options.recordBytesMax },
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

  #credentialsFor(source: KubeConfig): Credentials {
    this.#credentials = new Credentials(source, this.#options.reports.report);
    return this.#credentials;
  }

  #controlled(record: ControlRecord, events: PipelineEvents): void {
    if (record.kind === DeltaKind.ReplaceEnd) events.replaced();
    if (record.kind === DeltaKind.Detach) this.#options.threads.confirmDetached(record.informer);
  }

  #admitIndexers(indexers: Indexers, isRunning: boolean): void {
    wantIndexers(indexers);
    const missing = declaredFields(indexers).filter((path) => !this.#fields.includes(path));
    if (!isRunning) {
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
    const { slabs, packed } = this.#owner;
    const hasMore = compact(slabs) || compact(packed.slabs);
    return this.replica.dispose() || hasMore;
  };
}

/** True while there is more to do. */
function compact(slabs: Slabs): boolean {
  for (let count = 0; count < COMPACTIONS_PER_TURN && slabs.hasCompaction; count++) slabs.compact();
  return slabs.hasCompaction;
}

/** Calls back when something was merged since the last look. */
function lookFor(merge: InformerMerge, onMerged: () => void): () => void {
  let { records } = merge;
  return () => {
    if (merge.records === records) return;
    records = merge.records;
    onMerged();
  };
}

function tweaking(tweak: TweakListOptions, reports: Reports): NonNullable<PipelineClient['tweak']> {
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
