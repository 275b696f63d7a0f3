/**
 * Metrics of an informer: the cache, the errors and the handlers. They last from the start to the end of the informer.
 */
import { registerMetrics } from '../metrics/collect.ts';
import type { AddSample, MetricSource } from '../metrics/collect.ts';
import type { MetricLabels } from '../metrics/metrics-table.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { CacheExportStats } from '../replica/store/cache-exports.ts';
import type { HandlerStats } from './handlers.ts';
import type { Health } from './health.ts';
import type { InformerActivity } from './informer-activity.ts';
import type { InformerPipeline } from './pipeline.ts';
import { informerStats } from './informer-stats.ts';
import type { InformerStats, InformerStatsSource } from './informer-stats.ts';

export interface MeasuredInformer extends InformerStatsSource {
  readonly resource: ResourceRef;
  readonly pipeline: InformerStatsSource['pipeline'] &
    Pick<InformerPipeline<never>, 'ignored' | 'latency' | 'exportStats'>;
  readonly health: Health;
  readonly activity: InformerActivity;
}

/** As in component-base's informer metrics: a double cannot hold more digits. */
const VERSION_DIGITS = 15;

export class InformerMetrics implements MetricSource {
  readonly metricsKind = 'informer';
  readonly metricsName: string;
  readonly #informer: MeasuredInformer;
  /** Labels of the informer's samples; the name is unique from `start` on. */
  labels: MetricLabels;

  constructor(informer: MeasuredInformer) {
    this.metricsName = informer.name;
    const { group, version, resource } = informer.resource;
    this.labels = { name: informer.name, group, version, resource };
    this.#informer = informer;
  }

  /** Registers the informer. Returns the function that ends the series. */
  start(): () => void {
    const { name, end } = registerMetrics(this);
    this.labels = { ...this.labels, name };
    this.#informer.activity.begin(name);
    this.#informer.pipeline.latency.start(this.labels);
    return end;
  }

  get stats(): InformerStats {
    // The name that distinguishes informers of the same kind in metrics and channel messages.
    return informerStats({ ...this.#informer, name: this.labels['name'] ?? '' });
  }

  addMetrics(add: AddSample): void {
    const { labels } = this;
    const { isStale, lagMs, resourceVersion } = this.#informer.health.snapshot;
    const { phase, hasSynced, objects, storeBytes, records, handlers } = this.stats;
    add(
      'informer_queued_items',
      labels,
      handlers.reduce((sum, { notifications }) => sum + notifications, 0),
    );
    if (/^\d+$/.test(resourceVersion))
      add('informer_store_resource_version', labels, Number(resourceVersion.slice(-VERSION_DIGITS)));
    add('kubeloom_informer_objects', labels, objects);
    for (const [state, bytes] of Object.entries(storeBytes))
      add('kubeloom_store_bytes', { ...labels, state }, bytes);
    add('kubeloom_informer_phase', { ...labels, phase }, 1);
    add('kubeloom_informer_synced', labels, Number(hasSynced));
    add('kubeloom_informer_stale', labels, Number(isStale));
    if (lagMs !== undefined) add('kubeloom_informer_lag_seconds', labels, lagMs / 1000);
    add('kubeloom_informer_records_total', labels, records);
    const { reports, activity, pipeline } = this.#informer;
    reports.counts.addTo(add, labels);
    activity.addMetrics(add, labels, pipeline.ignored);
    for (const [stage, data] of pipeline.latency.data)
      add('kubeloom_latency_seconds', { ...labels, stage }, data);
    if (pipeline.exportStats) addExported(add, labels, pipeline.exportStats);
    for (const handler of handlers) addHandler(add, { ...labels, handler: handler.name }, handler);
  }
}

function addExported(
  add: AddSample,
  of: MetricLabels,
  { threads, states, bytes, attached }: CacheExportStats,
): void {
  add('kubeloom_shared_threads', of, threads);
  add('kubeloom_shared_states', of, states);
  add('kubeloom_shared_bytes', of, bytes);
  add('kubeloom_shared_attached_total', of, attached);
  add('kubeloom_shared_detached_total', of, attached - threads);
}

function addHandler(add: AddSample, of: MetricLabels, stats: HandlerStats): void {
  add('kubeloom_handler_pending', of, stats.notifications);
  add('kubeloom_handler_pending_bytes', of, stats.bytes);
  add('kubeloom_handler_oldest_seconds', of, stats.ageMs / 1000);
  add('kubeloom_handler_calls_total', of, stats.calls);
  add('kubeloom_handler_errors_total', of, stats.errors);
  add('kubeloom_handler_coalesced_total', of, stats.coalesced);
  if (stats.durations) add('kubeloom_handler_duration_seconds', of, stats.durations);
}
