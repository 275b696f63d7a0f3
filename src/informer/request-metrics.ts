/**
 * Requests of all informers of the process: client-go's metrics, with LIST and WATCH in place of client-go's GET. They
 * last as long as the process, because many informers use the same server; there are as many series as servers and
 * status codes.
 */
import { registerMetrics } from '../metrics/collect.ts';
import type { AddSample, MetricSource } from '../metrics/collect.ts';
import { Histogram } from '../metrics/histogram.ts';
import { LabelledCounter } from '../metrics/labelled-counter.ts';
import type { MetricLabels } from '../metrics/metrics-table.ts';
import type { Activity } from '../shared/activity.ts';

type Request = Extract<Activity, { kind: 'request' }>;

/** component-base's buckets. */
export const REQUEST_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

interface Latency {
  readonly labels: MetricLabels;
  readonly histogram: Histogram;
}

class RequestMetrics implements MetricSource {
  readonly metricsKind = 'requests';
  readonly metricsName = 'requests';
  readonly #counts: LabelledCounter = new LabelledCounter('rest_client_requests_total');
  readonly #latencies: Map<string, Latency> = new Map();

  count({ verb, host, code, durationMs }: Request): void {
    const key = `${verb} ${host}`;
    let latency = this.#latencies.get(key);
    if (!latency) {
      const labels = { verb, host };
      const histogram = new Histogram('rest_client_request_duration_seconds', labels, REQUEST_SECONDS);
      this.#latencies.set(key, (latency = { labels, histogram }));
    }
    latency.histogram.observe(durationMs / 1000);
    this.#counts.increment({ code, method: verb, host });
  }

  addMetrics(add: AddSample): void {
    this.#counts.addTo(add);
    for (const { labels, histogram } of this.#latencies.values())
      add('rest_client_request_duration_seconds', labels, histogram.data);
  }
}

const requests = new RequestMetrics();
registerMetrics(requests);

/** Counts a request of an informer. */
export function countRequest(request: Request): void {
  requests.count(request);
}
