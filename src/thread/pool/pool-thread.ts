/**
 * The place of a thread in a pool. The first key starts the thread; after the thread ends, the next key starts another.
 */
import type { ResourceLimits } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { onAbort } from '../../base/on-abort.ts';
import type { ReconcileResult } from '../../workqueue/reconcile-result.ts';
import type { SharedCache } from '../main/shared-cache.ts';
import { fenceMemoryOf } from '../../shared/fence.ts';
import { abortable } from '../../base/on-abort.ts';
import { START_TIMEOUT_MS } from '../../informer/threads/supervisor-step.ts';
import { WaitCondition } from '../../informer/wait-condition.ts';
import { errorOf } from './messages.ts';
import type { Answer, ReconcileTask } from './messages.ts';
import type { ReconcilerThread, ThreadSettings } from './reconciler-thread.ts';

/** Delays before a new thread when the last thread did not finish a key; doubled each time. */
const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 10_000;

/** Parts that tests replace. */
export interface PoolParts {
  readonly clock: Clock;
  readonly startThread: (settings: ThreadSettings) => ReconcilerThread;
}

export interface PoolThreadSettings {
  /** URL of the module that reconciles. */
  readonly module: string;
  readonly cache: SharedCache;
  readonly resourceLimits: ResourceLimits | undefined;
}

export class PoolThread {
  readonly #settings: PoolThreadSettings;
  readonly #parts: PoolParts;
  #thread: ReconcilerThread | undefined;
  /** The open thread; rejected, and dropped, if it could not be opened. */
  #opened: Promise<ReconcilerThread> | undefined;
  #number = 0;
  #isReconciling = false;
  #restartMs = 0;
  #isClosed = false;
  readonly #changed: WaitCondition = new WaitCondition();

  constructor(settings: PoolThreadSettings, parts: PoolParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  /** Reconciles a key. The previous call must have settled. */
  async reconcile(
    key: string,
    signal: AbortSignal | undefined,
    reconcileID: string,
  ): Promise<ReconcileResult> {
    // The thread would refuse the key and end, so each key would start another thread.
    this.#settings.cache.checkRunning();
    const thread = await abortable((this.#opened ??= this.#open()), signal);
    signal?.throwIfAborted();
    const number = ++this.#number;
    const unlisten = signal && onAbort(signal, () => thread.abort(number));
    this.#isReconciling = true;
    try {
      const { resourceVersions } = this.#settings.cache;
      const fence = signal && fenceMemoryOf(signal);
      const task = { type: 'reconcile', number, key, reconcileID, fence, resourceVersions } as const;
      return await this.#run(thread, task, signal);
    } finally {
      this.#isReconciling = false;
      unlisten?.();
    }
  }

  /** Terminates the thread; resolves after the exit. A closed place does not start another thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#changed.changed();
    await this.#thread?.end();
  }

  async #run(
    thread: ReconcilerThread,
    task: ReconcileTask,
    signal: AbortSignal | undefined,
  ): Promise<ReconcileResult> {
    const answer = await thread.run(task).catch((cause: unknown) => {
      throw this.#endedError(`while it reconciled ${task.key}`, cause);
    });
    if (answer.outcome === 'unusable') {
      await thread.end();
      throw errorOf(answer.failure);
    }
    this.#restartMs = 0;
    if (answer.outcome === 'failed') throw errorOf(answer.failure);
    if (answer.outcome === 'aborted') throw this.#abortReason(task.key, signal);
    return answer.requeueAfterMs === undefined ? undefined : { requeueAfterMs: answer.requeueAfterMs };
  }

  /** The thread may see the end of the fence before the main thread does. */
  #abortReason(key: string, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    const message = `the right to reconcile ${key} ended before the thread finished: the key returns to the queue`;
    return new KubeloomError('ERR_KUBELOOM_LEADER_LOST', message);
  }

  async #open(): Promise<ReconcilerThread> {
    try {
      await this.#delay();
      if (this.#isClosed) throw this.#endedError('before its start', undefined);
      const thread = (this.#thread = this.#start());
      const answer = await this.#loaded(thread);
      if (answer.outcome === 'unusable') {
        await thread.end();
        throw errorOf(answer.failure);
      }
      void thread.exited.then((reason) => this.#exited(reason));
      return thread;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  #start(): ReconcilerThread {
    const { module, cache, resourceLimits } = this.#settings;
    const port = cache.port();
    try {
      return this.#parts.startThread({ module, cache: port, resourceLimits });
    } catch (error) {
      for (const end of port.transferList) end.close();
      throw error;
    }
  }

  /** Loads the module and opens the cache; terminates a thread that cannot do so in time. */
  async #loaded(thread: ReconcilerThread): Promise<Answer> {
    let isLate = false;
    const cancel = this.#parts.clock.schedule(START_TIMEOUT_MS, () => {
      isLate = true;
      void thread.end();
    });
    try {
      return await thread.open();
    } catch (cause) {
      if (!isLate || this.#isClosed) throw this.#endedError('before it had loaded its module', cause);
      const message =
        `${this.#settings.module} was not loaded within ${START_TIMEOUT_MS} ms; look for an await at its top level, or at ` +
        'the top level of a module that it imports';
      throw new KubeloomError('ERR_KUBELOOM_MODULE', message, { cause });
    } finally {
      cancel();
    }
  }

  async #delay(): Promise<void> {
    let isOver = this.#restartMs === 0;
    const cancel = this.#parts.clock.schedule(this.#restartMs, () => {
      isOver = true;
      this.#changed.changed();
    });
    await this.#changed.until(() => isOver || this.#isClosed);
    cancel();
  }

  /** Runs before the call for the key in the thread is rejected. */
  #exited(reason: unknown): void {
    this.#forget();
    if (this.#isReconciling || this.#isClosed) return;
    const { message, code } = this.#endedError('without a key', reason);
    process.emitWarning(message, { type: 'KubeloomWarning', code });
  }

  /** Makes the next key start another thread, after a delay. */
  #forget(): void {
    this.#thread = undefined;
    this.#opened = undefined;
    this.#restartMs = Math.min(RESTART_MS_MAX, Math.max(RESTART_MS_MIN, 2 * this.#restartMs));
  }

  #endedError(when: string, cause: unknown): KubeloomError {
    const { module } = this.#settings;
    if (this.#isClosed) {
      return new KubeloomError('ERR_KUBELOOM_STOPPED', `the pool was closed: its thread ended ${when}`);
    }
    const message = `a thread of ${module} ended ${when}: ${messageOf(cause)}`;
    return new KubeloomError('ERR_KUBELOOM_THREAD_RESTARTED', message, { cause });
  }
}
