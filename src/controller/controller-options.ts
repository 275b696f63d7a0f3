/** The options of a manager and of controllers, and the context of a reconciliation. */
import {
  aRateLimiter,
  anything,
  callback,
  clock,
  flag,
  having,
  integer,
  invalidOption,
  text,
  checkOptions,
} from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import type { SignalOptions } from '../base/signal-options.ts';
import type { Clock } from '../base/clock.ts';
import { aLogger } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import { HEALTH_CHECKS } from '../metrics/serve-health.ts';
import type { ServeHealthOptions } from '../metrics/serve-health.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import type { Borrowed, KubeObject, ResourceOf } from '../index.ts';
import type { InformersMap } from '../informer/map/informers-map.ts';
import type { InformersMapOptions } from '../informer/map/map-options.ts';
import type { RateLimiter } from '../workqueue/rate-limiters.ts';
import type { ReconcileResult } from '../workqueue/reconcile-result.ts';
import type { ObjectClient } from './object-client.ts';
import type { ObjectClientOptions } from './requests/request-options.ts';
import type { Predicate } from './predicates.ts';

/** Grants leadership to a single process among several. */
export interface LeaderElection {
  /**
   * Waits for leadership and calls `lead` once. Resolves when the signal is aborted, the promise of `lead` settled and
   * the leadership is given back. Rejects when the leadership is lost; if `lead` failed, with the error of `lead`.
   *
   * @param lead work of the leader; its signal is aborted when the work must end. Writes end with `fence`, which a stop
   *   does not abort; without a fence, with the signal
   */
  run(
    options: Required<SignalOptions>,
    lead: (leading: AbortSignal, fence?: AbortSignal) => Promise<void>,
  ): Promise<void>;
  /** Returns false while work of this process continues after the leadership ended. Default: always healthy. */
  isHealthy?(): boolean;
}

/** Options of a `Manager`. */
export interface ManagerOptions {
  /** Options of the client: field manager, receiver of the server's warnings. */
  readonly client?: ObjectClientOptions;
  /** Options of the caches of all kinds: namespaces, selectors, transforms, threads. */
  readonly cache?: InformersMapOptions;
  /** Runs controllers only in the process that leads. Default: they run in every process. */
  readonly leaderElector?: LeaderElection;
  /** Time for filling the caches; after that `run` rejects. Default: 120,000. */
  readonly cacheSyncTimeoutMs?: number;
  /** Time for the reconciliations in progress to end after the stop; after that `run` rejects. Default: 30,000. */
  readonly shutdownTimeoutMs?: number;
  /** Called when all caches are filled, before any election: a readiness probe may succeed. */
  readonly onReady?: () => void;
  /**
   * Receives the lines of the manager, the controllers, the caches and the leader elector: pino, `console`, or a logger of the same shape.
   * Each line about a reconciliation contains the fields `controller`, `key` and `reconcileID`. Default: failures are
   * process warnings.
   */
  readonly log?: Logger;
  /** Serves `/healthz`, `/readyz` and `/metrics` while the manager runs. Default: no server. */
  readonly health?: ManagerHealthOptions;
  /** Clock of time limits and work queues. Default: the real clock. */
  readonly clock?: Clock;
}

/** The server of a manager for the kubelet and Prometheus; the checks of the caches and the leader elector are included. */
export type ManagerHealthOptions = Omit<ServeHealthOptions, 'informers' | 'leaderElector' | 'log' | 'clock'>;

export const MANAGER_CHECKS: OptionChecks<ManagerOptions> = {
  // The ObjectClient checks them.
  client: anything,
  // The InformersMap checks them.
  cache: anything,
  leaderElector: having('a leader elector with run()', 'run'),
  cacheSyncTimeoutMs: integer(1),
  shutdownTimeoutMs: integer(0),
  onReady: callback,
  log: aLogger,
  health: checkHealth,
  clock,
};

function checkHealth(name: string, value: unknown): void {
  const {
    informers: _informers,
    leaderElector: _elector,
    log: _log,
    clock: _clock,
    ...checks
  } = HEALTH_CHECKS;
  checkOptions<ManagerHealthOptions>(name, value, checks, `${name}.`);
  if (Reflect.get(Object(value), 'port') === undefined) invalidOption(`${name}.port`, undefined, 'given');
}

/** Options of a watched kind. */
export interface WatchOptions<T> {
  /** Selects the changes that count. Default: all. */
  readonly predicate?: Predicate<T>;
}

/** Options of `owns`. */
export interface OwnsOptions<T> extends WatchOptions<T> {
  /**
   * true: a change of an object queues all owners of the controller's kind, not only the controlling owner. Default:
   * false.
   */
  readonly everyOwner?: boolean;
}

/** Options of a controller of a `Manager`. */
export interface ControllerOptions<T> extends WatchOptions<T> {
  /** Name in metrics and messages and of the work queue, unique in the manager. Default: the resource's name. */
  readonly name?: string;
  /**
   * Number of keys that are reconciled at the same time; two reconciliations of a key never overlap. Default: 1.
   * With a module: the number of threads. Default: the available cores.
   */
  readonly concurrency?: number;
  /**
   * Time for a reconciliation; after that the signal is aborted, and the reconciliation counts as failed when it ends.
   * Default: no limit.
   */
  readonly timeoutMs?: number;
  /** Delays of keys that failed. Default: client-go's rate limiter for controllers. */
  readonly rateLimiter?: RateLimiter<unknown>;
  /** false: also runs in processes that do not lead. Default: true. */
  readonly needsLeadership?: boolean;
  /** Called with every failure. `retries` is the number of earlier failures of the key. Default: a process warning. */
  readonly onError?: (error: unknown, key: string, retries: number) => unknown;
}

export const WATCH_CHECKS: OptionChecks<WatchOptions<unknown>> = { predicate: callback };

export const OWNS_CHECKS: OptionChecks<OwnsOptions<unknown>> = { ...WATCH_CHECKS, everyOwner: flag };

export const CONTROLLER_CHECKS: OptionChecks<ControllerOptions<unknown>> = {
  ...WATCH_CHECKS,
  name: text,
  concurrency: integer(1),
  timeoutMs: integer(1),
  rateLimiter: aRateLimiter,
  needsLeadership: flag,
  onError: callback,
};

/** Tools of a reconciliation. */
export interface ReconcileContext {
  /**
   * Caches of the manager. They are filled before the first reconciliation, and contain the writes of earlier
   * reconciliations of this key to the kinds of the controller.
   */
  readonly cache: InformersMap;
  /**
   * Client of this reconciliation: `cache` waits only for writes of this client. It sends no write after the partition,
   * or the leadership that the controller needs, was lost.
   */
  readonly client: ObjectClient;
  /** Aborted when the controller must stop: pass it to every request. */
  readonly signal: AbortSignal;
  /** Identifies this reconciliation in all log lines about it. */
  readonly reconcileID: string;
  /** The manager's log, or the console, with the fields `controller`, `key` and `reconcileID` in each line. */
  readonly log: Logger;
}

/**
 * Brings the world to the state that the object of this key describes; the object may be gone. After an error the key
 * is queued again, each time later, except after a `TerminalError`. `{ requeueAfterMs }` queues the key again and
 * clears the count of failures.
 */
export type Reconcile = (
  key: string,
  context: ReconcileContext,
) => Promise<ReconcileResult> | ReconcileResult;

/** Returns the keys of the controller's kind that are affected by an object of another kind. */
export type MapToKeys<T> = (object: Borrowed<T>, cache: InformersMap) => readonly string[];

/** A controller in declaration. `reconcile` completes it; it runs with the manager. */
export interface ControllerBuilder {
  /**
   * Adds a kind whose objects the controller creates. A change of an object queues the owner with `controller: true` in
   * the object's metadata, if that owner is of the controller's kind.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  owns<T = KubeObject>(kind: ResourceOf<T> | KindLike, options?: OwnsOptions<T>): this;
  /**
   * Adds another kind to watch. A change of an object queues the keys that `map` returns; an update also queues the
   * keys that `map` returns for the previous object.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  watches<T = KubeObject>(kind: ResourceOf<T> | KindLike, map: MapToKeys<T>, options?: WatchOptions<T>): this;
  /**
   * Adds a source other than a kind: timers, messages, another cluster. Each event queues the keys that `map` returns.
   * The manager reads the stream while the controller runs, and ends with an error that the stream throws.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  from<E>(stream: AsyncIterable<E>, map: (event: E) => readonly string[]): this;
  /**
   * Sets a module whose default export, a `ThreadReconcile` of `kubeloom/thread`, reconciles in threads. It reads the
   * kinds of the controller by the names of their resources: `cache.informer('deployments')`. Each kind must select a
   * single namespace, or all.
   *
   * @param module `new URL('./reconcile.js', import.meta.url)`
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  reconcile(module: URL): void;
  // The compiler explains a wrong call by the last overload.
  /**
   * Sets the function that reconciles a key, and completes the controller.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  reconcile(reconcile: Reconcile): void;
}
