/**
 * Membership in a group whose members share a fixed number of partitions. The group's state is on Leases only: a Lease
 * for each partition, and a Lease for each member as the heartbeat. The guarantees are in docs/sharding.md.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { KubeloomError, withCode } from '../base/errors.ts';
import { aLogger } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import { registerMetrics } from '../metrics/collect.ts';
import { onAbort } from '../base/on-abort.ts';
import {
  anything,
  callback,
  clock as aClock,
  integer,
  number,
  invalidOption,
  text,
  checkOptions,
} from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { requiredSignal } from '../base/signal-options.ts';
import type { SignalOptions } from '../base/signal-options.ts';
import { isNamespaceName } from '../kube/resource.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { SharedIndexInformer, resources, waitFor } from '../index.ts';
import type { Borrowed, InformerThreads, ThreadsOptions, WireOf } from '../index.ts';
import { TIMES_CHECKS, timesOf } from '../controller/leader-election/election-times.ts';
import type { ElectionTimes } from '../controller/leader-election/election-times.ts';
import { LeaseLock, storedOf } from '../controller/leader-election/lease-lock.ts';
import { reporterOf } from '../controller/leader-election/reporter.ts';
import type { StoredRecord } from '../controller/leader-election/resource-lock.ts';
import { ObjectClient } from '../controller/object-client.ts';
import { GROUP_LABEL } from './lease-requests.ts';
import { PartitionMember } from './partition-member.ts';
import { PartitionMetrics } from './partition-metrics.ts';
import { isHeld } from './member-state.ts';
import type { WorkOnPartition } from './tenure.ts';

type Lease = WireOf<'coordination', 'v1', 'Lease'>;

const { leases } = resources.coordination.v1;

const PARTITIONS = 16;
const PARTITIONS_MAX = 256;
const DRAIN_TIMEOUT_MS = 30_000;
/** Time for the release of partitions whose works were aborted at the end of a drain. */
const RELEASE_MS = 5000;

/** Options of a group of members. */
export interface PartitionGroupOptions extends ElectionTimes {
  /** Name of the group, a DNS label. The Leases are `NAME-partition-07` and `NAME-member-IDENTITY.INCARNATION.1`. */
  readonly name: string;
  /** Namespace of the leases. */
  readonly namespace: string;
  /** Name of this member, a DNS label, unique in the group. Default: the host's name and a random part. */
  readonly identity?: string;
  /** Number of partitions; must be equal in every member. Default: 16. */
  readonly partitions?: number;
  /** Time for the work to end when a partition is handed over; after that the work is aborted. Default: 30,000. */
  readonly drainTimeoutMs?: number;
  /**
   * Time for all work to end after the stop; after that the work is aborted, `run` rejects, and the partitions are free a
   * lease later. Default: 5 s after the latest release of an aborted work: `drainTimeoutMs` + `leaseDurationMs` -
   * `renewDeadlineMs` + 5000.
   */
  readonly shutdownTimeoutMs?: number;
  /** Threads of the informer on the leases. Default: the threads that all informers of the process share. */
  readonly threads?: InformerThreads | ThreadsOptions;
  /**
   * Called once, when the member takes part and the claimed partitions are active: a readiness probe may succeed. Not
   * called while the member rests after a work that failed.
   */
  readonly onReady?: () => void;
  /** Called with each lost partition and each failed request (requests are retried). Default: a process warning. */
  readonly onError?: (error: KubeloomError) => void;
  /**
   * Receives a line for each lost partition and each failed request; of a `PartitionedManager`, also the lines of
   * controllers and caches. Default: none.
   */
  readonly log?: Logger;
  /**
   * Clock of lease durations, time-outs and metrics; of a `PartitionedManager`, also of the controllers. Default: the
   * real clock.
   */
  readonly clock?: Clock;
}

export const PARTITION_GROUP_CHECKS: OptionChecks<PartitionGroupOptions> = {
  ...TIMES_CHECKS,
  name: label,
  namespace: label,
  identity: label,
  partitions: integer(1, PARTITIONS_MAX),
  drainTimeoutMs: number(0),
  shutdownTimeoutMs: number(0),
  // The informer checks them.
  threads: anything,
  onReady: callback,
  onError: callback,
  log: aLogger,
  clock: aClock,
};

/** A member of a group. */
export class PartitionGroup {
  /** Name of this member: the option `identity`, or its default. */
  readonly identity: string;
  /** Number of partitions of the group; they are numbered from 0. */
  readonly partitions: number;
  readonly #source: ServerSource;
  readonly #options: PartitionGroupOptions;
  readonly #times: Required<ElectionTimes>;
  readonly #client: ObjectClient;
  readonly #division: string;
  readonly #report: (error: KubeloomError) => void;
  #member: PartitionMember | undefined;

  /**
   * @param division name of the way in which partitions divide keys, besides the number of partitions
   * @throws ERR_KUBELOOM_OPTION
   */
  constructor(source: ServerSource, options: PartitionGroupOptions, division = 'partitions') {
    checkOptions('options of a group of partitions', options, PARTITION_GROUP_CHECKS);
    for (const name of ['name', 'namespace'] as const) label(name, options[name]);
    const { partitions = PARTITIONS, identity = defaultIdentity() } = options;
    this.#source = source;
    this.#options = options;
    this.#times = timesOf(options);
    this.#client = new ObjectClient(source);
    this.#report = reporterOf(`group ${options.name}`, options.onError, options.log);
    this.#division = `${division}-${partitions}`;
    this.identity = identity;
    this.partitions = partitions;
  }

  /** The partitions whose work may run in this member now. */
  get owned(): readonly number[] {
    const partitions = this.#member?.partitions ?? [];
    return partitions.flatMap((partition, index) => (isHeld(partition) ? [index] : []));
  }

  /**
   * Takes part in the group until the signal is aborted: calls `work` for each partition that this member comes to own.
   * Resolves when all partitions are handed over. A group object runs once.
   *
   * @throws ERR_KUBELOOM_OPTION when an older member of the group uses another number of partitions, or when a work
   *   rejects with it before `synced`: then the other partitions are handed over first; ERR_KUBELOOM_STILL_RUNNING when work did not end in time after the stop, ERR_KUBELOOM_STARTED, and the error of
   *   the informer on the Leases, if it ended by itself
   */
  async run(options: Required<SignalOptions>, work: WorkOnPartition): Promise<void> {
    const signal = requiredSignal('run()', options);
    callback('work', work);
    const { name, namespace, threads, clock = realClock } = this.#options;
    if (this.#member) {
      const message = `the member ${this.identity} of ${namespace}/${name} was already started: create a new PartitionGroup`;
      throw new KubeloomError('ERR_KUBELOOM_STARTED', message);
    }
    const { retryPeriodMs } = this.#times;
    const metrics = new PartitionMetrics(`${namespace}/${name}`, clock, () => this.#member?.partitions ?? []);
    this.#member = this.#newMember(work, metrics);
    const informer = new SharedIndexInformer(this.#source, leases, {
      namespace,
      labelSelector: `${GROUP_LABEL}=${name}`,
      list: { initialList: 'latest' },
      // The others wait for a member that renews its heartbeat: after an outage it follows them as soon as it renews.
      backoff: { initialMs: retryPeriodMs, maxMs: retryPeriodMs },
      onError: this.#report,
      ...(threads ? { threads } : {}),
    });
    const registration = registerMetrics(metrics);
    const leave = new AbortController();
    const unlisten = onAbort(signal, () => leave.abort());
    const end = new AbortController();
    let failure: { readonly error: unknown } | undefined;
    const failed = (error: unknown): void => {
      failure = { error };
    };
    const following = informer
      .run(end)
      .catch(failed)
      .finally(() => leave.abort());
    try {
      if (!signal.aborted && (await this.#isSynced(informer, leave.signal)))
        await this.#member.run(leave.signal);
    } finally {
      unlisten();
      end.abort();
      registration.end();
      await following;
    }
    if (failure) throw failure.error;
  }

  /** Waits until the member has received all Leases; false if it is stopped before. */
  async #isSynced(informer: SharedIndexInformer<Lease>, signal: AbortSignal): Promise<boolean> {
    const see = (lease: Borrowed<Lease>, stored: StoredRecord | undefined): void =>
      this.#member?.see(lease.name, stored);
    const { hasSyncedChecker } = informer.addEventHandler({
      onAdd: (lease) => see(lease, storedOf(lease.object)),
      onUpdate: (_, lease) => see(lease, storedOf(lease.object)),
      onDelete: (deleted) => see(deleted.finalStateUnknown ? deleted.last : deleted, undefined),
    });
    try {
      await waitFor(`group ${this.#options.name}`, { signal }, hasSyncedChecker);
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
    return true;
  }

  #newMember(work: WorkOnPartition, metrics: PartitionMetrics): PartitionMember {
    const { name: group, namespace, clock = realClock } = this.#options;
    const { leaseDurationMs, renewDeadlineMs } = this.#times;
    const { drainTimeoutMs = DRAIN_TIMEOUT_MS } = this.#options;
    const latestReleaseMs = drainTimeoutMs + leaseDurationMs - renewDeadlineMs;
    const { onReady = () => undefined } = this.#options;
    const { identity } = this;
    const labels = { [GROUP_LABEL]: group };
    return new PartitionMember({
      group,
      identity,
      rules: {
        ...this.#times,
        drainTimeoutMs,
        partitionCount: this.partitions,
        division: this.#division,
      },
      lockOf: (name) => new LeaseLock({ client: this.#client, namespace, name, identity, labels }),
      work,
      forget: (name, version) => void this.#forget(name, version),
      onChanged: (partition, before, after) => metrics.changed(partition, before, after),
      onError: this.#report,
      onReady,
      shutdownTimeoutMs: this.#options.shutdownTimeoutMs ?? latestReleaseMs + RELEASE_MS,
      clock,
      random: Math.random,
    });
  }

  async #forget(name: string, resourceVersion: string): Promise<void> {
    const { namespace } = this.#options;
    try {
      await this.#client.delete(leases, { namespace, name }, { resourceVersion });
    } catch (error) {
      const { code } = withCode(error);
      // Another member was first, or the Lease is in use again.
      if (code !== 'ERR_KUBELOOM_NOT_FOUND' && code !== 'ERR_KUBELOOM_CONFLICT')
        this.#report(withCode(error));
    }
  }
}

function label(name: string, value: unknown): void {
  text(name, value);
  if (!isNamespaceName(value as string))
    invalidOption(name, value, 'a DNS label: up to 63 lower-case letters, digits and -');
}

function defaultIdentity(): string {
  const host = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 50);
  return `${host}-${randomUUID().slice(0, 8)}`;
}
