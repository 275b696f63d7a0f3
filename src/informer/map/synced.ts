/** Waits for the first sync of informers. */
import { setMaxListeners } from 'node:events';
import { waitFor } from '../wait-for.ts';
import type { Informer } from './view-registration.ts';

/**
 * Resolves when all informers have synced.
 *
 * @param what name in messages
 * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), naming the missing ones, when the signal is aborted or one ends
 */
export async function waitForInformers(
  what: string,
  signal: AbortSignal | undefined,
  informers: readonly Informer[],
): Promise<void> {
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  for (const informer of informers) {
    informer.waitForSync(over.signal).catch((error: unknown) => over.abort(error));
  }
  const any = AbortSignal.any(signal ? [signal, over.signal] : [over.signal]);
  try {
    await waitFor(what, { signal: any }, ...informers.map(({ hasSyncedChecker }) => hasSyncedChecker));
  } finally {
    over.abort();
  }
}
