/**
 * The resource of a kind, as soon as the server answers and has it. A definition may be installed, or an apiserver started, a
 * moment after the program: an informer of a resource that is described in full waits for both as well.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import { abortable } from '../base/on-abort.ts';
import { sleep } from '../base/sleep.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import { NotSyncedError } from '../index.ts';
import type { InformersMap } from '../informer/map/informers-map.ts';
import type { ResourceRef } from '../index.ts';

/** Pauses between two readings of the server's resources, doubled each time. */
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;

/** Errors that no waiting repairs: of the call, of the credentials, of a cache that is closed. */
const FINAL: ReadonlySet<string> = new Set([
  'ERR_KUBELOOM_OPTION',
  'ERR_KUBELOOM_AMBIGUOUS_RESOURCE',
  'ERR_KUBELOOM_NOT_WATCHABLE',
  'ERR_KUBELOOM_KUBECONFIG',
  'ERR_KUBELOOM_STOPPED',
]);

/**
 * Reports the first error of each kind, and then waits.
 *
 * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED) when the signal is aborted first, and the errors that no waiting repairs
 */
export async function awaitedResource(
  kind: KindLike,
  cache: InformersMap,
  signal: AbortSignal,
  clock: Clock,
): Promise<ResourceRef> {
  const { restMapper } = cache;
  let failure: KubeloomError | undefined;
  let pauseMs = PAUSE_MS_MIN;
  for (;;) {
    try {
      if (failure) {
        await sleep(pauseMs, signal, clock);
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
        await abortable(restMapper.refresh(), signal);
      }
      return await abortable(restMapper.resourceFor(kind), signal);
    } catch (error) {
      if (signal.aborted) throw notSynced(kind, failure, signal);
      if (!(error instanceof KubeloomError) || FINAL.has(error.code)) throw error;
      if (error.code !== failure?.code) cache.report(error);
      failure = error;
    }
  }
}

function notSynced(kind: KindLike, failure: KubeloomError | undefined, signal: AbortSignal): NotSyncedError {
  const name = typeof kind === 'string' ? kind : 'kind' in kind ? kind.kind : kind.resource;
  const reason = failure?.message ?? 'the server has not said which resources it has';
  return new NotSyncedError('', [{ name, isDone: false, reason }], signal.reason);
}
