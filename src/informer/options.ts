/** The options of one informer, their defaults and bounds. */
import { KubeloomError } from '../errors.ts';
import { defaultLifetimes, refuse, wantInteger, wantNumber } from '../options.ts';
import type { Codec, Lifetimes, ThreadsOptions } from '../options.ts';
import { declaredFields } from '../store/index-functions.ts';
import type { Indexers } from '../store/index-functions.ts';
import type { ReflectorSpec, ShardSpec } from '../threads/protocol.ts';
import type { InformerThreads } from '../threads/informer-threads.ts';
import { apiVersionOf, resourcePath } from '../kube/resource.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { ErrorListener } from './errors.ts';
import { splitTransform } from './transform.ts';
import type { Transform } from './transform.ts';

export interface InformerOptions<T> {
  /** Only this namespace. Default: all. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
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
  /** The streaming list of Kubernetes 1.35; `auto` (default) falls back to LIST where a server has none. */
  readonly watchList?: 'auto' | 'off';
  /** Objects a LIST page; 0 (default): client-go's rules. */
  readonly pageSize?: number;
  readonly backoff?: { readonly initialMs?: number; readonly maxMs?: number };
}

/** client-go's numbers. */
const WATCH_TIMEOUT_MIN_SECONDS = 300;
const WATCH_TIMEOUT_MAX_SECONDS = 600;
const BACKOFF_INITIAL_MS = 800;
const BACKOFF_MAX_MS = 30_000;

export interface ResolvedInformerOptions {
  readonly fields: readonly string[];
  readonly lifetimes: Lifetimes;
  readonly resyncPeriodMs: number;
}

export function resolveInformerOptions<T>(options: InformerOptions<T>): ResolvedInformerOptions {
  const resyncPeriodMs = options.resyncPeriodMs ?? 0;
  wantNumber('resyncPeriodMs', resyncPeriodMs, 0, Number.MAX_SAFE_INTEGER);
  const { codec = 'json', watchList = 'auto', lifetimes = defaultLifetimes() } = options;
  if (!['json', 'msgpack'].includes(codec)) refuse('codec', codec, "'json' or 'msgpack'");
  if (!['auto', 'off'].includes(watchList)) refuse('watchList', watchList, "'auto' or 'off'");
  if (!['strict', 'fast'].includes(lifetimes)) refuse('lifetimes', lifetimes, "'strict' or 'fast'");
  const fields = [
    ...new Set([...(options.fields ?? []), ...declaredFields((options.indexers ?? {}) as Indexers)]),
  ];
  for (const field of fields) if (field === '') refuse('fields', field, 'dotted paths');
  return { fields, lifetimes, resyncPeriodMs };
}

export function reflectorSpec<T>(
  ref: ResourceRef,
  options: InformerOptions<T>,
): Omit<ReflectorSpec, 'recordBytesMax'> {
  if (options.namespace && !ref.isNamespaced) {
    throw new KubeloomError('ERR_KUBELOOM_OPTION', `${ref.resource} are cluster-scoped: leave namespace out`);
  }
  const pageSize = options.pageSize ?? 0;
  wantInteger('pageSize', pageSize, 0, 1_000_000);
  const backoffInitialMs = options.backoff?.initialMs ?? BACKOFF_INITIAL_MS;
  const backoffMaxMs = options.backoff?.maxMs ?? BACKOFF_MAX_MS;
  wantNumber('backoff.maxMs', backoffMaxMs, 1, Number.MAX_SAFE_INTEGER);
  wantNumber('backoff.initialMs', backoffInitialMs, 1, backoffMaxMs);
  return {
    path: resourcePath(ref, options.namespace),
    query: {
      ...(options.labelSelector ? { labelSelector: options.labelSelector } : {}),
      ...(options.fieldSelector ? { fieldSelector: options.fieldSelector } : {}),
    },
    kind: ref.kind,
    apiVersion: apiVersionOf(ref),
    watchList: options.watchList ?? 'auto',
    pageSize,
    watchTimeoutMinSeconds: WATCH_TIMEOUT_MIN_SECONDS,
    watchTimeoutMaxSeconds: WATCH_TIMEOUT_MAX_SECONDS,
    backoffInitialMs,
    backoffMaxMs,
  };
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
