/** PromQL of the metrics of the table. The scope of a metric decides which variables of the dashboard filter it. */
import { METRICS } from '../../src/metrics/table.ts';
import type { MetricName, SCOPES } from '../../src/metrics/table.ts';
import type { Query, Variable } from './panel.ts';

type Scope = keyof typeof SCOPES;

const PROGRAM = 'job=~"$job", instance=~"$instance"';
const FILTERS: Readonly<Record<Scope, string>> = {
  informer: `${PROGRAM}, name=~"$informer"`,
  handler: `${PROGRAM}, name=~"$informer"`,
  threads: PROGRAM,
  thread: PROGRAM,
  queue: `${PROGRAM}, name=~"$queue"`,
  controller: `${PROGRAM}, controller=~"$controller"`,
  lease: PROGRAM,
  partitions: PROGRAM,
  process: PROGRAM,
};

/** Programs come first: their `workqueue_` metrics have the names that every client of Kubernetes in Go uses. */
export const VARIABLES: readonly Variable[] = [
  { name: 'job', label: 'Job', query: 'label_values(kubeloom_thread_cpu_seconds_total, job)' },
  {
    name: 'instance',
    label: 'Instance',
    query: 'label_values(kubeloom_thread_cpu_seconds_total{job=~"$job"}, instance)',
  },
  { name: 'informer', label: 'Informer', query: `label_values(kubeloom_informer_objects{${PROGRAM}}, name)` },
  { name: 'queue', label: 'Queue', query: `label_values(workqueue_depth{${PROGRAM}}, name)` },
  {
    name: 'controller',
    label: 'Controller',
    query: `label_values(controller_runtime_max_concurrent_reconciles{${PROGRAM}}, controller)`,
  },
];

/** Returns the series that the variables select. */
export function series(name: MetricName): string {
  return selected(name, '');
}

/** Returns the increase a second of a counter. */
export function rate(name: MetricName): string {
  return `rate(${series(name)}[$__rate_interval])`;
}

/** Returns the median and the 99th percentile of a histogram in the last while, for each value of the labels. */
export function quantiles(name: MetricName, by: readonly string[], legend: string): readonly Query[] {
  return quantilesOf(`rate(${selected(name, '_bucket')}[$__rate_interval])`, by, legend);
}

/** Returns them since the start, for what is rare. */
export function quantilesSinceStart(
  name: MetricName,
  by: readonly string[],
  legend: string,
): readonly Query[] {
  return quantilesOf(selected(name, '_bucket'), by, legend);
}

function quantilesOf(buckets: string, by: readonly string[], legend: string): readonly Query[] {
  const sum = `sum by (${['le', ...by].join(', ')}) (${buckets})`;
  return [
    { expression: `histogram_quantile(0.5, ${sum})`, legend: `${legend} p50` },
    { expression: `histogram_quantile(0.99, ${sum})`, legend: `${legend} p99` },
  ];
}

function selected(name: MetricName, suffix: '' | '_bucket'): string {
  return `${name}${suffix}{${FILTERS[METRICS[name][1]]}}`;
}
