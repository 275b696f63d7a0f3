/**
 * Checks the options of an informer and applies their defaults. Factories and InformersMap use parts of the table.
 */
import { parseFieldSelector } from '../kube/field-selector.ts';
import { parseLabelSelector } from '../kube/label-selector.ts';
import { isNamespaceName } from '../kube/resource.ts';
import { splitPath } from '../kube/json/read.ts';
import {
  callback,
  clock,
  integer,
  naming,
  nested,
  number,
  oneOf,
  refuse,
  wantNumber,
  wantOptions,
} from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { defaultBorrowChecks, resolveThreadsOptions } from './threads/options.ts';
import type { BorrowChecks } from '../replica/store/entry-owner.ts';
import { SLOW_LIMITS } from '../replica/deliver/slow-handler.ts';
import type { SlowLimits } from '../replica/deliver/slow-handler.ts';
import { declaredFields, wantIndexers } from '../replica/store/index-functions.ts';
import type { Indexers } from '../replica/store/index-functions.ts';
import { InformerThreads } from './threads/informer-threads.ts';
import { STALE_AFTER_MS } from './health.ts';
import { BACKOFF_INITIAL_MS, BACKOFF_MAX_MS, MIN_WATCH_TIMEOUT_MS, shardSpec } from './options.ts';
import type { InformerOptions, MutationDetection } from './options.ts';
import { wantTransform } from './transform.ts';

/** One day: no server lets a watch last longer. */
const MIN_WATCH_TIMEOUT_MS_MAX = 86_400_000;
/** A shorter limit could be reached by a pause of the machine. */
const SILENCE_MS_MIN = 100;
/** Longest timer of Node.js. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const silence = number(SILENCE_MS_MIN, TIMER_MS_MAX);

export const INFORMER_CHECKS: OptionChecks<InformerOptions<unknown>> = {
  namespace: wantNamespace,
  labelSelector: naming(parseLabelSelector),
  fieldSelector: naming(parseFieldSelector),
  tweakListOptions: callback,
  view: oneOf('object', 'metadata'),
  fields: wantFields,
  indexers: (_name, value) => wantIndexers(value),
  transform: (_name, value) => wantTransform(value),
  codec: oneOf('json', 'msgpack'),
  resyncPeriodMs: number(0),
  borrowChecks: oneOf('strict', 'off'),
  threads: wantThreads,
  onError: callback,
  clock,
  watchList: oneOf('auto', 'off'),
  pageSize: integer(0, 1_000_000),
  backoff: nested<NonNullable<InformerOptions<unknown>['backoff']>>({
    initialMs: number(1),
    maxMs: number(1),
  }),
  minWatchTimeoutMs: number(MIN_WATCH_TIMEOUT_MS, MIN_WATCH_TIMEOUT_MS_MAX),
  watchIdleTimeoutMs: silence,
  watchListIdleTimeoutMs: silence,
  maxInternalErrorRetryDurationMs: number(0),
  staleAfterMs: number(1, TIMER_MS_MAX),
  mutationDetector: oneOf('freeze', 'compare', 'off'),
  slowNotifications: integer(0),
  slowCallMs: number(0),
  slowAgeMs: number(0, TIMER_MS_MAX),
  onMutation: callback,
};

/** Checks a namespace. Empty text selects all namespaces. */
function wantNamespace(name: string, value: unknown): void {
  if (value !== '' && !(typeof value === 'string' && isNamespaceName(value))) {
    refuse(name, value, 'the name of a namespace (lower-case letters, digits and -)');
  }
}

function wantFields(name: string, value: unknown): void {
  if (!Array.isArray(value)) refuse(name, value, "an array of dotted paths such as 'spec.nodeName'");
  for (const path of value as readonly unknown[]) naming(splitPath)(name, path);
}

function wantThreads(_name: string, value: unknown): void {
  if (!(value instanceof InformerThreads)) resolveThreadsOptions(value as object);
}

export interface ResolvedInformerOptions extends SlowLimits {
  readonly fields: readonly string[];
  readonly borrowChecks: BorrowChecks;
  readonly resyncPeriodMs: number;
  readonly staleAfterMs: number;
  readonly mutationDetector: MutationDetection;
}

/** Checks options and applies defaults. @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_SELECTOR for invalid options */
export function resolveInformerOptions<T>(options: InformerOptions<T>): ResolvedInformerOptions {
  wantOptions('options of an informer', options, INFORMER_CHECKS);
  const { initialMs = BACKOFF_INITIAL_MS, maxMs = BACKOFF_MAX_MS } = options.backoff ?? {};
  wantNumber('backoff.initialMs', initialMs, 1, maxMs);
  const { borrowChecks = defaultBorrowChecks(), fields = [], indexers = {} } = options;
  shardSpec(options.codec ?? 'json', fields, indexers, options.transform);
  return {
    fields: [...new Set([...fields, ...declaredFields(indexers as Indexers)])],
    borrowChecks,
    resyncPeriodMs: options.resyncPeriodMs ?? 0,
    staleAfterMs: options.staleAfterMs ?? STALE_AFTER_MS,
    mutationDetector: options.mutationDetector ?? (borrowChecks === 'strict' ? 'freeze' : 'off'),
    slowNotifications: options.slowNotifications ?? SLOW_LIMITS.slowNotifications,
    slowCallMs: options.slowCallMs ?? SLOW_LIMITS.slowCallMs,
    slowAgeMs: options.slowAgeMs ?? SLOW_LIMITS.slowAgeMs,
  };
}
