/**
 * The controllers of a program: they share caches and a client, start together and stop together. In
 * controller-runtime: Manager. Caches are filled before the election, so that another process can take over at once.
 */
import { callGuarded } from '../base/callbacks.ts';
import { realClock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import { onAbort } from '../base/on-abort.ts';
import { loggerWith } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import { checkOptions } from '../base/option-checks.ts';
import { sleep } from '../base/sleep.ts';
import { requiredSignal } from '../base/signal-options.ts';
import type { SignalOptions } from '../base/signal-options.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { InformersMap } from '../informer/map/informers-map.ts';
import type { KubeObject, ResourceOf } from '../index.ts';
import { NotReadyYet } from '../metrics/health-checks.ts';
import { serveHealthWith } from '../metrics/serve-health.ts';
import type { ServeHealthOptions } from '../metrics/serve-health.ts';
import { ControllerSet } from './controller-set.ts';
import type { ManagedController, QueueFigures } from './managed-controller.ts';
import { LeaderElector } from './leader-election/leader-elector.ts';
import { ObjectClient } from './object-client.ts';
import { MANAGER_CHECKS } from './controller-options.ts';
import type { ControllerBuilder, ControllerOptions, ManagerOptions } from './controller-options.ts';

const SHUTDOWN_TIMEOUT_MS = 30_000;

/**
 * Caches, clients and controllers of an operator, with one life: it fills the caches, waits for leadership and reconciles.
 */
export class Manager {
  /** Caches of all kinds that controllers watch. They are filled before the first call of `reconcile`. */
  readonly cache: InformersMap;
  /**
   * Client with the option `client`. Unlike the client of a reconciliation, it also writes after the leadership was
   * lost.
   */
  readonly client: ObjectClient;
  readonly #options: ManagerOptions;
  readonly #log: Logger | undefined;
  readonly #set: ControllerSet;
  #isFilled = false;
  #fence: AbortSignal | undefined;

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(source: ServerSource, options: ManagerOptions = {}) {
    checkOptions('options of a manager', options, MANAGER_CHECKS);
    const { clock = realClock, log, leaderElector } = options;
    this.#options = options;
    this.#log = log && loggerWith(log);
    if (log && leaderElector instanceof LeaderElector) leaderElector.useLog(log);
    this.client = new ObjectClient(source, options.client);
    this.cache = new InformersMap(source, { ...(log ? { log } : {}), ...options.cache });
    this.#set = new ControllerSet({ cache: this.cache, client: this.client, clock, log });
  }

  /**
   * Declares a controller of a kind: a change of an object queues the object's key.
   *
   * @throws ERR_KUBELOOM_OPTION, also for the name of another controller; ERR_KUBELOOM_STARTED when the manager runs
   */
  controllerFor<T = KubeObject>(
    kind: ResourceOf<T> | KindLike,
    options: ControllerOptions<T> = {},
  ): ControllerBuilder {
    return this.#set.controllerFor(kind, options);
  }

  /** The informers of the caches, for `settled` of kubeloom/testing. */
  get informers(): InformersMap['informers'] {
    return this.cache.informers;
  }

  /** The figures of the controllers' queues, for `settled` of kubeloom/testing. */
  get queues(): readonly QueueFigures[] {
    return this.#set.controllers.map(({ queue }) => queue);
  }

  /**
   * Returns whether this process leads; without a `leaderElector` always true. Each call compares the end of the lease with the clock,
   * so a process that was suspended finds that it has lost: ask before an act that does not go through `client`.
   */
  isLeading(): boolean {
    return !this.#options.leaderElector || this.#fence?.aborted === false;
  }

  /**
   * Fills the caches, waits for leadership and runs the controllers until the signal is aborted. Resolves when the
   * reconciliations in progress have ended, the leadership is given back and the caches are closed. A manager runs
   * once.
   *
   * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), naming the informers, when the caches are not filled in time
   * @throws the error of an informer that ended by itself: the threads or modules cannot be used
   * @throws the error of the elector when leadership is lost: end the process, because another process may lead
   * @throws ERR_KUBELOOM_STILL_RUNNING, naming the keys, when reconciliations did not end in time after the stop
   * @throws the error of `listen`, such as EADDRINUSE, when the port of `health` is taken
   * @throws ERR_KUBELOOM_OPTION for a controller without `reconcile`, ERR_KUBELOOM_STARTED for a second call
   */
  async run(options: Required<SignalOptions>): Promise<void> {
    const signal = requiredSignal('run()', options);
    if (this.#set.hasStarted) {
      const message = 'the manager has already started: create another manager';
      throw new KubeloomError('ERR_KUBELOOM_STARTED', message);
    }
    this.#set.start();
    const stop = new AbortController();
    const unlisten = onAbort(signal, () => stop.abort(signal.reason));
    try {
      await using _server = await this.#serveHealth(stop.signal);
      if (!signal.aborted) await this.#runUntil(stop);
    } finally {
      unlisten();
      await this.cache.shutdown();
      this.#log?.info('the manager has stopped');
    }
  }

  /** Serves the checks of this process, until the returned server is closed. */
  async #serveHealth(stop: AbortSignal): Promise<AsyncDisposable | undefined> {
    const { health, leaderElector, log, clock } = this.#options;
    if (!health || stop.aborted) return undefined;
    const options: ServeHealthOptions = {
      ...health,
      ...(leaderElector?.isHealthy
        ? { leaderElector: { isHealthy: () => leaderElector.isHealthy?.() ?? true } }
        : {}),
      ...(log ? { log } : {}),
      ...(clock ? { clock } : {}),
    };
    const server = await serveHealthWith(options, {
      caches: () => this.#checkFilled(),
      shutdown: () => {
        if (stop.aborted) throw new NotReadyYet('the manager is stopping');
      },
    });
    this.#log?.info({ address: server.address }, 'serving health checks and metrics');
    return server;
  }

  #checkFilled(): void {
    if (this.#isFilled) return;
    const missing = this.informers.filter((informer) => !informer.hasSynced()).map(({ name }) => name);
    throw new NotReadyYet(`not filled yet: ${missing.join(', ') || 'the informers have not started'}`);
  }

  /** Runs everything until the stop is complete, or the time limit is reached. */
  async #runUntil(stop: AbortController): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    // The first failure stops everything; later failures are consequences.
    const failed = (error: unknown): void => {
      failure ??= { error };
      stop.abort(error);
    };
    const { shutdownTimeoutMs = SHUTDOWN_TIMEOUT_MS, clock = realClock } = this.#options;
    const ended = new AbortController();
    const isLate = new Promise<never>((_, reject) => {
      const late = (): void => reject(this.#unfinished(shutdownTimeoutMs, stop.signal.reason));
      onAbort(stop.signal, () => void sleep(shutdownTimeoutMs, ended.signal, clock).then(late, () => {}));
    });
    try {
      await Promise.race([this.#runAll(stop.signal, failed).catch(failed), isLate]);
    } finally {
      ended.abort();
    }
    if (failure) throw failure.error;
  }

  async #runAll(signal: AbortSignal, failed: (error: unknown) => void): Promise<void> {
    await this.#set.fill(signal, failed, this.#options.cacheSyncTimeoutMs);
    if (signal.aborted) return;
    this.#isFilled = true;
    this.#log?.info('the caches are filled');
    const { onReady } = this.#options;
    if (onReady) callGuarded('onReady', onReady);
    const run = async (
      controllers: readonly ManagedController[],
      until: AbortSignal,
      fence?: AbortSignal,
    ): Promise<void> => {
      await Promise.all(controllers.map((controller) => controller.run(until, until, fence).catch(failed)));
    };
    const { leaderElector } = this.#options;
    const isLed = (controller: ManagedController): boolean => !!leaderElector && controller.needsLeadership;
    const all = this.#set.controllers;
    const led = all.filter(isLed);
    const free = all.filter((controller) => !isLed(controller));
    const lead = (until: AbortSignal, fence = until): Promise<void> => run(led, until, (this.#fence = fence));
    const leading = led.length > 0 ? leaderElector?.run({ signal }, lead) : undefined;
    await Promise.all([run(free, signal), leading?.catch(failed)]);
  }

  #unfinished(shutdownTimeoutMs: number, cause: unknown): KubeloomError {
    const busy = this.#set.controllers.filter(({ inWork }) => inWork.length > 0);
    const what = busy.map(({ name, inWork }) => `${name} ${inWork.join(', ')}`).join('; ');
    const message =
      `not ended ${shutdownTimeoutMs} ms after the stop (shutdownTimeoutMs): ${what || 'the leader elector'}; ` +
      'pass the signal of a reconciliation to everything that it waits for';
    return new KubeloomError('ERR_KUBELOOM_STILL_RUNNING', message, { cause });
  }
}
