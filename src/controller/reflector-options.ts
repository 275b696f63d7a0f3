/** What a reflector can be told, with client-go's numbers where nothing is said. */
import { realClock } from '../clock.ts';
import type { Clock, Random } from '../clock.ts';
import type { ReflectorSpec } from '../threads/protocol.ts';
import type { ReflectorErrorHandler } from './error-reports.ts';

export interface BackoffOptions {
  /** Default 800. */
  readonly initialMs?: number;
  /** Default 30,000; it is doubled until there. */
  readonly maxMs?: number;
  /** How much of the delay may come on top by chance; default 1: up to as much again. */
  readonly jitter?: number;
}

export interface ReflectorOptions {
  /** In messages. */
  readonly name?: string;
  /** In messages; default: the expected type. */
  readonly typeDescription?: string;
  /** Default 0: never. */
  readonly resyncPeriodMs?: number;
  /** Asked at every resync period; default: always. */
  readonly shouldResync?: () => boolean;
  /** client-go's WatchListPageSize: every list in pages of so many. Default 0: its ladder. */
  readonly watchListPageSize?: number;
  /** Watches end after a random time from here to twice that. Below five minutes, the default, it is ignored. */
  readonly minWatchTimeoutMs?: number;
  readonly backoff?: BackoffOptions;
  /** For so long a server's internal errors are answered by watching again at once. Default 0: never. */
  readonly maxInternalErrorRetryDurationMs?: number;
  /** Compares every streaming list with a list at the same version. Expensive; default false. */
  readonly checkConsistency?: boolean;
  /** `off` lists first and never streams; default `auto`, unless the ListerWatcher says that it cannot. */
  readonly watchList?: 'auto' | 'off';
  /**
   * Told of every failure, those of a watch and of the destination included. Default: `process.emitWarning`.
   */
  readonly watchErrorHandler?: ReflectorErrorHandler;
  readonly clock?: Clock;
  readonly random?: Random;
}

const WATCH_TIMEOUT_MIN_SECONDS = 300;

/** Clock and chance. */
export function timesOf(options: ReflectorOptions): { readonly clock: Clock; readonly random: Random } {
  return { clock: options.clock ?? realClock, random: options.random ?? Math.random };
}

/** The same as the rules of list-and-watch want it. What they do not need here is empty. */
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
    recordBytesMax: 0,
    watchTimeoutMinSeconds: minSeconds,
    watchTimeoutMaxSeconds: 2 * minSeconds,
    backoffInitialMs: backoff.initialMs ?? 800,
    backoffMaxMs: backoff.maxMs ?? 30_000,
    maxInternalErrorRetryDurationMs: options.maxInternalErrorRetryDurationMs ?? 0,
    checkConsistency: options.checkConsistency ?? false,
  };
}
