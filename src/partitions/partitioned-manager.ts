/**
 * Controllers whose keys several members of a group share. A member runs a set of controllers, with separate caches,
 * for each owned partition. A partition that stays is not listed again when others move.
 */
import { realClock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import { onAbort } from '../base/on-abort.ts';
import { anything, callback, integer, oneOf, invalidOption, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import type { SignalOptions } from '../base/signal-options.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { ShardFilter } from '../kube/shard-filter.ts';
import { InformersMap } from '../informer/map/informers-map.ts';
import { partitionRanges } from '../index.ts';
import type { InformersMapOptions } from '../informer/map/map-options.ts';
import type { KubeObject, ResourceOf } from '../index.ts';
import { ControllerSet } from '../controller/controller-set.ts';
import { reporterOf } from '../controller/leader-election/reporter.ts';
import { ObjectClient } from '../controller/object-client.ts';
import type { ControllerBuilder, ControllerOptions } from '../controller/controller-options.ts';
import type { ObjectClientOptions } from '../controller/requests/request-options.ts';
import { PartitionCaches } from './partition-caches.ts';
import { PARTITION_GROUP_CHECKS, PartitionGroup } from './partition-group.ts';
import type { PartitionGroupOptions } from './partition-group.ts';
import type { Tenure } from './tenure.ts';

/** A partition's part of the manager: declares the controllers of the partition. */
export interface PartitionControllers {
  /** Number of the partition, from 0. */
  readonly partition: number;
  /** Number of the period in which this member owns the partition; a later owner's number is greater. */
  readonly epoch: number;
  /** Caches with only the partition's objects, filled before the first reconciliation. */
  readonly cache: InformersMap;
  /**
   * Client whose writes need preconditions, and which stops writing when the partition is lost: see
   * `ObjectClient.fenced`.
   */
  readonly client: ObjectClient;
  /**
   * Declares a controller, as `Manager.controllerFor`. The reconciliations end before another member owns the
   * partition. Their signal is aborted when the partition is lost, not yet when it is handed over.
   */
  readonly controllerFor: <T = KubeObject>(
    kind: ResourceOf<T> | KindLike,
    options?: ControllerOptions<T>,
  ) => ControllerBuilder;
}

/** Options of a `PartitionedManager`. */
export interface PartitionedManagerOptions extends Omit<PartitionGroupOptions, 'threads'> {
  /**
   * Text whose hash selects the partition. `uid`: objects of a kind, spread evenly; `owns` and `watches` are refused.
   * `namespace`: all objects of a namespace are in the same partition.
   */
  readonly key: 'uid' | 'namespace';
  /**
   * Called for each partition that this member comes to own. An error gives the partition back; the manager tries it
   * again later. ERR_KUBELOOM_OPTION and ERR_KUBELOOM_PARTITION end the run: another attempt would fail in the same way.
   */
  readonly declare: (controllers: PartitionControllers) => void;
  /** Options of the controllers' client: field manager, receiver of the server's warnings. */
  readonly client?: ObjectClientOptions;
  /** Options of the caches of all kinds. */
  readonly cache?: Omit<InformersMapOptions, 'shardSelector' | 'list'> & {
    readonly list?: Omit<NonNullable<InformersMapOptions['list']>, 'initialList'>;
  };
  /** Time for filling the caches of a partition; after that the partition is given back. Default: 120,000. */
  readonly cacheSyncTimeoutMs?: number;
}

const { threads: _threads, ...GROUP_CHECKS } = PARTITION_GROUP_CHECKS;
const CHECKS: OptionChecks<PartitionedManagerOptions> = {
  ...GROUP_CHECKS,
  key: oneOf('uid', 'namespace'),
  declare: callback,
  // The ObjectClient checks them.
  client: anything,
  cache: checkCacheOptions,
  cacheSyncTimeoutMs: integer(1),
};

/** Runs controllers in several processes at once: each process works on its own partitions of the objects. */
export class PartitionedManager {
  /** Name of this member: the option `identity`, or its default. */
  readonly identity: string;
  readonly #options: PartitionedManagerOptions;
  readonly #group: PartitionGroup;
  readonly #client: ObjectClient;
  readonly #caches: PartitionCaches;
  /** The controllers that run. */
  readonly #sets: Set<ControllerSet> = new Set();

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(source: ServerSource, options: PartitionedManagerOptions) {
    checkOptions('options of a partitioned manager', options, CHECKS);
    for (const name of ['key', 'declare'] as const)
      if (options[name] === undefined) invalidOption(name, undefined, 'given');
    const {
      key,
      declare: _declare,
      client: _client,
      cache = {},
      cacheSyncTimeoutMs: _timeout,
      ...ofGroup
    } = options;
    const { threads } = cache;
    this.#options = options;
    this.#group = new PartitionGroup(source, { ...ofGroup, ...(threads ? { threads } : {}) }, key);
    this.identity = this.#group.identity;
    this.#client = new ObjectClient(source, options.client);
    const { namespace, clock = realClock, log } = options;
    const list = { ...cache.list, initialList: 'latest' } as const;
    const ofCaches = { ...(log ? { log } : {}), ...cache, list };
    this.#caches = new PartitionCaches(source, ofCaches, namespace, clock);
  }

  /** The partitions whose keys this member may work on now. */
  get owned(): readonly number[] {
    return this.#group.owned;
  }

  /**
   * Takes part in the group until the signal is aborted: runs the controllers of each owned partition. Resolves when
   * all reconciliations have ended and all partitions are handed over. A manager runs once.
   *
   * @throws ERR_KUBELOOM_OPTION when an older member of the group uses another number of partitions or another key, or
   *   when controllers are declared wrongly, ERR_KUBELOOM_PARTITION, ERR_KUBELOOM_STARTED, ERR_KUBELOOM_STILL_RUNNING, naming the keys, when reconciliations did not end in time after
   *   the stop, and the error of the informer on the Leases, if it ended by itself
   */
  async run(options: Required<SignalOptions>): Promise<void> {
    try {
      await this.#group.run(options, (tenure) => this.#work(tenure));
    } catch (error) {
      throw this.#unfinished(error) ?? error;
    } finally {
      await this.#caches.close();
    }
  }

  /** Returns the error with the keys whose reconciliations did not end. */
  #unfinished(cause: unknown): KubeloomError | undefined {
    if (!(cause instanceof KubeloomError) || cause.code !== 'ERR_KUBELOOM_STILL_RUNNING') return undefined;
    const busy = [...this.#sets].flatMap((set) => set.controllers).filter(({ inWork }) => inWork.length > 0);
    const what = busy.map(({ name, inWork }) => `${name} ${inWork.join(', ')}`).join('; ');
    const message = `${cause.message}: ${what || 'no reconciliation'}; pass the signal of a reconciliation to everything that it waits for`;
    return new KubeloomError('ERR_KUBELOOM_STILL_RUNNING', message, { cause });
  }

  async #work(tenure: Tenure): Promise<void> {
    const { key, declare, name, onError, cacheSyncTimeoutMs, clock = realClock, log } = this.#options;
    const { partition, epoch, signal, drainSignal } = tenure;
    const selector = partitionRanges([partition], this.#group.partitions, key);
    const stop = new AbortController();
    let failure: { readonly error: unknown } | undefined;
    const failed = (error: unknown): void => {
      failure ??= { error };
      stop.abort(error);
    };
    const unlisten = onAbort(drainSignal, () => stop.abort(drainSignal.reason));
    try {
      await using caches = await this.#caches.open(selector, stop.signal);
      const { cache } = caches;
      const client = this.#client.fenced(signal);
      const filter = new ShardFilter(selector);
      const foreign = reporterOf(`group ${name}`, onError, log);
      await using set = new ControllerSet(
        { cache, client, clock, log, filter, foreign },
        ` (partition ${partition})`,
      );
      this.#sets.add(set);
      using _running = { [Symbol.dispose]: () => void this.#sets.delete(set) };
      declare({ partition, epoch, cache, client, controllerFor: set.controllerFor.bind(set) });
      set.start();
      await set.fill(stop.signal, failed, cacheSyncTimeoutMs);
      if (!stop.signal.aborted) await caches.current(set.handles);
      if (!stop.signal.aborted) tenure.synced();
      const running = stop.signal.aborted ? [] : set.controllers;
      await Promise.all(running.map((each) => each.run(stop.signal, signal).catch(failed)));
    } finally {
      unlisten();
    }
    if (failure) throw failure.error;
  }
}

/** The caches check the other options. */
function checkCacheOptions(name: string, value: unknown): void {
  const { shardSelector, list } = Object(value) as Partial<InformersMapOptions>;
  const ofPartition = { shardSelector, 'list.initialList': list?.initialList };
  for (const [option, given] of Object.entries(ofPartition))
    if (given !== undefined) invalidOption(`${name}.${option}`, given, "absent: it is the partition's");
}
