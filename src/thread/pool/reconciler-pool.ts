/**
 * Worker threads that reconcile the keys of a work queue, each with the shared cache open. The work queue remains the
 * only queue: a thread holds a single key, and returns an unfinished key to the queue.
 */
import { randomUUID } from 'node:crypto';
import type { ResourceLimits } from 'node:worker_threads';
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { realClock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { onAbort } from '../../base/on-abort.ts';
import {
  anything,
  having,
  integer,
  moduleUrl,
  signal as aSignal,
  text,
  checkOptions,
} from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { signalOf } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';
import type { ReconcileResult } from '../../workqueue/reconcile-result.ts';
import type { ItemReconciler } from '../../workqueue/run-workers.ts';
import type { SharedCache } from '../main/shared-cache.ts';
import { availableCores } from '../../informer/threads/threads-options.ts';
import { WaitCondition } from '../../informer/wait-condition.ts';
import { PoolThread } from './pool-thread.ts';
import type { PoolParts } from './pool-thread.ts';
import { PiscinaThread } from './reconciler-thread.ts';

/** Options of a pool of threads. */
export interface ReconcilerPoolOptions {
  /**
   * The informers that reconcilers read. They must run before the first key: a thread opens the cache when it receives
   * a key.
   */
  readonly cache: SharedCache;
  /** Number of threads; each thread reconciles a single key at a time. Default: the available cores. */
  readonly threads?: number;
  /** Limits of the memory of each thread. A thread that exceeds them ends; the main thread continues. */
  readonly resourceLimits?: ResourceLimits;
}

const CHECKS: OptionChecks<ReconcilerPoolOptions> = {
  cache: having('a SharedCache', 'port', 'close'),
  threads: integer(1, 1024),
  // Node checks them.
  resourceLimits: anything,
};

/** Options of a reconciliation in a thread. */
export interface ReconcileCallOptions extends SignalOptions {
  /** `reconcileID` of the reconciler's context. Default: a random one. */
  readonly reconcileID?: string;
}

const CALL_CHECKS: OptionChecks<ReconcileCallOptions> = { signal: aSignal, reconcileID: text };

const REAL_PARTS: PoolParts = {
  clock: realClock,
  startThread: (settings) => new PiscinaThread(settings),
};

/**
 * Threads for `runWorkers(queue, pool)`. A reconciliation begins when the thread's cache has reached the versions of
 * the main thread's caches at the time of the call. If the thread ends during the reconciliation, the key fails with
 * ERR_KUBELOOM_THREAD_RESTARTED, and the next key starts a new thread.
 */
export class ReconcilerPool implements ItemReconciler<string> {
  /** Number of threads that may work at the same time, whether started or not. */
  readonly threads: number;
  readonly #idle: PoolThread[];
  readonly #poolThreads: readonly PoolThread[];
  readonly #changed: WaitCondition = new WaitCondition();
  readonly #inWork: Set<Promise<unknown>> = new Set();
  #isClosed = false;

  /**
   * @param module URL of the module whose default export reconciles: `new URL('./reconcile.js', import.meta.url)`
   * @throws ERR_KUBELOOM_OPTION
   */
  constructor(module: URL | string, options: ReconcilerPoolOptions);
  /** @internal */
  constructor(module: URL | string, options: ReconcilerPoolOptions, parts?: PoolParts);
  constructor(module: URL | string, options: ReconcilerPoolOptions, parts: PoolParts = REAL_PARTS) {
    checkOptions('options of a pool of reconcilers', options, CHECKS);
    const { cache, threads = availableCores(), resourceLimits } = options;
    // A missing cache throws the same error as a wrong value.
    CHECKS.cache('cache', cache);
    const given = module instanceof URL ? module.href : module;
    const url = typeof given === 'string' && isAbsolute(given) ? pathToFileURL(given).href : given;
    moduleUrl('module', url);
    this.threads = threads;
    this.#poolThreads = Array.from(
      { length: threads },
      () => new PoolThread({ module: url, cache, resourceLimits }, parts),
    );
    this.#idle = [...this.#poolThreads];
  }

  /**
   * Reconciles a key in an idle thread; waits until a thread is idle.
   *
   * @throws the function's error: a `TerminalError`, an error with the same `code`, or an `Error`
   * @throws the signal's reason, if the function ended with it; or if the signal was aborted before the call began
   * @throws ERR_KUBELOOM_THREAD_RESTARTED when the thread ended, ERR_KUBELOOM_MODULE, ERR_KUBELOOM_STOPPED after
   *   `close`
   */
  async reconcile(key: string, options: ReconcileCallOptions = {}): Promise<ReconcileResult> {
    checkOptions('options of reconcile()', options, CALL_CHECKS);
    const { signal, reconcileID = randomUUID() } = options;
    const reconciled = this.#reconcile(key, signal, reconcileID);
    this.#inWork.add(reconciled);
    try {
      return await reconciled;
    } finally {
      this.#inWork.delete(reconciled);
    }
  }

  /**
   * Ends the threads when the reconciliations in progress have ended; stop the workers of the queue first. If the
   * signal is aborted, threads are terminated during their work. Resolves when all threads have exited.
   */
  async close(options?: SignalOptions): Promise<void> {
    const signal = signalOf('close()', options);
    this.#isClosed = true;
    const ended = Promise.allSettled(this.#inWork);
    const unlisten = signal && onAbort(signal, () => this.#end());
    this.#changed.changed();
    await ended;
    unlisten?.();
    await Promise.all(this.#poolThreads.map((poolThread) => poolThread.close()));
  }

  /** Calls `close()`, which waits for the reconciliations in progress. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #end(): void {
    for (const poolThread of this.#poolThreads) void poolThread.close();
  }

  async #reconcile(
    key: string,
    signal: AbortSignal | undefined,
    reconcileID: string,
  ): Promise<ReconcileResult> {
    const poolThread = await this.#takeIdle(signal);
    try {
      return await poolThread.reconcile(key, signal, reconcileID);
    } finally {
      this.#idle.push(poolThread);
      this.#changed.changed();
    }
  }

  /** Takes the thread that was used last, so a pool with little work starts few threads. */
  async #takeIdle(signal: AbortSignal | undefined): Promise<PoolThread> {
    for (;;) {
      if (this.#isClosed)
        throw new KubeloomError(
          'ERR_KUBELOOM_STOPPED',
          'the pool of reconcilers is closed and takes no keys',
        );
      signal?.throwIfAborted();
      const poolThread = this.#idle.pop();
      if (poolThread) return poolThread;
      await this.#changed.until(() => this.#idle.length > 0 || this.#isClosed, signal);
    }
  }
}
