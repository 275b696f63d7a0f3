/** Metrics of one informer: its cache, its errors and its handlers. They last from the start to the end of the informer. */
import type { AddSample, MetricSource } from '../base/metrics/collect.ts';
import type { MetricLabels } from '../base/metrics/table.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { ErrorReporter } from './error-reporter.ts';
import type { Handlers } from './handlers.ts';
import type { Health } from './health.ts';
import type { InformerPipeline } from './pipeline.ts';

export interface MeasuredInformer {
  readonly name: string;
  readonly resource: ResourceRef;
  readonly pipeline: Pick<InformerPipeline<never>, 'replica' | 'records' | 'latency'>;
  readonly health: Health;
  readonly handlers: Handlers;
  readonly reports: ErrorReporter;
}

/** component-base's informer metrics keep as many digits: a double cannot hold more. */
const VERSION_DIGITS = 15;

export class InformerMetrics implements MetricSource {
  readonly metricsKind = 'informer';
  readonly metricsName: string;
  readonly #informer: MeasuredInformer;

  constructor(informer: MeasuredInformer) {
    this.metricsName = informer.name;
    this.#informer = informer;
  }

  /** Starts the histograms. @param name the unique name */
  start(name: string): void {
    const { resource, pipeline } = this.#informer;
    pipeline.latency.start(labelsOf(name, resource));
  }

  addMetrics(add: AddSample, name: string): void {
    const { resource, pipeline, health, handlers, reports } = this.#informer;
    const { replica, records, latency } = pipeline;
    const labels = labelsOf(name, resource);
    const { phase, isStale, lagMs, resourceVersion } = health.snapshot;
    const figures = handlers.figures;
    const queued = figures.reduce((sum, { backlog }) => sum + backlog.notifications, 0);
    add('informer_queued_items', labels, queued);
    if (/^\d+$/.test(resourceVersion))
      add('informer_store_resource_version', labels, Number(resourceVersion.slice(-VERSION_DIGITS)));
    add('kubeloom_informer_objects', labels, replica.live.size);
    add('kubeloom_informer_phase', { ...labels, phase }, 1);
    add('kubeloom_informer_synced', labels, Number(replica.hasSynced));
    add('kubeloom_informer_stale', labels, Number(isStale));
    if (lagMs !== undefined) add('kubeloom_informer_lag_seconds', labels, lagMs / 1000);
    add('kubeloom_informer_records_total', labels, records);
    for (const [code, count] of reports.counts) add('kubeloom_errors_total', { ...labels, code }, count);
    for (const [stage, data] of latency.data) add('kubeloom_latency_seconds', { ...labels, stage }, data);
    const names = new Set<string>();
    for (const { name: given, backlog, calls, errors, coalesced } of figures) {
      const handler = uniqueName(given, names);
      const of = { ...labels, handler };
      add('kubeloom_handler_pending', of, backlog.notifications);
      add('kubeloom_handler_pending_bytes', of, backlog.bytes);
      add('kubeloom_handler_oldest_seconds', of, backlog.ageMs / 1000);
      add('kubeloom_handler_calls_total', of, calls);
      add('kubeloom_handler_errors_total', of, errors);
      add('kubeloom_handler_coalesced_total', of, coalesced);
    }
  }
}

function labelsOf(name: string, { group, version, resource }: ResourceRef): MetricLabels {
  return { name, group, version, resource };
}

/** Returns the name, with a number when another one has it. */
function uniqueName(given: string, taken: Set<string>): string {
  let name = given;
  for (let number = 2; taken.has(name); number++) name = `${given} #${number}`;
  taken.add(name);
  return name;
}
