/**
 * Threads of an informer: reserved when the informer is constructed, taken when it runs. Informers constructed without
 * threads share those of the process. These start with the first informer that runs and end with the last. An informer
 * that never runs starts no thread and keeps none alive.
 */
import { isDeepStrictEqual } from 'node:util';
import { KubeloomError } from '../../base/errors.ts';
import { resolveThreadsOptions } from './options.ts';
import type { ResolvedThreadsOptions, ThreadsOptions } from './options.ts';
import { InformerThreads } from './informer-threads.ts';

export interface ThreadsLease {
  /** Options of the threads; known before the threads start. */
  readonly options: ResolvedThreadsOptions;
  readonly shards: number;
  /** Undefined before `take`. */
  readonly threads: InformerThreads | undefined;
  take(): InformerThreads;
  /** Resolves when the threads have ended, if this informer was their last user. */
  release(): Promise<void>;
}

/**
 * Returns the handle for an informer's threads. The caller closes an instance that the caller has constructed; all
 * other informers share the threads of the process.
 *
 * @throws ERR_KUBELOOM_THREADS_CONFLICT when another informer, running or not, has reserved different options
 */
export function leaseThreads(requested: InformerThreads | ThreadsOptions | undefined): ThreadsLease {
  return requested instanceof InformerThreads ? new OwnLease(requested) : new SharedLease(reserve(requested));
}

class OwnLease implements ThreadsLease {
  readonly threads: InformerThreads;

  constructor(threads: InformerThreads) {
    this.threads = threads;
  }

  get options(): ResolvedThreadsOptions {
    return this.threads.options;
  }

  get shards(): number {
    return this.threads.shards;
  }

  take(): InformerThreads {
    return this.threads;
  }

  release(): Promise<void> {
    return Promise.resolve();
  }
}

interface Shared {
  readonly options: ResolvedThreadsOptions;
  /** Informers that were constructed and have not ended; they keep the options reserved. */
  reservations: number;
  /** Informers that run; they keep the threads alive. */
  users: number;
  threads: InformerThreads | undefined;
}

let shared: Shared | undefined;

function reserve(requested: ThreadsOptions | undefined): Shared {
  const options = resolveThreadsOptions(requested);
  if (shared && requested !== undefined && !isDeepStrictEqual(shared.options, options)) {
    throw new KubeloomError(
      'ERR_KUBELOOM_THREADS_CONFLICT',
      'the informers of this process share threads with different options; pass the same options everywhere, ' +
        'or give this informer an `InformerThreads` of its own',
    );
  }
  shared ??= { options, reservations: 0, users: 0, threads: undefined };
  shared.reservations++;
  return shared;
}

class SharedLease implements ThreadsLease {
  readonly #shared: Shared;
  threads: InformerThreads | undefined;
  #isReleased = false;

  constructor(reserved: Shared) {
    this.#shared = reserved;
  }

  get options(): ResolvedThreadsOptions {
    return this.#shared.options;
  }

  get shards(): number {
    return Math.max(1, this.options.shards);
  }

  take(): InformerThreads {
    const held = this.#shared;
    held.threads ??= new InformerThreads(held.options);
    held.users++;
    this.threads = held.threads;
    return held.threads;
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    const held = this.#shared;
    held.reservations--;
    if (held.reservations === 0 && shared === held) shared = undefined;
    if (!this.threads) return;
    held.users--;
    if (held.users > 0) return;
    const { threads } = held;
    held.threads = undefined;
    await threads?.close();
  }
}
