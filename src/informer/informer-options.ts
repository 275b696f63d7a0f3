/**
 * The options of an informer: checks, defaults and bounds, and the resulting settings of reflector and shards.
 * Factories and InformersMap use parts of the table of checks.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import { aLogger } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import type { ServerSource } from '../kube/server-source.ts';
import type { Codec, ThreadsOptions } from './threads/threads-options.ts';
import type { RetainChecks } from '../replica/store/entry-owner.ts';
import type { Indexers } from '../replica/store/index-functions.ts';
import type { ReflectorSpec, ShardSpec } from '../shared/protocol.ts';
import { isListerWatcher } from '../kube/lister-watcher.ts';
import type { ListerWatcher } from '../kube/lister-watcher.ts';
import { apiVersionOf, resourcePath, isNamespaceName } from '../kube/resource.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { MutationError } from './mutation/cache-mutation-detector.ts';
import type { ErrorListener } from './error-reporter.ts';
import { MANAGED_FIELDS, splitTransform, checkTransform } from './transform.ts';
import type { Transform } from './transform.ts';
import type { TweakListOptions } from './tweak.ts';
import { parseFieldSelector } from '../kube/field-selector.ts';
import { parseLabelSelector } from '../kube/label-selector.ts';
import { asksForGzip } from '../http/compression.ts';
import { checkShardSelector, shardSelectorText } from '../kube/shard-selector.ts';
import type { ShardSelector } from '../kube/shard-selector.ts';
import { splitPath } from '../kube/json/read.ts';
import {
  callback,
  clock,
  integer,
  naming,
  nested,
  number,
  oneOf,
  invalidOption,
  checkNumber,
  checkOptions,
} from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { defaultRetainChecks, resolveThreadsOptions } from './threads/threads-options.ts';
import { SLOW_LIMITS } from '../replica/deliver/handler-calls.ts';
import type { SlowLimits } from '../replica/deliver/handler-calls.ts';
import { declaredFields, checkIndexers } from '../replica/store/index-functions.ts';
import { InformerThreads } from './threads/informer-threads.ts';
import { STALE_AFTER_MS } from './health.ts';
import { assertServerSource } from '../kube/server-source.ts';

/** The part of objects that an informer keeps. */
export type InformerView = 'object' | 'metadata';

/**
 * The first nine options are enough for most programs. `threads`, `log` and `clock` have the same meaning in the whole
 * package. The other options are for special needs, most of them in groups.
 *
 * @typeParam Name names of the indexes
 */
export interface InformerOptions<T, Name extends string = string> {
  /** Only this namespace. Default: all. */
  readonly namespace?: string;
  /**
   * Only objects whose labels the selector accepts: `app=web,tier in (a,b)`. Default: all. ERR_KUBELOOM_SELECTOR if
   * invalid.
   */
  readonly labelSelector?: string;
  /**
   * Only objects whose fields the server selects: `spec.nodeName=n1`. Default: all. ERR_KUBELOOM_SELECTOR if invalid.
   */
  readonly fieldSelector?: string;
  /**
   * `metadata`: the server sends only kind, apiVersion (of PartialObjectMetadata) and metadata. Other members of objects of a
   * ListerWatcher, or of a server without that support, are stored unchanged. Without a transform that is a function,
   * `metadata.managedFields` is dropped. Default: `object`.
   */
  readonly view?: InformerView;
  /** Dotted paths whose values are in the `fields` of each entry, without parsing the object. */
  readonly fields?: readonly string[];
  /** Indexes in addition to the namespace index, which always exists. */
  readonly indexers?: Indexers<T, Name>;
  /** Changes each object before it is stored. Default: none. `setTransform` of the informer replaces it before start. */
  readonly transform?: Transform<T>;
  /** Time between two deliveries of unchanged objects to handlers; 0 (default): never. */
  readonly resyncPeriodMs?: number;
  /** Receives the errors of the informer. Default: process warnings, at most one a second for each code. */
  readonly onError?: ErrorListener;
  /** Threads to use. Default: the threads that all informers of the process share. */
  readonly threads?: InformerThreads | ThreadsOptions;
  /** Receives a line for each error, at most one a second for each code, instead of process warnings. Default: none. */
  readonly log?: Logger;
  /** Clock for resync periods, the age of backlogs and the rate of warnings. Default: the real clock. */
  readonly clock?: Clock;
  /**
   * The part of all objects that this informer keeps: ranges of the hash of uid or namespace, such as
   * `partitionRanges([0, 1])`. Servers with Kubernetes' ShardedListAndWatch send only these objects. Other servers send
   * all objects, and the informer drops the rest before storing them; `stats().shardFilterSupport` shows the kind of
   * server.
   */
  readonly shardSelector?: ShardSelector;
  /** Function that may change the options of every LIST and WATCH; see `TweakListOptions`. */
  readonly tweakListOptions?: TweakListOptions;
  /** Format of stored objects. `json`: as received. `msgpack`: smaller, faster to read, slower to store. */
  readonly codec?: Codec;
  /**
   * Whether servers may compress their answers with gzip. `auto` (default): only a server beyond this machine that a
   * kubeconfig names, and not in a pod. A kube-apiserver compresses LIST alone, from 128 KiB.
   */
  readonly compression?: 'auto' | 'on' | 'off';
  /** Pauses after failures: the first, which doubles with each failure, and the longest. Default: 800, and 30,000. */
  readonly backoff?: { readonly initialMs?: number; readonly maxMs?: number };
  /** Options of the first list and of relists. */
  readonly list?: {
    /**
     * Streaming list of Kubernetes 1.35. `auto` uses LIST when the server does not support it. Default: `off` where
     * `compression` asks for gzip, because servers compress no streaming list; else `auto`.
     */
    readonly watchList?: 'auto' | 'off';
    /**
     * State of the first list if it is not a streaming list. `any` (default): any state, as in client-go; the cheapest.
     * `latest`: a state that is not older than the request. A streaming list always returns the most recent state.
     */
    readonly initialList?: 'any' | 'latest';
    /** Objects in a page of a LIST; 0 (default): client-go's rules. */
    readonly pageSize?: number;
    /** Time without a byte after which a LIST replaces a streaming list. Default 30,000, least 100. */
    readonly idleTimeoutMs?: number;
  };
  /** Options of the watch after the list. */
  readonly watch?: {
    /**
     * Minimum duration of a watch that the informer requests. The requested duration is random, up to twice the minimum,
     * so that watches end at different times. Default and least: 300,000 (five minutes).
     */
    readonly minTimeoutMs?: number;
    /**
     * Time without a byte after which a watch is replaced and idle connections to the same server are closed. Bookmarks
     * count as bytes. The limit covers the whole request: connecting, waiting for the response's head, and the stream,
     * also of a streaming list. Default: five seconds after the watch should have ended; 150,000 after the first
     * bookmark, because the server then sends a bookmark every minute. Least: 100.
     */
    readonly idleTimeoutMs?: number;
    /** Time for which a watch that fails with an internal error is retried at once, without a list. Default: 0. */
    readonly maxInternalErrorRetryDurationMs?: number;
    /**
     * Time after which the cache is stale without a sign that it follows the server: an event, bookmark, opened watch
     * or whole list. Default 120,000: a server sends a bookmark a minute.
     */
    readonly staleAfterMs?: number;
  };
  /** Limits for reporting a slow handler (ERR_KUBELOOM_SLOW_HANDLER), at most once a minute for each handler. */
  readonly slowHandler?: {
    /** Longest call while more than `pendingNotifications` wait. Default 100, as in client-go. */
    readonly callMs?: number;
    /** Default 1024, as in client-go. */
    readonly pendingNotifications?: number;
    /**
     * Age of the oldest pending notification, also during a call. Default: 30,000; 0: never. `registration.backlog` and
     * `health.handlers` show pending notifications at any time.
     */
    readonly ageMs?: number;
  };
  /** Checks that find mistakes of a program with the objects that it reads. */
  readonly debug?: {
    /** Default: strict unless NODE_ENV is production. */
    readonly retainChecks?: RetainChecks;
    /**
     * Detection of writes to shared objects. `freeze`: a write throws at the line that writes. `compare`: objects that
     * were read are compared with a copy every second, for two to four minutes, which is expensive. Default: freeze with
     * strict retainChecks, else off.
     */
    readonly mutationDetector?: MutationDetection;
    /** Called for writes to shared objects, instead of `onError`. */
    readonly onMutation?: (mutation: MutationError) => unknown;
  };
}

const JSON_TYPE = 'application/json';
const PARTIAL = `${JSON_TYPE};as=PartialObjectMetadata`;
const IN_META = ';g=meta.k8s.io;v=v1';
/** Parameter of KEP-5958 (alpha in Kubernetes 1.37). Other servers ignore the parameter. */
const WITHOUT_MANAGED_FIELDS = `;drop=${MANAGED_FIELDS}`;

/**
 * @internal Returns the Accept headers of an informer, the best type first. Servers that do not offer metadata alone
 * send whole objects.
 *
 * @param drop paths that the shards remove in any case
 */
export function acceptSpec(
  view: InformerView,
  drop: readonly string[],
): Pick<ReflectorSpec, 'accept' | 'dropsManagedFields'> {
  const dropsManagedFields = drop.includes(MANAGED_FIELDS);
  if (view === 'object' && !dropsManagedFields) return {};
  const header = (...types: readonly string[]): string =>
    types
      .flatMap((type) => (dropsManagedFields ? [`${type}${WITHOUT_MANAGED_FIELDS}`, type] : [type]))
      .join();
  const accept =
    view === 'object'
      ? { list: header(JSON_TYPE), watch: header(JSON_TYPE) }
      : {
          list: header(`${PARTIAL}List${IN_META}`, JSON_TYPE),
          watch: header(`${PARTIAL}${IN_META}`, JSON_TYPE),
        };
  return { accept, dropsManagedFields };
}

/** client-go's defaults. */
export const MIN_WATCH_TIMEOUT_MS = 300_000;
export const BACKOFF_INITIAL_MS = 800;
export const BACKOFF_MAX_MS = 30_000;

/** Protection of cached objects against changes: freezes them, compares them with copies, or does nothing. */
export type MutationDetection = 'freeze' | 'compare' | 'off';

/** @internal */
export function reflectorSpec<T>(
  ref: ResourceRef,
  options: InformerOptions<T>,
  source?: ServerSource | ListerWatcher<T>,
): Omit<ReflectorSpec, 'objectBytesMax' | 'accept' | 'dropsManagedFields'> {
  if (options.namespace && !ref.isNamespaced) {
    throw new KubeloomError('ERR_KUBELOOM_OPTION', `${ref.resource} are cluster-scoped: leave namespace out`);
  }
  const isOwn = source !== undefined && isListerWatcher(source);
  if (isOwn && options.namespace) {
    const message = 'a ListerWatcher selects the objects itself: leave namespace out';
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  const isWatchListUnsupported = isOwn && source.isWatchListUnsupported === true;
  const acceptsGzip = source !== undefined && !isOwn && asksForGzip(source, options.compression, process.env);
  const { shardSelector, list = {}, watch = {} } = options;
  const { minTimeoutMs = MIN_WATCH_TIMEOUT_MS } = watch;
  return {
    path: resourcePath(ref, options.namespace),
    query: {
      ...(options.labelSelector ? { labelSelector: options.labelSelector } : {}),
      ...(options.fieldSelector ? { fieldSelector: options.fieldSelector } : {}),
      ...(shardSelector ? { shardSelector: shardSelectorText(shardSelector) } : {}),
    },
    ...(shardSelector ? { shardSelector } : {}),
    ...(list.initialList ? { initialList: list.initialList } : {}),
    kind: options.view === 'metadata' ? '' : ref.kind,
    apiVersion: apiVersionOf(ref),
    watchList: isWatchListUnsupported ? 'off' : (list.watchList ?? (acceptsGzip ? 'off' : 'auto')),
    ...(acceptsGzip ? { acceptsGzip } : {}),
    pageSize: list.pageSize ?? 0,
    watchTimeoutMinSeconds: minTimeoutMs / 1000,
    watchTimeoutMaxSeconds: (2 * minTimeoutMs) / 1000,
    ...(watch.idleTimeoutMs === undefined ? {} : { watchIdleTimeoutMs: watch.idleTimeoutMs }),
    ...(list.idleTimeoutMs === undefined ? {} : { watchListIdleTimeoutMs: list.idleTimeoutMs }),
    backoffInitialMs: options.backoff?.initialMs ?? BACKOFF_INITIAL_MS,
    backoffMaxMs: options.backoff?.maxMs ?? BACKOFF_MAX_MS,
    maxInternalErrorRetryDurationMs: watch.maxInternalErrorRetryDurationMs ?? 0,
  };
}

/** @internal */
export function shardSpec<T>(
  codec: Codec,
  fields: readonly string[],
  indexers: Indexers<T>,
  transform: Transform<T> | undefined,
  view: InformerView = 'object',
): ShardSpec {
  const { drop, module, plain } = splitTransform(transform, view);
  const indexModules = Object.entries(indexers).flatMap(([index, indexer]) =>
    typeof indexer === 'object' && indexer.index === 'module'
      ? [{ index, url: indexer.url, name: indexer.name }]
      : [],
  );
  if (plain && indexModules.length > 0) {
    throw new KubeloomError(
      'ERR_KUBELOOM_OPTION',
      'an index module runs on the shards, before a plain transform: use transformModule() instead',
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

/** A day: longer than any server lets a watch last. */
const MIN_WATCH_TIMEOUT_MS_MAX = 86_400_000;
/** A shorter limit could be reached by a pause of the machine. */
const SILENCE_MS_MIN = 100;
/** Longest timer of Node.js. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const silence = number(SILENCE_MS_MIN, TIMER_MS_MAX);

type Group<Name extends 'backoff' | 'list' | 'watch' | 'slowHandler' | 'debug'> = NonNullable<
  InformerOptions<unknown>[Name]
>;

export const INFORMER_CHECKS: OptionChecks<InformerOptions<unknown>> = {
  namespace: checkNamespace,
  labelSelector: naming(parseLabelSelector),
  fieldSelector: naming(parseFieldSelector),
  view: oneOf('object', 'metadata'),
  fields: checkFields,
  indexers: (_name, value) => checkIndexers(value),
  transform: (_name, value) => checkTransform(value),
  resyncPeriodMs: number(0),
  onError: callback,
  threads: checkThreads,
  log: aLogger,
  clock,
  shardSelector: (_name, value) => checkShardSelector(value),
  tweakListOptions: callback,
  codec: oneOf('json', 'msgpack'),
  compression: oneOf('auto', 'on', 'off'),
  backoff: nested<Group<'backoff'>>({ initialMs: number(1), maxMs: number(1) }),
  list: nested<Group<'list'>>({
    watchList: oneOf('auto', 'off'),
    initialList: oneOf('any', 'latest'),
    pageSize: integer(0, 1_000_000),
    idleTimeoutMs: silence,
  }),
  watch: nested<Group<'watch'>>({
    minTimeoutMs: number(MIN_WATCH_TIMEOUT_MS, MIN_WATCH_TIMEOUT_MS_MAX),
    idleTimeoutMs: silence,
    maxInternalErrorRetryDurationMs: number(0),
    staleAfterMs: number(1, TIMER_MS_MAX),
  }),
  slowHandler: nested<Group<'slowHandler'>>({
    callMs: number(0),
    pendingNotifications: integer(0),
    ageMs: number(0, TIMER_MS_MAX),
  }),
  debug: nested<Group<'debug'>>({
    retainChecks: oneOf('strict', 'off'),
    mutationDetector: oneOf('freeze', 'compare', 'off'),
    onMutation: callback,
  }),
};

/** Checks a namespace. Empty text selects all namespaces. */
function checkNamespace(name: string, value: unknown): void {
  if (value !== '' && !(typeof value === 'string' && isNamespaceName(value))) {
    invalidOption(name, value, 'the name of a namespace (lower-case letters, digits and -)');
  }
}

function checkFields(name: string, value: unknown): void {
  if (!Array.isArray(value)) invalidOption(name, value, "an array of dotted paths such as 'spec.nodeName'");
  for (const path of value as readonly unknown[]) naming(splitPath)(name, path);
}

function checkThreads(_name: string, value: unknown): void {
  if (!(value instanceof InformerThreads)) resolveThreadsOptions(value as object);
}

/** @internal */
export interface ResolvedInformerOptions {
  readonly fields: readonly string[];
  readonly resyncPeriodMs: number;
  readonly staleAfterMs: number;
  readonly slowHandler: SlowLimits;
  readonly retainChecks: RetainChecks;
  readonly mutationDetector: MutationDetection;
}

/**
 * Checks options and applies defaults. @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_SELECTOR for invalid options
 *
 * @internal
 */
export function resolveInformerOptions<T>(options: InformerOptions<T>): ResolvedInformerOptions {
  checkOptions('options of an informer', options, INFORMER_CHECKS);
  const { initialMs = BACKOFF_INITIAL_MS, maxMs = BACKOFF_MAX_MS } = options.backoff ?? {};
  checkNumber('backoff.initialMs', initialMs, 1, maxMs);
  const { fields = [], indexers = {}, slowHandler = {}, debug = {} } = options;
  const { retainChecks = defaultRetainChecks() } = debug;
  shardSpec(options.codec ?? 'json', fields, indexers, options.transform);
  return {
    fields: [...new Set([...fields, ...declaredFields(indexers as Indexers)])],
    retainChecks,
    resyncPeriodMs: options.resyncPeriodMs ?? 0,
    staleAfterMs: options.watch?.staleAfterMs ?? STALE_AFTER_MS,
    mutationDetector: debug.mutationDetector ?? (retainChecks === 'strict' ? 'freeze' : 'off'),
    slowHandler: {
      callMs: slowHandler.callMs ?? SLOW_LIMITS.callMs,
      pendingNotifications: slowHandler.pendingNotifications ?? SLOW_LIMITS.pendingNotifications,
      ageMs: slowHandler.ageMs ?? SLOW_LIMITS.ageMs,
    },
  };
}

/** Checks a source. @throws ERR_KUBELOOM_OPTION unless it is a KubeConfig, a connection or a ListerWatcher */
export function checkSource(source: unknown): void {
  const isOwn =
    typeof source === 'object' &&
    source !== null &&
    ['list', 'watch'].every((name) => typeof Reflect.get(source, name) === 'function');
  if (!isOwn) assertServerSource(source);
}
