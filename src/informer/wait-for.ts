/**
 * Waiting for several things at once without polling: resolves when all are done, tells how far they are, and
 * when time is over names what is missing and why. client-go's WaitFor.
 */
import { realClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { DoneChecker, DoneProgress } from '../done-checker.ts';
import { KubeloomError } from '../errors.ts';
import { onAbort } from '../on-abort.ts';
import { wantNumber } from '../options.ts';

export interface WaitOptions {
  /** Ends the wait. What is done by then counts, also when the signal was aborted from the start. */
  readonly signal?: AbortSignal;
  /** Called when something is done, and every `intervalMs` in between. What it throws, or rejects with, ends the wait. */
  readonly onProgress?: (progress: WaitProgress) => unknown;
  /** Default 1000. */
  readonly intervalMs?: number;
  readonly clock?: Clock;
}

/** What is not done yet. */
export interface Missing {
  readonly name: string;
  /** The last error, or what goes on; empty when nobody knows. */
  readonly reason: string;
  readonly progress?: DoneProgress;
}

export interface WaitProgress {
  /** What is waited for. */
  readonly what: string;
  readonly elapsedMs: number;
  /** Names, sorted. */
  readonly done: readonly string[];
  /** By name. */
  readonly missing: readonly Missing[];
  /** Read so far by everything that tells, done or not. */
  readonly items: number;
  readonly bytes: number;
}

/** Why a wait failed; `cause` is the signal's reason. client-go's SyncResult. */
export class NotSyncedError extends KubeloomError {
  /** Names, sorted. */
  readonly synced: readonly string[];
  /** By name. */
  readonly missing: readonly Missing[];

  /** @param what was waited for; '' when it has no name */
  constructor(what: string, checkers: readonly DoneState[], cause: unknown) {
    const missing = missingOf(checkers);
    const about = what === '' ? '' : `${what}: `;
    super('ERR_KUBELOOM_NOT_SYNCED', `${about}not synced: ${missing.map(describe).join('; ')}`, { cause });
    this.synced = doneOf(checkers);
    this.missing = missing;
  }
}

/** What can be told of a checker without waiting for it. */
export type DoneState = Omit<DoneChecker, 'done' | 'failed'>;

const INTERVAL_MS = 1000;

/**
 * Resolves when all checkers are done.
 *
 * @param what is waited for, in messages
 * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED) when the signal is aborted first, or one of them can never be done
 */
export async function waitFor(
  what: string,
  options: WaitOptions,
  ...checkers: readonly DoneChecker[]
): Promise<void> {
  const { signal, onProgress, intervalMs = INTERVAL_MS, clock = realClock } = options;
  wantNumber('intervalMs', intervalMs, 1, Number.MAX_SAFE_INTEGER);
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
          const told = onProgress?.(progressOf(what, checkers, clock.now() - startMs));
          void Promise.resolve(told).catch(reject);
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
