/** Waiting for several informers at once. */
import type { DoneProgress } from '../done-checker.ts';
import { NotSyncedError } from './wait-for.ts';

/** What can be waited for: every informer. */
export interface Syncable {
  readonly name: string;
  readonly phase: string;
  readonly lastError: Error | undefined;
  /** How far the first list has come. */
  readonly progress?: DoneProgress | undefined;
  hasSynced(): boolean;
  waitForSync(signal?: AbortSignal): Promise<void>;
}

/**
 * Resolves when all have synced. When `signal` is aborted first, or one of them stops, rejects with one error
 * that names every informer that has not synced and its last error.
 *
 * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), whose `cause` is the signal's reason or what ended an informer
 */
export function waitForCacheSync(
  signal: AbortSignal | undefined,
  ...informers: readonly Syncable[]
): Promise<void> {
  return waitForNamedCacheSync('', signal, ...informers);
}

/** The same on behalf of `controller`, which the error names. */
export async function waitForNamedCacheSync(
  controller: string,
  signal: AbortSignal | undefined,
  ...informers: readonly Syncable[]
): Promise<void> {
  const ending = new AbortController();
  const anySignal = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
  const failure = await Promise.all(informers.map((informer) => informer.waitForSync(anySignal))).then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  );
  // The first that cannot sync any more ends the wait for the others.
  ending.abort();
  const states = informers.map((informer) => ({
    name: informer.name,
    isDone: informer.hasSynced(),
    reason: informer.lastError?.message ?? informer.phase,
    ...(informer.progress ? { progress: informer.progress } : {}),
  }));
  // What has synced by now counts, whatever ended its wait.
  if (states.every(({ isDone }) => isDone)) return;
  throw new NotSyncedError(controller, states, failure?.cause);
}
