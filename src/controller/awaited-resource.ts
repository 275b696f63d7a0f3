/**
 * The resource of a kind, as soon as the server serves it. A definition may be installed, or an apiserver started, a
 * moment after the program. An informer of a fully described resource also waits for both.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import { abortable } from '../base/on-abort.ts';
import { sleep } from '../base/sleep.ts';
import type { KindLike } from '../kube/rest-mapper.ts';
import { NotSyncedError } from '../index.ts';
import type { InformersMap } from '../informer/map/informers-map.ts';
import type { ResourceRef } from '../index.ts';

/** Pauses between two reads of the server's resources; doubled each time. */
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;

/** Errors that waiting does not repair: of the call, of the credentials, of a closed cache. */
const FINAL: ReadonlySet<string> = new Set([
  'ERR_KUBELOOM_OPTION',
  'ERR_KUBELOOM_AMBIGUOUS_RESOURCE',
  'ERR_KUBELOOM_NOT_WATCHABLE',
  'ERR_KUBELOOM_KUBECONFIG',
  'ERR_KUBELOOM_STOPPED',
]);

/**
 * Waits for the resource. Reports the first error of each kind.
 *
 * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED) when the signal is aborted first, and the errors that waiting does
 *   not repair
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
