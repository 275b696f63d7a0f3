/**
 * Waits for several done checkers without polling, as client-go's WaitFor. It reports progress, and a wait that ends too
 * early rejects with an error that names every missing checker and the reason.
 */
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import type { DoneChecker, DoneProgress } from '../base/done-checker.ts';
import { KubeloomError } from '../base/errors.ts';
import { onAbort } from '../base/on-abort.ts';
import { callback, clock as aClock, number, signal as aSignal, wantOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';

export interface WaitOptions {
  /** Ends the wait. A checker that is done by then counts, even if the signal was aborted before the call. */
  readonly signal?: AbortSignal;
  /** Called when a checker is done, and every `intervalMs`. The wait rejects with an error that the callback throws. */
  readonly onProgress?: (progress: WaitProgress) => unknown;
  /** Default 1000. */
  readonly intervalMs?: number;
  readonly clock?: Clock;
}

/** A checker that is not done yet. */
export interface Missing {
  readonly name: string;
  /** Last error or current activity; empty when it is unknown. */
  readonly reason: string;
  readonly progress?: DoneProgress;
}

export interface WaitProgress {
  /** Name of the wait. */
  readonly what: string;
  readonly elapsedMs: number;
  /** Names, sorted. */
  readonly done: readonly string[];
  /** Sorted by name. */
  readonly missing: readonly Missing[];
  /** Objects and bytes read so far by all checkers that have `progress`, done or not. */
  readonly items: number;
  readonly bytes: number;
}

/** Error of a failed wait, client-go's SyncResult. `cause` is the signal's reason or a checker's failure. */
export class NotSyncedError extends KubeloomError {
  /** Names, sorted. */
  readonly synced: readonly string[];
  /** Sorted by name. */
  readonly missing: readonly Missing[];

  /** @param what name of the wait; '' when it has none */
  constructor(what: string, checkers: readonly DoneState[], cause: unknown) {
    const missing = missingOf(checkers);
    const about = what === '' ? '' : `${what}: `;
    super('ERR_KUBELOOM_NOT_SYNCED', `${about}not synced: ${missing.map(describe).join('; ')}`, { cause });
    this.synced = doneOf(checkers);
    this.missing = missing;
  }
}

/** The part of a checker that can be read without waiting. */
export type DoneState = Omit<DoneChecker, 'done' | 'failed'>;

const INTERVAL_MS = 1000;
const WAIT_CHECKS: OptionChecks<WaitOptions> = {
  signal: aSignal,
  onProgress: callback,
  intervalMs: number(1),
  clock: aClock,
};

/**
 * Resolves when all checkers are done.
 *
 * @param what name of the wait in messages
 * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED) when the signal is aborted first, or a checker can never be done
 */
export async function waitFor(
  what: string,
  options: WaitOptions,
  ...checkers: readonly DoneChecker[]
): Promise<void> {
  wantOptions('options of a wait', options, WAIT_CHECKS);
  const { signal, onProgress, intervalMs = INTERVAL_MS, clock = realClock } = options;
  const areDone = (): boolean => checkers.every(({ isDone }) => isDone);
  if (areDone()) return;
  if (signal?.aborted) throw new NotSyncedError(what, checkers, signal.reason);
  const startMs = clock.now();
  let unlisten = (): void => {};
  let cancelTimer = (): void => {};
  let isOver = false;
  try {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (isOver) return;
        try {
          const result = onProgress?.(progressOf(what, checkers, clock.now() - startMs));
          void Promise.resolve(result).catch(reject);
        } catch (error) {
          reject(error);
        }
        if (areDone()) resolve();
      };
      const tick = (): void => {
        cancelTimer = clock.schedule(intervalMs, tick);
        look();
      };
      const abort = (): void =>
        areDone() ? resolve() : reject(new NotSyncedError(what, checkers, signal?.reason));
      if (signal) unlisten = onAbort(signal, abort);
      if (onProgress) cancelTimer = clock.schedule(intervalMs, tick);
      for (const { isDone, done, failed } of checkers) {
        if (isDone) continue;
        void done.then(look);
        void failed?.then((cause) => reject(new NotSyncedError(what, checkers, cause)));
      }
    });
  } finally {
    isOver = true;
    cancelTimer();
    unlisten();
  }
}

function progressOf(what: string, checkers: readonly DoneChecker[], elapsedMs: number): WaitProgress {
  let items = 0;
  let bytes = 0;
  for (const { progress } of checkers) {
    items += progress?.items ?? 0;
    bytes += progress?.bytes ?? 0;
  }
  return { what, elapsedMs, done: doneOf(checkers), missing: missingOf(checkers), items, bytes };
}

function doneOf(checkers: readonly DoneState[]): readonly string[] {
  return checkers
    .filter(({ isDone }) => isDone)
    .map(({ name }) => name)
    .toSorted();
}

function missingOf(checkers: readonly DoneState[]): readonly Missing[] {
  return checkers
    .filter(({ isDone }) => !isDone)
    .map(({ name, reason = '', progress }) => ({ name, reason, ...(progress ? { progress } : {}) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function describe({ name, reason, progress }: Missing): string {
  const read = progress && progress.items > 0 ? `${itemsOf(progress)} read` : '';
  const why = [reason, read].filter((part) => part !== '').join(', ');
  return why === '' ? name : `${name}: ${why}`;
}

function itemsOf({ items, expectedItems }: DoneProgress): string {
  return expectedItems === undefined ? `${items} objects` : `${items} of ${expectedItems} objects`;
}
