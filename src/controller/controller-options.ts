/** The options of a manager and its controllers, and what a reconciliation may use. */
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

/** Grants leadership to one of several processes. */
export interface LeaderElection {
  /**
   * Waits for leadership and calls `lead` once. Resolves when `signal` is aborted, the promise of `lead` has settled and
   * the leadership is given back. Rejects when the leadership was lost, with the error of `lead` when that failed.
   *
   * @param lead work of the leader; its signal is aborted when the work has to end. Writes end with `fence`, which a stop does
   *   not abort; without a fence, with the signal
   */
  run(signal: AbortSignal, lead: (leading: AbortSignal, fence?: AbortSignal) => Promise<void>): Promise<void>;
  /** Returns false while work of this process goes on although its leadership has ended. Default: always healthy. */
  isHealthy?(): boolean;
}

export interface ManagerOptions {
  /** Options of the client: field manager, receiver of the server's warnings. */
  readonly client?: ObjectClientOptions;
  /** Options of the caches of all kinds: namespaces, selectors, transforms, threads. */
  readonly cache?: InformersMapOptions;
  /** Lets controllers run in the process that leads. Default: they run in every process. */
  readonly leaderElector?: LeaderElection;
  /** Time for filling the caches, after which `run` rejects. Default: 120,000. */
  readonly cacheSyncTimeoutMs?: number;
  /** Time for the reconciliations in progress after the stop, after which `run` rejects. Default: 30,000. */
  readonly shutdownTimeoutMs?: number;
  /** Called when all caches are filled: a readiness probe may succeed. The election, if there is one, comes next. */
  readonly onReady?: () => void;
  /**
   * Receives the lines of the manager, its controllers and its caches: pino, `console`, or their shape. Each line about a
   * reconciliation has the fields `controller`, `key` and `reconcileID`. Default: failures are process warnings.
   */
  readonly log?: Logger;
  /** Serves `/healthz`, `/readyz` and `/metrics` while the manager runs. Default: no server. */
  readonly health?: ManagerHealthOptions;
  /** Clock of time limits and work queues. Default: the real one. */
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

export interface WatchOptions<T> {
  /** Selects the changes that count. Default: all. */
  readonly predicate?: Predicate<T>;
}

export interface OwnsOptions<T> extends WatchOptions<T> {
  /** true: a change of an object queues all its owners of the controller's kind, not only the controlling one. Default: false. */
  readonly everyOwner?: boolean;
}

export interface ControllerOptions<T> extends WatchOptions<T> {
  /** Name in metrics and messages and of the work queue, unique in its manager. Default: the resource's. */
  readonly name?: string;
  /**
   * Number of keys that are reconciled at the same time; a key never is twice. Default: 1. With a module, the number of
   * threads. Default: the available cores.
   */
  readonly concurrency?: number;
  /** Time for one reconciliation, after which its signal is aborted; it has failed when it ends. Default: no limit. */
  readonly timeoutMs?: number;
  /** Delays of keys that failed. Default: client-go's for controllers. */
  readonly rateLimiter?: RateLimiter<unknown>;
  /** false: runs in processes that do not lead as well. Default: true. */
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
   * Caches of the manager. They are filled before the first reconciliation, and have what earlier reconciliations of this
   * key have written to the kinds of the controller.
   */
  readonly cache: InformersMap;
  readonly client: ObjectClient;
  /** Aborted when the controller has to stop: pass it to every request. */
  readonly signal: AbortSignal;
  /** Identifies this reconciliation in all lines about it. */
  readonly reconcileID: string;
  /** The manager's log, or the console, with the fields `controller`, `key` and `reconcileID` in each line. */
  readonly log: Logger;
}

/**
 * Brings the world to the state that the object of this key asks for; the object may be gone. After an error the key comes
 * again, later each time, except after a `TerminalError`. `{ requeueAfterMs }` lets it come again and forgets its failures.
 */
export type Reconcile = (
  key: string,
  context: ReconcileContext,
) => Promise<ReconcileResult> | ReconcileResult;

/** Returns the keys of a controller's kind that an object of another kind concerns. */
export type MapToKeys<T> = (object: Borrowed<T>, cache: InformersMap) => readonly string[];

/** A controller that is being declared. It is complete with `reconcile`, and runs with its manager. */
export interface ControllerBuilder {
  /**
   * Adds a kind of which the controller creates objects. A change of an object queues the owner in its metadata that has
   * `controller: true`, if that owner is of the controller's kind.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  owns<T = KubeObject>(kind: ResourceOf<T> | KindLike, options?: OwnsOptions<T>): this;
  /**
   * Adds another kind that matters. A change of an object queues the keys that `map` returns for it; an update, also those
   * for the previous object.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  watches<T = KubeObject>(kind: ResourceOf<T> | KindLike, map: MapToKeys<T>, options?: WatchOptions<T>): this;
  /**
   * Adds a source that is no kind: timers, messages, another cluster. Each of its events queues the keys that `map` returns. The
   * manager reads the stream while the controller runs, and ends with an error that the stream throws.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  from<E>(stream: AsyncIterable<E>, map: (event: E) => readonly string[]): this;
  /**
   * Sets the function that reconciles a key, and completes the controller.
   *
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  reconcile(reconcile: Reconcile): void;
  /**
   * Sets a module whose default export, a `ThreadReconcile` of `kubeloom/thread`, reconciles in threads. It reads the kinds of
   * the controller by the names of their resources: `cache.informer('deployments')`. Each has one namespace, or all.
   *
   * @param module `new URL('./reconcile.js', import.meta.url)`
   * @throws ERR_KUBELOOM_OPTION; ERR_KUBELOOM_STARTED when the manager runs
   */
  reconcile(module: URL): void;
}
