/** A thread of a pool of reconcilers: opens the cache, and reconciles keys in sequence. */
import { constants, setPriority } from 'node:os';
import type { MessagePort } from 'node:worker_threads';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { isAbortOf } from '../../base/on-abort.ts';
import { requeueDelayMs } from '../../workqueue/reconcile-result.ts';
import type { ReconcileResult } from '../../workqueue/reconcile-result.ts';
import { followFence } from '../../shared/fence.ts';
import { openCache } from '../worker/open-cache.ts';
import type { ThreadCache } from '../worker/open-cache.ts';
import { failureOf } from './messages.ts';
import type { Answer, PoolTask, ReconcileTask } from './messages.ts';

/** Tools of a reconciliation in a thread. */
export interface ThreadContext<Types extends Readonly<Record<string, unknown>>> {
  /**
   * The shared cache. It holds at least the versions that the main thread's caches held when the main thread handed
   * over the key.
   */
  readonly cache: ThreadCache<Types>;
  /**
   * Aborted with the signal of the workers; pass it to every request. `signal.aborted` also turns true while the main
   * thread is blocked, once the workers lose the lease or partition: reading it compares a time in shared memory.
   */
  readonly signal: AbortSignal;
  /** Identifies this reconciliation in all lines about it, also in the lines of the manager. */
  readonly reconcileID: string;
}

/**
 * The default export of a module for a `ReconcilerPool`. It may do everything that a reconcile function on the main thread
 * may: throw, throw a `TerminalError`, return `{ requeueAfterMs }`.
 *
 * @typeParam Types types of the objects by the names of the informers
 */
export type ThreadReconcile<Types extends Readonly<Record<string, unknown>>> = (
  key: string,
  context: ThreadContext<Types>,
) => Promise<ReconcileResult> | ReconcileResult;

type AnyTypes = Readonly<Record<string, unknown>>;

/** The cache and the function of a thread. */
export class ThreadReconciler {
  readonly #cache: ThreadCache<AnyTypes>;
  readonly #reconcile: ThreadReconcile<AnyTypes>;
  #current: { readonly number: number; readonly controller: AbortController } | undefined;
  /** Last number received on the port. It may arrive before the task, which uses a different port. */
  #aborted = 0;

  constructor(cache: ThreadCache<AnyTypes>, reconcile: ThreadReconcile<AnyTypes>, aborts: MessagePort) {
    this.#cache = cache;
    this.#reconcile = reconcile;
    aborts.on('message', (number: number) => {
      this.#aborted = number;
      if (this.#current?.number === number) this.#current.controller.abort();
    });
  }

  async reconcile({ number, key, reconcileID, fence, resourceVersions }: ReconcileTask): Promise<Answer> {
    const controller = new AbortController();
    const { signal } = controller;
    const unfollow = fence && followFence(fence, controller);
    this.#current = { number, controller };
    if (this.#aborted === number) controller.abort();
    let hasBegun = false;
    try {
      await this.#cache.waitForResourceVersions(resourceVersions, signal);
      signal.throwIfAborted();
      hasBegun = true;
      const result: unknown = await this.#reconcile(key, { cache: this.#cache, signal, reconcileID });
      return { outcome: 'done', requeueAfterMs: requeueDelayMs(result) };
    } catch (error) {
      if (isAbortOf(error, signal)) return { outcome: 'aborted' };
      const failure = failureOf(error);
      // If the cache ended before it reached the main thread's versions, another thread must reconcile the key.
      const isCacheStopped = !hasBegun && failure.details['code'] === 'ERR_KUBELOOM_STOPPED';
      return { outcome: isCacheStopped ? 'unusable' : 'failed', failure };
    } finally {
      unfollow?.();
    }
  }
}

let reconciler: ThreadReconciler | undefined;

/** Runs a task of the pool. The first task opens the thread. */
export async function runTask(task: PoolTask): Promise<Answer> {
  if (task.type === 'reconcile') return (reconciler as ThreadReconciler).reconcile(task);
  yieldToMainThread();
  try {
    // Both take time, mostly the module's own imports.
    const [cache, reconcile] = await Promise.all([openCache(task.cache), functionOf(task.module)]);
    reconciler = new ThreadReconciler(cache, reconcile, task.aborts);
    return { outcome: 'done', requeueAfterMs: undefined };
  } catch (error) {
    return { outcome: 'unusable', failure: failureOf(error) };
  }
}

/** Lets the main thread and kubeloom's threads run first when more threads have work than there are cores. */
function yieldToMainThread(): void {
  // On other platforms this would set the priority of the whole process.
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may forbid it; the threads then share the cores as equals.
  }
}

/** @throws ERR_KUBELOOM_MODULE */
async function functionOf(module: string): Promise<ThreadReconcile<AnyTypes>> {
  let found: unknown;
  try {
    found = ((await import(module)) as { readonly default?: unknown }).default;
  } catch (cause) {
    const message = `cannot load ${module}, which should reconcile in a thread: ${messageOf(cause)}`;
    throw new KubeloomError('ERR_KUBELOOM_MODULE', message, { cause });
  }
  // The default export of an ES module that was compiled to CommonJS.
  if (typeof found === 'object' && found !== null && 'default' in found) found = found.default;
  if (typeof found === 'function') return found as ThreadReconcile<AnyTypes>;
  const message = `${module} reconciles nothing: its default export must be a function of the key`;
  throw new KubeloomError('ERR_KUBELOOM_MODULE', message);
}
