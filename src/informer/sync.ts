/** Waits for the first lists of several informers. */
import type { DoneChecker, DoneProgress } from '../base/done-checker.ts';
import { NotSyncedError, waitFor } from './wait-for.ts';
import type { DoneState, WaitOptions } from './wait-for.ts';

/** The part of an informer that a wait uses. */
export interface Syncable {
  readonly name: string;
  readonly phase: string;
  /** Error that ended the informer, or else its last error. */
  readonly lastError: Error | undefined;
  /** Progress of the first list. */
  readonly progress?: DoneProgress | undefined;
  hasSynced(): boolean;
  /** Whether the informer was started. Without this method it counts as started. */
  hasStarted?(): boolean;
  waitForSync(signal?: AbortSignal): Promise<void>;
}

/**
 * Resolves when all informers have synced. When `signal` is aborted first, or one informer stops, rejects with one error
 * that names every informer that has not synced, and its last error.
 *
 * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), whose `cause` is the signal's reason or the error that ended an
 *   informer
 */
export function waitForCacheSync(
  signal: AbortSignal | undefined,
  ...informers: readonly Syncable[]
): Promise<void> {
  return waitForNamedCacheSync('', signal, ...informers);
}

/** Does the same as `waitForCacheSync`; the error also names `controller`. */
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
  // The first informer that cannot sync any more ends the wait for the others.
  ending.abort();
  const states = informers.map(syncStateOf);
  // An informer that has synced by now counts, even if its wait was ended.
  if (states.every(({ isDone }) => isDone)) return;
  throw new NotSyncedError(controller, states, signal?.aborted ? signal.reason : failure?.cause);
}

/**
 * Does the same by the informers' done checkers, and reports progress.
 *
 * @param what name of the wait in messages
 */
export async function waitForCheckers(
  what: string,
  { signal, ...options }: WaitOptions,
  informers: readonly (Pick<Syncable, 'waitForSync'> & { readonly hasSyncedChecker: DoneChecker })[],
): Promise<void> {
  const over = new AbortController();
  for (const informer of informers) {
    informer.waitForSync(over.signal).catch((error: unknown) => over.abort(error));
  }
  const any = AbortSignal.any(signal ? [signal, over.signal] : [over.signal]);
  try {
    const checkers = informers.map(({ hasSyncedChecker }) => hasSyncedChecker);
    await waitFor(what, { ...options, signal: any }, ...checkers);
  } finally {
    over.abort();
  }
}

/** Returns whether an informer has synced, and if not, the reason and its progress. */
export function syncStateOf(informer: Syncable): DoneState {
  const { name, progress } = informer;
  const state = { name, isDone: informer.hasSynced(), reason: reasonOf(informer) };
  return progress ? { ...state, progress } : state;
}

export function reasonOf(informer: Omit<Syncable, 'waitForSync'>): string {
  const { phase, lastError } = informer;
  const doing = informer.hasStarted?.() === false && phase !== 'stopped' ? 'not started: call run()' : phase;
  return lastError ? `${doing}: ${lastError.message}` : doing;
}
