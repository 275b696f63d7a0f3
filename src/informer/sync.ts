/** Waiting for several informers at once. */
import { KubeloomError } from '../errors.ts';

/** What can be waited for: every informer. */
export interface Syncable {
  readonly name: string;
  readonly phase: string;
  readonly lastError: Error | undefined;
  hasSynced(): boolean;
  waitForSync(signal?: AbortSignal): Promise<void>;
}

/**
 * Resolves when all have synced. When `signal` is aborted first, rejects with one error that names every
 * informer that has not synced and its last error.
 */
export async function waitForCacheSync(
  signal: AbortSignal | undefined,
  ...informers: readonly Syncable[]
): Promise<void> {
  const results = await Promise.allSettled(informers.map((informer) => informer.waitForSync(signal)));
  if (results.every(({ status }) => status === 'fulfilled')) return;
  const missing = informers
    .filter((informer) => !informer.hasSynced())
    .map(({ name, phase, lastError }) => `${name}: ${lastError?.message ?? phase}`);
  throw new KubeloomError('ERR_KUBELOOM_NOT_SYNCED', `not synced: ${missing.join('; ')}`, {
    cause: results.find((result) => result.status === 'rejected')?.reason,
  });
}
