/** Metrics in Prometheus' text format 0.0.4, which every scraper reads. */
import { collectMetrics } from './collect.ts';
import type { MetricFamily } from './collect.ts';
import type { MetricLabels } from './table.ts';
import type { HistogramData } from './histogram.ts';

/** Content type of `prometheusText()`. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the metrics as the body of a response to a scrape. */
export function prometheusText(families: readonly MetricFamily[] = collectMetrics()): string {
  return families.map(familyText).join('');
}

/** A metric to print. The table has those of a running program; a report has others. */
export type PrintedFamily = Pick<MetricFamily, 'help' | 'samples' | 'type'> & { readonly name: string };

export function familyText({ name, type, help, samples }: PrintedFamily): string {
  const lines = [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`];
  for (const { labels, value } of samples) {
    if (typeof value === 'number') lines.push(`${name}${labelText(labels)} ${numberText(value)}`);
    else lines.push(...histogramLines(name, labels, value));
  }
  return `${lines.join('\n')}\n`;
}

/** Bucket lines are cumulative: each counts all observations up to its bound. */
function histogramLines(
  name: string,
  labels: MetricLabels,
  { bounds, counts, sum }: HistogramData,
): string[] {
  let count = 0;
  const lines = counts.map((ofBucket, index) => {
    count += ofBucket;
    const le = numberText(bounds[index] ?? Infinity);
    return `${name}_bucket${labelText({ ...labels, le })} ${count}`;
  });
  return [
    ...lines,
    `${name}_sum${labelText(labels)} ${numberText(sum)}`,
    `${name}_count${labelText(labels)} ${count}`,
  ];
}

function labelText(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(
    ([label, value]) => `${label}="${escaped(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
