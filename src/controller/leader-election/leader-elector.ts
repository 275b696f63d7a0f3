/**
 * Leader election on a Lease: of several processes with the same Lease, at most one works. The rules and defaults are
 * client-go's; the guarantees are in docs/leader-election.md.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { aLogger, loggerWith } from '../../base/logger.ts';
import type { Logger } from '../../base/logger.ts';
import { registerMetrics } from '../../metrics/collect.ts';
import {
  callback,
  clock as aClock,
  flag,
  having,
  invalidOption,
  checkOptions,
} from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { requiredSignal } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';
import { resources } from '../../index.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { ObjectClient } from '../object-client.ts';
import { Election } from './election.ts';
import type { OnLeading } from './election.ts';
import type { ElectionRules } from './election-state.ts';
import { step } from './election-step.ts';
import { TIMES_CHECKS, nonEmpty, timesOf } from './election-times.ts';
import type { ElectionTimes } from './election-times.ts';
import { LeaseLock } from './lease-lock.ts';
import { reporterOf } from './reporter.ts';
import type { ResourceLock } from './resource-lock.ts';

/** Options of an election, without its lock. */
export interface ElectionOptions extends ElectionTimes {
  /** Whether the lease is given up at the end, so that another candidate takes over at once. Default true. */
  readonly releaseOnCancel?: boolean;
  /** Called with the identity of each new leader, including this candidate. */
  readonly onNewLeader?: (identity: string) => void;
  /** Called with each failed request; requests are retried. Default: a process warning. */
  readonly onError?: (error: KubeloomError) => void;
  /** Receives each failed request, and each new leader. Default: none. */
  readonly log?: Logger;
  /** Clock of durations and delays. Default: the real clock. */
  readonly clock?: Clock;
}

/** The Lease of an election. */
export interface LeaseOptions {
  /** Client that reads and writes the Lease. */
  readonly client: ObjectClient;
  /** Default: the pod's namespace, from the files of the service account. */
  readonly namespace?: string;
  /** Name of the Lease; a missing Lease is created. */
  readonly name: string;
  /** Name of this candidate; must be unique. Default: name of the host and a random part. */
  readonly identity?: string;
  /** Labels of the lease, written with each record. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Records events about the Lease: a candidate became the leader, or stopped leading. */
  readonly recorder?: EventRecorder;
}

/** The Lease, or another kind of lock. */
export type LeaderElectorOptions = ElectionOptions & (LeaseOptions | { readonly lock: ResourceLock });

const CHECKS: OptionChecks<ElectionOptions & LeaseOptions & { readonly lock: ResourceLock }> = {
  lock: having('a lock with get(), create(), update() and describe()', 'get', 'create', 'update', 'describe'),
  client: having('an ObjectClient', 'get', 'create', 'update'),
  namespace: nonEmpty,
  name: nonEmpty,
  identity: nonEmpty,
  labels: texts,
  recorder: having('an EventRecorder', 'event', 'close'),
  ...TIMES_CHECKS,
  releaseOnCancel: flag,
  onNewLeader: callback,
  onError: callback,
  log: aLogger,
  clock: aClock,
};

const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** Elects a single leader among processes by a Lease, and tells the leader when to stop. */
export class LeaderElector {
  /** Name of this candidate: the option `identity`, or the identity of the lock. */
  readonly identity: string;
  readonly #options: LeaderElectorOptions;
  readonly #lock: ResourceLock;
  readonly #rules: ElectionRules;
  #log: Logger | undefined;
  #election: Election | undefined;

  /** @throws ERR_KUBELOOM_OPTION unless leaseDurationMs > renewDeadlineMs > 1.2 × retryPeriodMs, or for a wrong option */
  constructor(options: LeaderElectorOptions) {
    checkOptions('options of a leader election', options, CHECKS);
    this.#options = options;
    this.#lock = lockOf(options);
    nonEmpty('identity of the lock', this.#lock.identity);
    this.identity = this.#lock.identity;
    if (options.log) this.useLog(options.log);
    const { releaseOnCancel = true } = options;
    this.#rules = { ...timesOf(options), identity: this.identity, releaseOnCancel };
  }

  /** @internal Sets the log of the manager, unless the elector has a log of its own. */
  useLog(log: Logger): void {
    this.#log ??= loggerWith(log, { lease: this.#lock.describe(), identity: this.identity });
  }

  /**
   * Takes part in the election until the signal is aborted, and calls `onLeading` once this candidate is elected.
   *
   * `leaderSignal` is aborted when the signal is, and when the lease was not renewed in time, always before another
   * candidate can take the lease. The lease is renewed until the promise of `onLeading` settles, and is released after
   * that. If that promise is fulfilled earlier, the candidate remains the leader; if it is rejected, the lease is
   * released and `run` rejects with the same error.
   *
   * Resolves when the signal is aborted and the lease is released.
   *
   * @throws ERR_KUBELOOM_LEADER_LOST when the leadership was lost: after the work ended, or at the moment when another
   *   candidate may lead; ERR_KUBELOOM_STARTED
   */
  async run(options: Required<SignalOptions>, onLeading: OnLeading): Promise<void> {
    const signal = requiredSignal('run()', options);
    callback('onLeading', onLeading);
    if (this.#election?.isBusy) {
      const message = `the election of ${this.#lock.describe()} or the work of the last leader has not ended: wait, or use another elector`;
      throw new KubeloomError('ERR_KUBELOOM_STARTED', message);
    }
    const { clock = realClock, onNewLeader = () => undefined } = this.#options;
    const parts = {
      lock: this.#lock,
      rules: this.#rules,
      clock,
      random: Math.random,
      onNewLeader: (leader: string) => {
        this.#log?.info({ leader }, 'there is a new leader');
        onNewLeader(leader);
      },
      onError: reporterOf(`leader election of ${this.#lock.describe()}`, this.#options.onError, this.#log),
      step,
    };
    this.#election = new Election(parts, (leading, fence) => this.#lead(onLeading, leading, fence));
    const metrics = registerMetrics(this.#election);
    try {
      await this.#election.run(signal);
    } finally {
      metrics.end();
    }
  }

  /** Returns the identity of the last known leader; '' before the first. */
  getLeader(): string {
    return this.#election?.leader ?? '';
  }

  /**
   * Returns false while work of this process continues after the leadership ended: for a liveness probe, which may end
   * the process. In client-go: HealthzAdaptor.
   */
  isHealthy(): boolean {
    return this.#election?.isHealthy ?? true;
  }

  async #lead(onLeading: OnLeading, leading: AbortSignal, fence: AbortSignal): Promise<void> {
    this.#record('became leader');
    try {
      await onLeading(leading, fence);
    } finally {
      if (leading.aborted) this.#record('stopped leading');
    }
  }

  #record(what: string): void {
    this.#log?.info(what);
    const options = this.#options;
    if ('lock' in options || !options.recorder) return;
    const [namespace, name] = this.#lock.describe().split('/');
    const message = `${this.identity} ${what}`;
    options.recorder.event(
      resources.coordination.v1.leases,
      { metadata: { namespace: namespace ?? '', name: name ?? '' } },
      { type: 'Normal', reason: 'LeaderElection', message },
    );
  }

  /** Returns whether this candidate holds the lease now, also while the work is ending. */
  isLeader(): boolean {
    return this.#election?.isLeading ?? false;
  }
}

function lockOf(options: LeaderElectorOptions): ResourceLock {
  if ('lock' in options) {
    if ('client' in options) invalidOption('lock', options.lock, 'absent when there is a client');
    return options.lock;
  }
  const { client, namespace = podNamespace(), name, labels = {} } = options;
  const { identity = `${hostname()}_${randomUUID()}` } = options;
  for (const [option, value] of Object.entries({ client, namespace, name }))
    if (value === undefined) invalidOption(option, value, 'given, or a lock in its place');
  return new LeaseLock({ client, namespace: String(namespace), name, identity, labels });
}

function podNamespace(): string | undefined {
  try {
    return readFileSync(NAMESPACE_FILE, 'utf8').trim() || undefined;
  } catch {
    // Not in a pod.
    return undefined;
  }
}

function texts(name: string, value: unknown): void {
  const isTexts =
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((each) => typeof each === 'string');
  if (!isTexts) invalidOption(name, value, 'an object of texts');
}
