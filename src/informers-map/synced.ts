/** Waiting for informers: all, or the first that cannot. */
import { setMaxListeners } from 'node:events';
import { waitFor } from '../informer/wait-for.ts';
import type { Informer } from './view-registration.ts';

/**
 * @param what in messages
 * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), naming what is missing, when the signal is aborted or one ends
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
