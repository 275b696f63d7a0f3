/** Counters and gauges of the server, read from `/metrics` if the user may read it. */
import { KubeloomError } from '../../../base/errors.ts';
import type { ApiClient } from '../../../http/api-client.ts';
import type { ServerMetric } from '../result.ts';

export interface Sample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** By metric and labels as the server writes them. */
export type Samples = ReadonlyMap<string, Sample>;

/** The counters that show the cost of watches and lists. */
const COUNTERS: readonly string[] = [
  'apiserver_cache_list_total',
  'apiserver_init_events_total',
  'apiserver_terminated_watchers_total',
  'apiserver_watch_cache_events_dispatched_total',
  'apiserver_watch_events_sizes_sum',
  'apiserver_watch_events_total',
  'apiserver_watch_filtered_events_total',
  'apiserver_watch_list_duration_seconds_count',
  'apiserver_watch_list_duration_seconds_sum',
  'process_cpu_seconds_total',
];
export const GAUGES: readonly string[] = ['process_resident_memory_bytes', 'go_goroutines'];

const LINE = /^(?<metric>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)/;
/** Sticky: labels follow each other, so no text is searched twice. */
const LABEL = /\s*(?<name>\w+)="(?<value>(?:[^"\\]|\\.)*)"\s*,?/gy;

/**
 * @param further names of additional metrics
 * @returns undefined if this user may not read the server's metrics
 */
export async function readServerMetrics(
  client: ApiClient,
  further: readonly string[],
  signal: AbortSignal,
): Promise<Samples | undefined> {
  try {
    const text = (await client.getBody('/metrics', signal)).toString();
    return samplesOf(text, new Set([...COUNTERS, ...GAUGES, ...further]));
  } catch (error) {
    if (error instanceof KubeloomError) return undefined;
    throw error;
  }
}

export function samplesOf(text: string, wanted: ReadonlySet<string>): Samples {
  const samples = new Map<string, Sample>();
  for (const line of text.split('\n')) {
    const { metric = '', labels = '', value } = LINE.exec(line)?.groups ?? {};
    if (!wanted.has(metric)) continue;
    const pairs = Array.from(labels.matchAll(LABEL), ({ groups }) => [
      groups?.['name'] ?? '',
      groups?.['value'] ?? '',
    ]);
    samples.set(`${metric}{${labels}}`, {
      metric,
      labels: Object.fromEntries(pairs) as Readonly<Record<string, string>>,
      value: Number(value),
    });
  }
  return samples;
}

/** Returns the metrics that changed, by name. */
export function changesBetween(before: Samples | undefined, after: Samples | undefined): ServerMetric[] {
  if (!before || !after) return [];
  return Array.from(after, ([key, { metric, labels, value }]) => ({
    metric,
    labels,
    before: before.get(key)?.value ?? 0,
    after: value,
  }))
    .filter(({ before: first, after: last }) => first !== last)
    .toSorted((one, other) => (one.metric < other.metric ? -1 : 1));
}

/** Returns a figure of a metric: the sum over all labels. */
export function totalOf(samples: Samples, metric: string): number {
  let total = 0;
  for (const sample of samples.values()) if (sample.metric === metric) total += sample.value;
  return total;
}
