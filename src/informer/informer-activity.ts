/**
 * Activity of an informer's reflectors on the main thread: counts their lists and watches, reads their counters when
 * metrics are collected, and publishes on the diagnostics channels.
 */
import type { ErrorCode } from '../base/error-codes/error-table.ts';
import type { AddSample } from '../metrics/collect.ts';
import { publish } from '../metrics/channels.ts';
import type { InformerLabels } from '../metrics/channels.ts';
import { Histogram } from '../metrics/histogram.ts';
import { LabelledCounter } from '../metrics/labelled-counter.ts';
import type { MetricLabels, MetricName } from '../metrics/metrics-table.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { HandlerBacklog } from '../replica/deliver/handler.ts';
import { ActivityCounter, allocateActivity } from '../shared/activity.ts';
import type { Activity, ListMode, ManagedFieldsSupport, ShardFilterSupport } from '../shared/activity.ts';
import { CounterReader } from '../shared/counters.ts';
import { REQUEST_SECONDS, countRequest } from './request-metrics.ts';

/** Servers close a watch after five to ten minutes. */
const WATCH_SECONDS = [1, 5, 15, 30, 60, 120, 240, 360, 480, 600, 1200, 3600];

type SampleOfCounter = readonly [name: MetricName, label: string, value: string, counter: ActivityCounter];

interface CountedSample {
  readonly metric: MetricName;
  readonly labels: MetricLabels;
  readonly counter: ActivityCounter;
}

/** Samples of the counters that the reflector's thread keeps. */
const COUNTED: readonly SampleOfCounter[] = [
  ['kubeloom_watch_events_total', 'type', 'added', ActivityCounter.AddedEvents],
  ['kubeloom_watch_events_total', 'type', 'modified', ActivityCounter.ModifiedEvents],
  ['kubeloom_watch_events_total', 'type', 'deleted', ActivityCounter.DeletedEvents],
  ['kubeloom_watch_events_total', 'type', 'bookmark', ActivityCounter.Bookmarks],
  ['kubeloom_watch_events_total', 'type', 'error', ActivityCounter.ErrorEvents],
  ['kubeloom_watch_events_total', 'type', 'unknown', ActivityCounter.UnknownEvents],
  ['kubeloom_received_bytes_total', 'verb', 'list', ActivityCounter.ListBytes],
  ['kubeloom_received_bytes_total', 'verb', 'watch', ActivityCounter.WatchBytes],
  ['kubeloom_ignored_events_total', 'reason', 'nameless', ActivityCounter.Nameless],
  ['kubeloom_ignored_events_total', 'reason', 'unversioned', ActivityCounter.Unversioned],
  ['kubeloom_ignored_events_total', 'reason', 'unexpected', ActivityCounter.Unexpected],
  ['kubeloom_ignored_events_total', 'reason', 'too_large', ActivityCounter.TooLarge],
  ['kubeloom_ignored_events_total', 'reason', 'out_of_order', ActivityCounter.OutOfOrder],
  ['kubeloom_ignored_events_total', 'reason', 'shard', ActivityCounter.OtherShard],
  ['kubeloom_ignored_events_total', 'reason', 'unknown_type', ActivityCounter.UnknownEvents],
];

export class InformerActivity {
  /** Counters that the reflectors of the informer update in turn. */
  readonly counters: SharedArrayBuffer = allocateActivity();
  readonly #reader: CounterReader = new CounterReader(this.counters);
  /** Labels of the informer; the name is unique from `begin` on. */
  labels: InformerLabels;
  readonly #lists: LabelledCounter = new LabelledCounter('kubeloom_lists_total');
  readonly #listDurations: Map<string, Histogram> = new Map();
  #lastList: { readonly items: number; readonly bytes: number } | undefined;
  readonly #watchesEnded: LabelledCounter = new LabelledCounter('kubeloom_watches_ended_total');
  #watchesStarted = 0;
  #isWatching = false;
  /** Treatment of the shard selector by the server; undefined until a list shows it. */
  shardFilterSupport: ShardFilterSupport | undefined;
  /** Treatment of managedFields by the server; undefined if the informer keeps them, and until an object shows it. */
  managedFieldsSupport: ManagedFieldsSupport | undefined;
  /** Samples of the counters; their labels are made once, because each scrape reads them. */
  #counted: readonly CountedSample[] = [];
  #watchDurations: Histogram | undefined;

  constructor(name: string, { group, version, resource }: ResourceRef) {
    this.labels = { name, group, version, resource };
  }

  /** Begins the series of metrics. @param name the informer's unique name */
  begin(name: string): void {
    this.labels = { ...this.labels, name };
    this.#counted = COUNTED.map(([metric, label, value, counter]) => ({
      metric,
      labels: { ...this.labels, [label]: value },
      counter,
    }));
  }

  /** Takes a message of the reflector. */
  receive(activity: Activity): void {
    switch (activity.kind) {
      case 'list':
        this.#listEnded(activity);
        break;
      case 'watch-started':
        // An earlier watch ended together with its thread.
        if (this.#isWatching) this.#watchesEnded.increment({ reason: 'thread' });
        this.#isWatching = true;
        this.#watchesStarted++;
        break;
      case 'watch':
        this.#watchEnded(activity);
        break;
      case 'shard-filtering':
        this.shardFilterSupport = activity.filtering;
        break;
      case 'managed-fields':
        this.managedFieldsSupport = activity.support;
        break;
      default: {
        const { kind: _kind, ...request } = activity;
        countRequest(activity);
        publish('kubeloom:request', () => ({ ...this.labels, ...request }));
      }
    }
  }

  /**
   * Publishes that a handler is slow. @param callMs duration of a long call; undefined if notifications wait too long
   */
  slowHandler(handler: string, callMs: number | undefined, backlog: HandlerBacklog): void {
    const code = 'ERR_KUBELOOM_SLOW_HANDLER';
    publish('kubeloom:slow-handler', () => ({ ...this.labels, handler, code, callMs, ...backlog }));
  }

  /** Publishes that a handler's backlog is coalesced. @param code code of the error that reports it */
  backlog(handler: string, code: ErrorCode, backlog: HandlerBacklog): void {
    publish('kubeloom:backlog', () => ({ ...this.labels, handler, code, ...backlog }));
  }

  /** @param oldVersions objects that the shards ignored */
  addMetrics(add: AddSample, labels: MetricLabels, oldVersions: number): void {
    this.#lists.addTo(add, labels);
    for (const [mode, { data }] of this.#listDurations)
      add('kubeloom_list_duration_seconds', { ...labels, mode }, data);
    if (this.#lastList) {
      add('kubeloom_list_items', labels, this.#lastList.items);
      add('kubeloom_list_bytes', labels, this.#lastList.bytes);
    }
    add('kubeloom_watches_started_total', labels, this.#watchesStarted);
    this.#watchesEnded.addTo(add, labels);
    if (this.#watchDurations) add('kubeloom_watch_duration_seconds', labels, this.#watchDurations.data);
    const counts = this.#reader.read();
    for (const { metric, labels: of, counter } of this.#counted) add(metric, of, counts[counter] ?? 0);
    add('kubeloom_ignored_events_total', { ...labels, reason: 'old_version' }, oldVersions);
  }

  #listEnded({ kind: _kind, ...list }: Extract<Activity, { kind: 'list' }>): void {
    const { mode, cause, result, items, bytes, durationMs } = list;
    this.#lists.increment({ mode, cause, result });
    if (result === 'ok') {
      this.#lastList = { items, bytes };
      this.#durationsOf(mode).observe(durationMs / 1000);
    }
    publish('kubeloom:list', () => ({ ...this.labels, ...list, startedAtMs: Date.now() - durationMs }));
  }

  #watchEnded({ kind: _kind, ...watch }: Extract<Activity, { kind: 'watch' }>): void {
    const { reason, durationMs } = watch;
    this.#isWatching = false;
    this.#watchesEnded.increment({ reason });
    this.#watchDurations ??= new Histogram(
      'kubeloom_watch_duration_seconds',
      { ...this.labels },
      WATCH_SECONDS,
    );
    this.#watchDurations.observe(durationMs / 1000);
    publish('kubeloom:watch', () => ({ ...this.labels, ...watch, startedAtMs: Date.now() - durationMs }));
  }

  #durationsOf(mode: ListMode): Histogram {
    let durations = this.#listDurations.get(mode);
    if (!durations) {
      durations = new Histogram('kubeloom_list_duration_seconds', { ...this.labels, mode }, REQUEST_SECONDS);
      this.#listDurations.set(mode, durations);
    }
    return durations;
  }
}
