/** The options of one informer, their defaults and bounds. */
import type { KubeConfig } from '@kubernetes/client-node';
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import { defaultLifetimes, refuse, wantInteger, wantNumber } from '../options.ts';
import type { Codec, Lifetimes, ThreadsOptions } from '../options.ts';
import { SLOW_LIMITS } from '../processor/slow-handler.ts';
import type { SlowLimits } from '../processor/slow-handler.ts';
import { declaredFields, wantIndexers } from '../store/index-functions.ts';
import type { Indexers } from '../store/index-functions.ts';
import type { ReflectorSpec, ShardSpec } from '../threads/protocol.ts';
import type { InformerThreads } from '../threads/informer-threads.ts';
import { isListerWatcher } from '../kube/list-watch.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import { apiVersionOf, resourcePath } from '../kube/resource.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { MutationError } from '../mutation/mutation-error.ts';
import type { ErrorListener } from './errors.ts';
import { STALE_AFTER_MS } from './health.ts';
import { splitTransform, wantTransform } from './transform.ts';
import type { Transform } from './transform.ts';
import type { TweakListOptions } from './tweak.ts';

export interface InformerOptions<T> {
  /** Only this namespace. Default: all. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Called for every LIST and WATCH; see there what it may change. */
  readonly tweakListOptions?: TweakListOptions;
  /**
   * `metadata`: the server sends only kind, apiVersion (of PartialObjectMetadata) and metadata. What a server that
   * cannot do that sends instead, and what a ListerWatcher gives, is taken as it comes. Default: `object`.
   */
  readonly projection?: 'object' | 'metadata';
  /** Dotted paths whose values every entry has in `fields` without being parsed. */
  readonly fields?: readonly string[];
  /** Beside the namespace index, which is always there. */
  readonly indexers?: Indexers<T>;
  readonly transform?: Transform<T>;
  /** How objects are kept. `json`: as received. `msgpack`: smaller, cheaper to read, dearer to store. */
  readonly codec?: Codec;
  /** How often handlers are told of unchanged objects; 0 (default): never. */
  readonly resyncPeriodMs?: number;
  /** Default: strict unless NODE_ENV is production. */
  readonly lifetimes?: Lifetimes;
  /** Default: the threads that all informers of the process share. */
  readonly threads?: InformerThreads | ThreadsOptions;
  readonly onError?: ErrorListener;
  /** Resync periods, the age of backlogs and the rate of warnings go by it. Default: the real one. */
  readonly clock?: Clock;
  /** The streaming list of Kubernetes 1.35; `auto` (default) falls back to LIST where a server has none. */
  readonly watchList?: 'auto' | 'off';
  /** Objects a LIST page; 0 (default): client-go's rules. */
  readonly pageSize?: number;
  readonly backoff?: { readonly initialMs?: number; readonly maxMs?: number };
  /**
   * How long a watch is asked to last at least; at most it is twice that, at random, so that not all end
   * together. Default and least: 300,000 (five minutes).
   */
  readonly minWatchTimeoutMs?: number;
  /**
   * A watch over which no byte has come for so long, bookmarks included, is replaced. Default: five seconds after it
   * should have ended; 150,000 once its server has sent a bookmark, which it does every minute. Least: 100.
   */
  readonly watchSilenceMaxMs?: number;
  /** A streaming list that says nothing for so long is given up for a LIST. Default 30,000, least 100. */
  readonly streamingListSilenceMaxMs?: number;
  /** For so long an internal error of a watch is answered by watching on at once, without a list. Default: 0. */
  readonly maxInternalErrorRetryDurationMs?: number;
  /**
   * Compare every streaming list with a LIST at the same version and report what differs. For finding faults
   * of servers: costs a second list and some hundred bytes an object while it runs. Default: no.
   */
  readonly checkConsistency?: boolean;
  /**
   * After how long without a sign that the cache follows the server (an event, a bookmark, an opened watch, a
   * whole list) it counts as stale. Default 120,000: a server sends a bookmark a minute.
   */
  readonly staleAfterMs?: number;
  /**
   * How writes to shared objects are found. `freeze`: they throw where they are written. `compare`: whatever was
   * read is compared with a copy every second, for two to four minutes; dear. Default: freeze with strict
   * lifetimes, else off.
   */
  readonly mutationDetector?: MutationDetection;
  /**
   * A call of a handler that takes longer than `slowCallMs` while more than `slowNotifications` wait for it is reported
   * (ERR_KUBELOOM_SLOW_HANDLER), at most once a minute for each handler. Defaults: 1024, and 100 ms; as in client-go.
   */
  readonly slowNotifications?: number;
  readonly slowCallMs?: number;
  /**
   * So is a handler for which a notification has waited for so long, also when its call does not end. Default: 30,000;
   * 0: never. What waits can be seen at any time: `registration.backlog`, `health.handlers`.
   */
  readonly slowAgeMs?: number;
  /** Told of writes to shared objects, in place of `onError`. */
  readonly onMutation?: (mutation: MutationError) => unknown;
}

const PARTIAL = 'application/json;as=PartialObjectMetadata';
const IN_META = ';g=meta.k8s.io;v=v1,application/json';
/** What a client asks for that wants metadata only; old servers send whole objects. */
const ACCEPT_METADATA = { list: `${PARTIAL}List${IN_META}`, watch: `${PARTIAL}${IN_META}` };

/** client-go's numbers. */
const MIN_WATCH_TIMEOUT_MS = 300_000;
/** A day: no server lets a watch last longer. */
const MIN_WATCH_TIMEOUT_MS_MAX = 86_400_000;
const BACKOFF_INITIAL_MS = 800;
const BACKOFF_MAX_MS = 30_000;
/** Less could be a pause of the machine. */
const SILENCE_MS_MIN = 100;
/** No timer runs longer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export type MutationDetection = 'freeze' | 'compare' | 'off';

export interface ResolvedInformerOptions extends SlowLimits {
  readonly fields: readonly string[];
  readonly lifetimes: Lifetimes;
  readonly resyncPeriodMs: number;
  readonly staleAfterMs: number;
  readonly mutationDetector: MutationDetection;
}

export function resolveInformerOptions<T>(options: InformerOptions<T>): ResolvedInformerOptions {
  const resyncPeriodMs = options.resyncPeriodMs ?? 0;
  wantNumber('resyncPeriodMs', resyncPeriodMs, 0, Number.MAX_SAFE_INTEGER);
  const { codec = 'json', watchList = 'auto', lifetimes = defaultLifetimes() } = options;
  if (!['json', 'msgpack'].includes(codec)) refuse('codec', codec, "'json' or 'msgpack'");
  if (!['auto', 'off'].includes(watchList)) refuse('watchList', watchList, "'auto' or 'off'");
  if (!['strict', 'fast'].includes(lifetimes)) refuse('lifetimes', lifetimes, "'strict' or 'fast'");
  const { projection = 'object', tweakListOptions: tweak } = options;
  if (!['object', 'metadata'].includes(projection)) {
    refuse('projection', projection, "'object' or 'metadata'");
  }
  if (tweak !== undefined && typeof tweak !== 'function') refuse('tweakListOptions', tweak, 'a function');
  const { staleAfterMs = STALE_AFTER_MS } = options;
  wantNumber('staleAfterMs', staleAfterMs, 1, TIMER_MS_MAX);
  const { mutationDetector = lifetimes === 'strict' ? 'freeze' : 'off' } = options;
  if (!['freeze', 'compare', 'off'].includes(mutationDetector)) {
    refuse('mutationDetector', mutationDetector, "'freeze', 'compare' or 'off'");
  }
  wantTransform(options.transform);
  wantIndexers(options.indexers ?? {});
  const { onError, onMutation, fields: declared = [] } = options;
  if (onError !== undefined && typeof onError !== 'function') refuse('onError', onError, 'a function');
  if (onMutation !== undefined && typeof onMutation !== 'function')
    refuse('onMutation', onMutation, 'a function');
  if (!Array.isArray(declared)) refuse('fields', declared, 'an array of dotted paths');
  const fields = [...new Set([...declared, ...declaredFields((options.indexers ?? {}) as Indexers)])];
  for (const field of fields)
    if (typeof field !== 'string' || field === '') refuse('fields', field, 'dotted paths');
  return { fields, lifetimes, resyncPeriodMs, staleAfterMs, mutationDetector, ...slowLimits(options) };
}

export function reflectorSpec<T>(
  ref: ResourceRef,
  options: InformerOptions<T>,
  source?: KubeConfig | ListerWatcher<T>,
): Omit<ReflectorSpec, 'recordBytesMax'> {
  if (options.namespace && !ref.isNamespaced) {
    throw new KubeloomError('ERR_KUBELOOM_OPTION', `${ref.resource} are cluster-scoped: leave namespace out`);
  }
  const isOwn = source !== undefined && isListerWatcher(source);
  if (isOwn && options.namespace) {
    const message = 'a ListerWatcher itself decides what it lists and watches: leave namespace out';
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  const isWatchListUnsupported = isOwn && source.isWatchListUnsupported === true;
  const pageSize = options.pageSize ?? 0;
  wantInteger('pageSize', pageSize, 0, 1_000_000);
  const backoffInitialMs = options.backoff?.initialMs ?? BACKOFF_INITIAL_MS;
  const backoffMaxMs = options.backoff?.maxMs ?? BACKOFF_MAX_MS;
  wantNumber('backoff.maxMs', backoffMaxMs, 1, Number.MAX_SAFE_INTEGER);
  wantNumber('backoff.initialMs', backoffInitialMs, 1, backoffMaxMs);
  const minWatchTimeoutMs = options.minWatchTimeoutMs ?? MIN_WATCH_TIMEOUT_MS;
  wantNumber('minWatchTimeoutMs', minWatchTimeoutMs, MIN_WATCH_TIMEOUT_MS, MIN_WATCH_TIMEOUT_MS_MAX);
  const maxInternalErrorRetryDurationMs = options.maxInternalErrorRetryDurationMs ?? 0;
  wantNumber('maxInternalErrorRetryDurationMs', maxInternalErrorRetryDurationMs, 0, Number.MAX_SAFE_INTEGER);
  const { watchSilenceMaxMs, streamingListSilenceMaxMs } = options;
  wantSilence('watchSilenceMaxMs', watchSilenceMaxMs);
  wantSilence('streamingListSilenceMaxMs', streamingListSilenceMaxMs);
  return {
    path: resourcePath(ref, options.namespace),
    query: {
      ...(options.labelSelector ? { labelSelector: options.labelSelector } : {}),
      ...(options.fieldSelector ? { fieldSelector: options.fieldSelector } : {}),
    },
    ...(options.projection === 'metadata' ? { accept: ACCEPT_METADATA } : {}),
    kind: options.projection === 'metadata' ? '' : ref.kind,
    apiVersion: apiVersionOf(ref),
    watchList: isWatchListUnsupported ? 'off' : (options.watchList ?? 'auto'),
    pageSize,
    watchTimeoutMinSeconds: minWatchTimeoutMs / 1000,
    watchTimeoutMaxSeconds: (2 * minWatchTimeoutMs) / 1000,
    ...(watchSilenceMaxMs === undefined ? {} : { watchSilenceMaxMs }),
    ...(streamingListSilenceMaxMs === undefined ? {} : { streamingListSilenceMaxMs }),
    backoffInitialMs,
    backoffMaxMs,
    maxInternalErrorRetryDurationMs,
    checkConsistency: options.checkConsistency ?? false,
  };
}

function slowLimits<T>(options: InformerOptions<T>): SlowLimits {
  const {
    slowNotifications = SLOW_LIMITS.slowNotifications,
    slowCallMs = SLOW_LIMITS.slowCallMs,
    slowAgeMs = SLOW_LIMITS.slowAgeMs,
  } = options;
  wantInteger('slowNotifications', slowNotifications, 0, Number.MAX_SAFE_INTEGER);
  wantNumber('slowCallMs', slowCallMs, 0, Number.MAX_SAFE_INTEGER);
  wantNumber('slowAgeMs', slowAgeMs, 0, TIMER_MS_MAX);
  return { slowNotifications, slowCallMs, slowAgeMs };
}

function wantSilence(name: string, value: number | undefined): void {
  if (value !== undefined) wantNumber(name, value, SILENCE_MS_MIN, TIMER_MS_MAX);
}

export function shardSpec<T>(
  codec: Codec,
  fields: readonly string[],
  indexers: Indexers<T>,
  transform: Transform<T> | undefined,
): ShardSpec {
  const { drop, module, plain } = splitTransform(transform);
  const indexModules = Object.entries(indexers).flatMap(([index, indexer]) =>
    typeof indexer === 'object' && indexer.index === 'module'
      ? [{ index, url: indexer.url, name: indexer.name }]
      : [],
  );
  if (plain && indexModules.length > 0) {
    throw new KubeloomError(
      'ERR_KUBELOOM_OPTION',
      'index modules see objects on the shards, before a plain transform: make the transform a module too',
    );
  }
  return {
    fields,
    drop,
    ...(module ? { transformModule: module } : {}),
    indexModules,
    codec: plain ? 'json' : codec,
    isRaw: plain !== undefined,
  };
}
