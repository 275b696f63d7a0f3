/**
 * The threads that informers without a wish of their own share. They start with the first informer and end
 * with the last, so that a process whose informers have stopped can end.
 */
import { isDeepStrictEqual } from 'node:util';
import { KubeloomError } from '../errors.ts';
import { resolveThreadsOptions } from '../options.ts';
import type { ThreadsOptions } from '../options.ts';
import { InformerThreads } from './informer-threads.ts';

export interface ThreadsLease {
  readonly threads: InformerThreads;
  /** Resolves when the threads have ended, if this was their last user. */
  release(): Promise<void>;
}

let shared: { readonly threads: InformerThreads; users: number } | undefined;

/** An instance of the user's stays the user's to close; anything else is a share of the default. */
export function leaseThreads(wish: InformerThreads | ThreadsOptions | undefined): ThreadsLease {
  if (wish instanceof InformerThreads) return { threads: wish, release: () => Promise.resolve() };
  const options = resolveThreadsOptions(wish);
  if (shared && wish !== undefined && !isDeepStrictEqual(shared.threads.options, options)) {
    throw new KubeloomError(
      'ERR_KUBELOOM_THREADS_CONFLICT',
      'the informers of this process share threads with other options; pass the same options everywhere, ' +
        'or give this informer an `InformerThreads` of its own',
    );
  }
  shared ??= { threads: new InformerThreads(options), users: 0 };
  const lease = shared;
  lease.users++;
  let isReleased = false;
  return {
    threads: lease.threads,
    release: async () => {
      if (isReleased) return;
      isReleased = true;
      lease.users--;
      if (lease.users > 0) return;
      if (shared === lease) shared = undefined;
      await lease.threads.close();
    },
  };
}
