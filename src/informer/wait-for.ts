/**
 * Waits for several done checkers without polling, as client-go's WaitFor, and for the first lists of several
 * informers. A wait reports progress. A wait that ends too early rejects with an error that names every missing checker
 * and the reason.
 */
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import type { DoneChecker, DoneProgress } from '../base/done-checker.ts';
import { KubeloomError, messageOf } from '../base/errors.ts';
import { onAbort } from '../base/on-abort.ts';
import {
  anArray,
  anArrayOf,
  anObject,
  callback,
  clock as aClock,
  having,
  number,
  signal as aSignal,
  text,
  checkOptions,
} from '../base/option-checks.ts';
import type { OptionCheck, OptionChecks } from '../base/option-checks.ts';
import { signalOf } from '../base/signal-options.ts';
import type { SignalOptions } from '../base/signal-options.ts';

/** Options of a wait for several informers or checkers. */
export interface WaitOptions {
  /** Ends the wait. A checker that is done at that time counts, even if the signal was aborted before the call. */
  readonly signal?: AbortSignal;
  /** Called when a checker is done, and every `intervalMs`. The wait rejects with an error of the callback. */
  readonly onProgress?: (progress: WaitProgress) => unknown;
  /** Default 1000. */
  readonly intervalMs?: number;
  /** Clock of `intervalMs` and `elapsedMs`. Default: the real clock. */
  readonly clock?: Clock;
}

/** A checker that is not done yet. */
export interface Missing {
  /** Name of the checker. */
  readonly name: string;
  /** Last error or current activity; empty if unknown. */
  readonly reason: string;
  /** Progress of the first list, if the checker reports it. */
  readonly progress?: DoneProgress;
}

/** Progress of a wait. */
export interface WaitProgress {
  /** Name of the wait. */
  readonly what: string;
  /** Time since the wait began. */
  readonly elapsedMs: number;
  /** Names, sorted. */
  readonly done: readonly string[];
  /** Sorted by name. */
  readonly missing: readonly Missing[];
  /** Objects and bytes read so far by all checkers that have `progress`, done or not. */
  readonly items: number;
  /** Bytes that all checkers with `progress` read so far, done or not. */
  readonly bytes: number;
}

/** Error of a failed wait, client-go's SyncResult. `cause` is the signal's reason or a checker's failure. */
export class NotSyncedError extends KubeloomError {
  /** Names, sorted. */
  readonly synced: readonly string[];
  /** Sorted by name. */
  readonly missing: readonly Missing[];

  /** @param what name of the wait; '' if it has no name */
  constructor(what: string, checkers: readonly DoneState[], cause: unknown) {
    anArray('checkers', checkers);
    for (const checker of checkers) anObject('a checker', checker);
    const missing = missingOf(checkers);
    const about = what === '' ? '' : `${messageOf(what)}: `;
    super('ERR_KUBELOOM_NOT_SYNCED', `${about}not synced: ${missing.map(describe).join('; ')}`, { cause });
    this.synced = doneOf(checkers);
    this.missing = missing;
  }
}

/** The part of a checker that is readable without waiting. */
export type DoneState = Omit<DoneChecker, 'done' | 'failed'>;

const INTERVAL_MS = 1000;
export const WAIT_CHECKS: OptionChecks<WaitOptions> = {
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
  text('what', what);
  checkOptions('options of a wait', options, WAIT_CHECKS);
  for (const checker of checkers) anObject('a checker', checker);
  const { signal, onProgress, intervalMs = INTERVAL_MS, clock = realClock } = options;
  const areDone = (): boolean => checkers.every(({ isDone }) => isDone);
  if (areDone()) return;
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

/** DoneChecker whose owner calls `finish`. */
export class SettableDoneChecker implements DoneChecker {
  readonly name: string;
  readonly done: Promise<void>;
  isDone = false;
  readonly #reason: () => string;
  readonly #progress: () => DoneProgress | undefined;
  #resolve!: () => void;

  /**
   * @param reason text that says why the checker is not done yet
   * @param progress progress until it is done
   */
  constructor(
    name: string,
    reason: () => string,
    progress: () => DoneProgress | undefined = () => undefined,
  ) {
    this.name = name;
    this.#reason = reason;
    this.#progress = progress;
    this.done = new Promise((resolve) => (this.#resolve = resolve));
  }

  get reason(): string {
    return this.isDone ? '' : this.#reason();
  }

  get progress(): DoneProgress | undefined {
    return this.#progress();
  }

  finish(): void {
    this.isDone = true;
    this.#resolve();
  }
}

/** The part of an informer that a wait uses. */
export interface Syncable {
  readonly name: string;
  readonly phase: string;
  /** Error that ended the informer, or else the informer's last error. */
  readonly lastError: Error | undefined;
  /** Progress of the first list. */
  readonly progress?: DoneProgress | undefined;
  hasSynced(): boolean;
  /** Whether the informer was started. If the method is absent, the informer counts as started. */
  hasStarted?(): boolean;
  waitForSync(options?: SignalOptions): Promise<void>;
}

const SYNCABLE: OptionCheck = having(
  'an informer with hasSynced() and waitForSync()',
  ...(['hasSynced', 'waitForSync'] satisfies (keyof Syncable)[]),
);

/**
 * Resolves when all informers have synced. If the signal is aborted first, or an informer stops, rejects with an error
 * that names every missing informer, with the informer's last error.
 *
 * @throws NotSyncedError (ERR_KUBELOOM_NOT_SYNCED), whose `cause` is the signal's reason or the error that ended an
 *   informer
 */
export function waitForCacheSync(informers: readonly Syncable[], options?: SignalOptions): Promise<void> {
  return waitForNamed('waitForCacheSync()', '', informers, options);
}

/** Does the same as `waitForCacheSync`; the error also names `controller`. */
export async function waitForNamedCacheSync(
  controller: string,
  informers: readonly Syncable[],
  options?: SignalOptions,
): Promise<void> {
  text('controller', controller);
  await waitForNamed('waitForNamedCacheSync()', controller, informers, options);
}

async function waitForNamed(
  call: string,
  controller: string,
  informers: readonly Syncable[],
  options: SignalOptions | undefined,
): Promise<void> {
  anArrayOf(SYNCABLE)('informers', informers);
  const signal = signalOf(call, options);
  const ending = new AbortController();
  const anySignal = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
  const failure = await Promise.all(
    informers.map((informer) => informer.waitForSync({ signal: anySignal })),
  ).then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  );
  // The first informer that can no longer sync ends the wait for the others.
  ending.abort();
  const states = informers.map(syncStateOf);
  // An informer that is synced at this point counts, even if the wait for it was ended.
  if (states.every(({ isDone }) => isDone)) return;
  throw new NotSyncedError(controller, states, signal?.aborted ? signal.reason : failure?.cause);
}

/**
 * Does the same through the informers' done checkers, and reports progress.
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
    informer.waitForSync(over).catch((error: unknown) => over.abort(error));
  }
  const any = AbortSignal.any(signal ? [signal, over.signal] : [over.signal]);
  try {
    const checkers = informers.map(({ hasSyncedChecker }) => hasSyncedChecker);
    await waitFor(what, { ...options, signal: any }, ...checkers);
  } finally {
    over.abort();
  }
}

/** Returns the sync state of an informer: whether it is synced, and if not, the reason and the progress. */
export function syncStateOf(informer: Syncable): DoneState {
  const { name, progress } = informer;
  const state = { name, isDone: informer.hasSynced(), reason: reasonOf(informer) };
  return progress ? { ...state, progress } : state;
}

/** The remedy for an informer that was not started, however it was created. */
export const START_ADVICE: string =
  'call run(), or start() of its factory: again for an informer that was requested after it';

export function reasonOf(informer: Omit<Syncable, 'waitForSync'>): string {
  const { phase, lastError } = informer;
  const doing =
    informer.hasStarted?.() === false && phase !== 'stopped' ? `not started; ${START_ADVICE}` : phase;
  return lastError ? `${doing}: ${lastError.message}` : doing;
}
