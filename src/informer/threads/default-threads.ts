/**
 * Threads of an informer: reserved when the informer is constructed, taken when it runs. Informers constructed without
 * threads share the threads of the process, which start with the first running informer and end with the last. An
 * informer that never runs neither starts threads nor keeps them alive.
 */
import { isDeepStrictEqual } from 'node:util';
import { KubeloomError, assert } from '../../base/errors.ts';
import { resolveThreadsOptions, shardsOf } from './threads-options.ts';
import type { ResolvedThreadsOptions, ThreadsOptions } from './threads-options.ts';
import { InformerThreads } from './informer-threads.ts';

interface DefaultThreads {
  readonly options: ResolvedThreadsOptions;
  /** Constructed informers that did not end; they keep the options reserved. */
  reservations: number;
  /** Informers that run; they keep the threads alive. */
  users: number;
  threads: InformerThreads | undefined;
}

let defaults: DefaultThreads | undefined;

/** An informer's use of given threads, or of the threads of the process until the release. */
export class ThreadsHandle {
  readonly #shared: DefaultThreads | undefined;
  /** Undefined before `take`, unless the threads were given. */
  threads: InformerThreads | undefined;
  #isReleased = false;

  /**
   * Reserves threads. The caller closes an instance that the caller constructed; all other informers share the threads
   * of the process.
   *
   * @throws ERR_KUBELOOM_THREADS_CONFLICT if another informer, running or not, reserved different options
   */
  constructor(requested: InformerThreads | ThreadsOptions | undefined) {
    if (requested instanceof InformerThreads) this.threads = requested;
    else this.#shared = reserve(requested);
  }

  /** Number of shards; known before the threads start. */
  get shards(): number {
    return this.threads?.shards ?? (this.#shared ? shardsOf(this.#shared.options) : 1);
  }

  /** Known before the threads start. */
  get drainBudgetMs(): number {
    const given = this.threads ?? this.#shared;
    assert(given !== undefined, 'threads are given or shared');
    return given.options.drainBudgetMs;
  }

  /** Starts the threads unless they run already. */
  take(): InformerThreads {
    const shared = this.#shared;
    if (shared) {
      shared.threads ??= new InformerThreads(shared.options);
      shared.users++;
      this.threads = shared.threads;
    }
    assert(this.threads !== undefined, 'threads are given or shared');
    return this.threads;
  }

  /** Resolves when the threads have ended, if this informer was the last user of the threads of the process. */
  async release(): Promise<void> {
    const shared = this.#shared;
    if (!shared || this.#isReleased) return;
    this.#isReleased = true;
    shared.reservations--;
    if (shared.reservations === 0 && defaults === shared) defaults = undefined;
    if (!this.threads) return;
    shared.users--;
    if (shared.users > 0) return;
    const { threads } = shared;
    shared.threads = undefined;
    await threads?.close();
  }
}

function reserve(requested: ThreadsOptions | undefined): DefaultThreads {
  const options = resolveThreadsOptions(requested);
  if (defaults && requested !== undefined && !isDeepStrictEqual(defaults.options, options)) {
    throw new KubeloomError(
      'ERR_KUBELOOM_THREADS_CONFLICT',
      'the informers of this process share threads with different options; pass the same options everywhere, ' +
        'or give this informer a separate `InformerThreads`',
    );
  }
  defaults ??= { options, reservations: 0, users: 0, threads: undefined };
  defaults.reservations++;
  return defaults;
}
