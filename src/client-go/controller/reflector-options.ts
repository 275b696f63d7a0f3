/** Options of a reflector, with client-go's numbers as defaults. */
import { realClock } from '../../base/clock.ts';
import type { Clock, Random } from '../../base/clock.ts';
import type { ReflectorSpec } from '../../shared/protocol.ts';
import type { ReflectorErrorHandler } from './error-reports.ts';

export interface BackoffOptions {
  /** Default 800. */
  readonly initialMs?: number;
  /** Default 30,000; the delay doubles up to this value. */
  readonly maxMs?: number;
  /** Random share that is added to a delay. Default 1: up to 100 %. */
  readonly jitter?: number;
}

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
  readonly backoff?: BackoffOptions;
  /** Time for which a server's internal errors lead to a new watch at once. Default 0: never. */
  readonly maxInternalErrorRetryDurationMs?: number;
  /** `off` lists first and never streams; default `auto`, unless the ListerWatcher says that it cannot. */
  readonly watchList?: 'auto' | 'off';
  /** Called for every failure, including those of a watch and of the store. Default: `process.emitWarning`. */
  readonly watchErrorHandler?: ReflectorErrorHandler;
  readonly clock?: Clock;
  readonly random?: Random;
}

const WATCH_TIMEOUT_MIN_SECONDS = 300;

/** Returns the clock and the random source. */
export function timesOf(options: ReflectorOptions): { readonly clock: Clock; readonly random: Random } {
  return { clock: options.clock ?? realClock, random: options.random ?? Math.random };
}

/** Returns the options as the rules of list-and-watch take them, with empty values for unused ones. */
export function specOf(options: ReflectorOptions, isWatchListUnsupported: boolean): ReflectorSpec {
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
