/**
 * Worker threads that reconcile the keys of a work queue, each with the shared cache open. The work queue remains the
 * only queue: a thread has one key, and a key that its thread could not finish returns to the queue.
 */
import { randomUUID } from 'node:crypto';
import type { ResourceLimits } from 'node:worker_threads';
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { realClock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { onAbort } from '../../base/on-abort.ts';
import { anything, having, integer, moduleUrl, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import type { ReconcileResult } from '../../workqueue/reconcile-result.ts';
import type { ItemReconciler } from '../../workqueue/run-workers.ts';
import type { SharedCache } from '../../informer/share/shared-cache.ts';
import { availableCores } from '../../informer/threads/threads-options.ts';
import { WaitCondition } from '../../informer/wait-condition.ts';
import { PoolThread } from './pool-thread.ts';
import type { PoolParts } from './pool-thread.ts';
import { PiscinaThread } from './reconciler-thread.ts';

export interface ReconcilerPoolOptions {
  /** The informers that reconcilers read. A thread opens it with its first key, so they have to run by then. */
  readonly cache: SharedCache;
  /** Number of threads; each reconciles one key at a time. Default: the available cores. */
  readonly threads?: number;
  /** Limits of the memory of each thread. A thread that exceeds them ends, and the main thread goes on. */
  readonly resourceLimits?: ResourceLimits;
}

const CHECKS: OptionChecks<ReconcilerPoolOptions> = {
  cache: having('a SharedCache', 'port', 'close'),
  threads: integer(1, 1024),
  // Node checks them.
  resourceLimits: anything,
};

const REAL_PARTS: PoolParts = {
  clock: realClock,
  startThread: (settings) => new PiscinaThread(settings),
};

/**
 * Threads for `runWorkers(queue, pool)`. A reconciliation begins when the cache of its thread has everything that the main
 * thread's caches had when the key was handed over. The key of a thread that ends during the reconciliation fails with
 * ERR_KUBELOOM_THREAD_RESTARTED, and the next key starts a thread in its place.
 */
export class ReconcilerPool implements ItemReconciler<string> {
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
    // Without a cache there is an error of the same kind as for a wrong one.
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
   * Reconciles a key in a thread that is idle, or as soon as one is.
   *
   * @param reconcileID of the context; default: a random one
   * @throws what the function threw: a `TerminalError`, an error with the same `code`, or an `Error`
   * @throws the signal's reason, if the function ended with it; or if the signal was aborted before the call began
   * @throws ERR_KUBELOOM_THREAD_RESTARTED when the thread ended, ERR_KUBELOOM_MODULE, ERR_KUBELOOM_STOPPED after `close`
   */
  async reconcile(
    key: string,
    signal?: AbortSignal,
    reconcileID: string = randomUUID(),
  ): Promise<ReconcileResult> {
    const reconciled = this.#reconcile(key, signal, reconcileID);
    this.#inWork.add(reconciled);
    try {
      return await reconciled;
    } finally {
      this.#inWork.delete(reconciled);
    }
  }

  /**
   * Ends the threads when the reconciliations in progress have ended; let the workers of the queue end before. When the
   * signal is aborted, threads are terminated during their work. Resolves when all have exited.
   */
  async close(signal?: AbortSignal): Promise<void> {
    this.#isClosed = true;
    const ended = Promise.allSettled(this.#inWork);
    const unlisten = signal && onAbort(signal, () => this.#end());
    this.#changed.changed();
    await ended;
    unlisten?.();
    await Promise.all(this.#poolThreads.map((poolThread) => poolThread.close()));
  }

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

  /** Takes the thread that was used last: a pool with little to do has few threads. */
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
