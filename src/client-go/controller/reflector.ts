/**
 * client-go's Reflector on the calling thread: keeps a store, or a queue that feeds a store, equal to what a
 * ListerWatcher lists and watches. It follows the rules of the reflector thread (src/reflector), with functions instead
 * of sockets.
 */
import { realClock } from '../../base/clock.ts';
import type { Clock, Random } from '../../base/clock.ts';
import type { ReflectorStore } from '../../kube/store.ts';
import { KubeloomError, assert } from '../../base/errors.ts';
import type { ListerWatcher } from '../../kube/lister-watcher.ts';
import { initialState } from '../../reflector/rules/state.ts';
import type { Memory } from '../../reflector/rules/state.ts';
import type { ReflectorPhase, ReflectorSpec } from '../../shared/protocol.ts';
import { StoreWriter } from './store-writer.ts';
import type { ResourceVersionUpdater } from './store-writer.ts';
import { WarningReporter } from './warning-reporter.ts';
import type { ReflectorErrorHandler } from './warning-reporter.ts';
import { InlineReflector } from './inline-reflector.ts';
import type { InlineReflectorOptions } from './inline-reflector.ts';
import { onAbort } from '../../base/on-abort.ts';
import {
  anObject,
  callback,
  clock as aClock,
  having,
  integer,
  nested,
  number,
  oneOf,
  text,
  checkOptions,
} from '../../base/option-checks.ts';
import type { OptionCheck, OptionChecks } from '../../base/option-checks.ts';
import { requiredSignal } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';
import { anExpectedType, describeType } from './expected-type.ts';
import type { ExpectedType } from './expected-type.ts';

/** Delays between attempts. */
export interface BackoffOptions {
  /** Default 800. */
  readonly initialMs?: number;
  /** Default 30,000; the delay doubles up to this value. */
  readonly maxMs?: number;
  /** Random share that is added to a delay. Default 1: up to 100 %. */
  readonly jitter?: number;
}

/** Options of a reflector. */
export interface ReflectorOptions {
  /** Name in messages. */
  readonly name?: string;
  /** Type in messages; default: the expected type. */
  readonly typeDescription?: string;
  /** Default 0: never. */
  readonly resyncPeriodMs?: number;
  /** Called at every resync period; default: always resync. */
  readonly shouldResync?: () => boolean;
  /** client-go's WatchListPageSize: the page size of every list. Default 0: client-go's rules decide. */
  readonly watchListPageSize?: number;
  /** Watches end after a random time between this and twice this. Ignored below five minutes, the default. */
  readonly minWatchTimeoutMs?: number;
  /** Delays between attempts. Default: from 800 ms, doubled up to 30 s, plus up to 100 % of jitter. */
  readonly backoff?: BackoffOptions;
  /** Time for which a server's internal errors lead to a new watch at once. Default 0: never. */
  readonly maxInternalErrorRetryDurationMs?: number;
  /** `off` lists first and never streams; default `auto`, unless the ListerWatcher says that it cannot. */
  readonly watchList?: 'auto' | 'off';
  /** Called for every failure, including those of a watch and of the store. Default: `process.emitWarning`. */
  readonly watchErrorHandler?: ReflectorErrorHandler;
  /** Clock of delays and periods. Default: the real clock. */
  readonly clock?: Clock;
  /** Source of jitter and of the durations of watches: numbers from 0 to below 1. Default: Math.random. */
  readonly random?: Random;
}

const WATCH_TIMEOUT_MIN_SECONDS = 300;

const BACKOFF_CHECKS: OptionChecks<BackoffOptions> = {
  initialMs: number(0),
  maxMs: number(0),
  jitter: number(0),
};

/** Also the checks of the options that a controller and a plain informer pass on. */
export const REFLECTOR_CHECKS: OptionChecks<ReflectorOptions> = {
  name: text,
  typeDescription: text,
  resyncPeriodMs: number(0),
  shouldResync: callback,
  watchListPageSize: integer(0),
  minWatchTimeoutMs: number(0),
  backoff: nested(BACKOFF_CHECKS),
  maxInternalErrorRetryDurationMs: number(0),
  watchList: oneOf('auto', 'off'),
  watchErrorHandler: callback,
  clock: aClock,
  random: callback,
};

export const aListerWatcher: OptionCheck = having('a ListerWatcher with list() and watch()', 'list', 'watch');

/** Lists and watches a collection into a store, and retries every failure. */
export class Reflector<T> {
  /** Name in messages. Default: `Reflector` and the `typeDescription`. */
  readonly name: string;
  /** Type in messages. Default: the expected type, `apps/v1, Kind=Deployment`, or `<unspecified>`. */
  readonly typeDescription: string;
  readonly #options: ReflectorOptions;
  readonly #target: Omit<InlineReflectorOptions<T>, 'isSingle' | 'moved' | 'phase'>;
  #memory: Memory;
  #isRunning = false;
  #resourceVersion = '';
  #phase: ReflectorPhase = 'stopped';

  /**
   * @param expectedType events with objects of another type are reported and skipped; undefined: any type
   * @param store an error of `replace` is a failure of the list; errors of the store's other methods are reported
   */
  constructor(
    listerWatcher: ListerWatcher<T>,
    expectedType: ExpectedType | undefined,
    store: ReflectorStore<T> & Partial<ResourceVersionUpdater>,
    options: ReflectorOptions = {},
  ) {
    checkOptions('options of a reflector', options, REFLECTOR_CHECKS);
    aListerWatcher('listerWatcher', listerWatcher);
    if (expectedType !== undefined) anExpectedType('expectedType', expectedType);
    anObject('store', store);
    const { watchErrorHandler, backoff } = options;
    const times = timesOf(options);
    this.#options = options;
    this.typeDescription = options.typeDescription ?? describeType(expectedType);
    this.name = options.name ?? `Reflector ${this.typeDescription}`;
    const reports = new WarningReporter(this.name, watchErrorHandler, times.clock);
    const writer = new StoreWriter(store, reports);
    const jitter = backoff?.jitter ?? 1;
    this.#target = { name: this.name, listerWatcher, expectedType, writer, reports, ...times, jitter };
    const spec = specOf(options, listerWatcher.isWatchListUnsupported === true);
    const state = initialState(spec);
    assert(state.kind !== 'stopped', 'a reflector begins stopped');
    this.#memory = state.memory;
  }

  /** Returns the version of the last event or list written to the store; '' before the first. */
  lastSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Current activity. */
  get phase(): ReflectorPhase {
    return this.#phase;
  }

  /**
   * Lists and watches until the signal is aborted, and retries every failure. Returns at once after the abort. No write
   * reaches the store after that, even when the ListerWatcher's functions ignore the signal.
   *
   * @throws ERR_KUBELOOM_STARTED
   */
  async run(options: Required<SignalOptions>): Promise<void> {
    await this.#run(requiredSignal('run()', options), false);
  }

  /**
   * Runs a single iteration of `run`: returns after the abort, or when an open watch ended with an error, which is
   * reported.
   *
   * @throws the error of the list or watch that prevented watching; ERR_KUBELOOM_STARTED
   */
  async listAndWatch(options: Required<SignalOptions>): Promise<void> {
    const error = await this.#run(requiredSignal('listAndWatch()', options), true);
    if (error) throw error;
  }

  async #run(signal: AbortSignal, isSingle: boolean): Promise<KubeloomError | undefined> {
    if (this.#isRunning) {
      const message = `${this.name} is running: call run() or listAndWatch() again after it has returned`;
      throw new KubeloomError('ERR_KUBELOOM_STARTED', message);
    }
    if (signal.aborted) return undefined;
    this.#isRunning = true;
    const { clock, writer } = this.#target;
    const { resyncPeriodMs = 0 } = this.#options;
    const shouldResync = (): boolean => this.#options.shouldResync?.() ?? true;
    let stopResync: (() => void) | undefined;
    const options = {
      ...this.#target,
      isSingle,
      moved: (resourceVersion: string, by: 'list' | 'watch'): void => {
        this.#resourceVersion = resourceVersion;
        if (by === 'watch') writer.moved(resourceVersion);
        else stopResync ??= everyPeriod(clock, resyncPeriodMs, () => session.resync(shouldResync));
      },
      phase: (phase: ReflectorPhase): void => void (this.#phase = phase),
    };
    const session = new InlineReflector(options, this.#memory);
    const unlisten = onAbort(signal, () => session.stop());
    try {
      const { memory, error } = await session.run();
      this.#memory = memory;
      return error;
    } finally {
      unlisten();
      stopResync?.();
      this.#isRunning = false;
      this.#phase = 'stopped';
    }
  }
}

/** Returns the clock and the random source. */
export function timesOf(options: ReflectorOptions): { readonly clock: Clock; readonly random: Random } {
  return { clock: options.clock ?? realClock, random: options.random ?? Math.random };
}

/** Returns the options for the rules of list-and-watch, with empty values for unused options. */
function specOf(options: ReflectorOptions, isWatchListUnsupported: boolean): ReflectorSpec {
  const { backoff = {} } = options;
  const wantedSeconds = (options.minWatchTimeoutMs ?? 0) / 1000;
  const minSeconds = Math.max(WATCH_TIMEOUT_MIN_SECONDS, wantedSeconds);
  return {
    path: '',
    query: {},
    kind: '',
    apiVersion: '',
    watchList: isWatchListUnsupported ? 'off' : (options.watchList ?? 'auto'),
    pageSize: options.watchListPageSize ?? 0,
    objectBytesMax: 0,
    watchTimeoutMinSeconds: minSeconds,
    watchTimeoutMaxSeconds: 2 * minSeconds,
    backoffInitialMs: backoff.initialMs ?? 800,
    backoffMaxMs: backoff.maxMs ?? 30_000,
    maxInternalErrorRetryDurationMs: options.maxInternalErrorRetryDurationMs ?? 0,
  };
}

/**
 * Calls `onDue` once every period. The timer continues through watches, relists and delays. (client-go's timer restarts
 * with every relist, so frequent relists prevent resyncs.)
 *
 * @param periodMs 0: never
 * @returns a function that stops it
 */
function everyPeriod(clock: Clock, periodMs: number, onDue: () => void): () => void {
  if (periodMs <= 0) return () => undefined;
  let dueAt = clock.now() + periodMs;
  const arm = (): (() => void) =>
    clock.schedule(dueAt - clock.now(), () => {
      const now = clock.now();
      // The real clock counts fractions, timers count whole milliseconds.
      const isDue = now + 1 >= dueAt;
      if (isDue) dueAt = now + periodMs;
      cancel = arm();
      if (isDue) onDue();
    });
  let cancel = arm();
  return () => cancel();
}
