/** Metrics in Prometheus' text format 0.0.4, which every scraper reads. */
import { anArray, anArrayOf, anObject } from '../base/option-checks.ts';
import { collectMetrics } from './collect.ts';
import type { MetricFamily } from './collect.ts';
import type { HistogramData } from './histogram.ts';
import type { MetricLabels } from './metrics-table.ts';

/** Content type of `prometheusText()`. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

function aFamily(name: string, value: unknown): void {
  anObject(name, value);
  anArray(`${name}.samples`, (value as MetricFamily).samples);
}

/** Returns the metrics as the body of a response to a scrape. */
export function prometheusText(families: readonly MetricFamily[] = collectMetrics()): string {
  anArrayOf(aFamily)('families', families);
  return families.map(familyText).join('');
}

function familyText({ name, type, help, samples }: MetricFamily): string {
  const lines = samples.map(({ labels, value }) => {
    const pairs = pairsOf(labels);
    return typeof value === 'object' ? histogramText(name, pairs, value) : lineOf(name, pairs, value);
  });
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function lineOf(name: string, pairs: string, value: number): string {
  return `${name}${pairs === '' ? '' : `{${pairs}}`} ${numberText(value)}\n`;
}

/** Bucket lines are cumulative: each counts all observations up to the bound. */
function histogramText(name: string, pairs: string, { bounds, counts, sum }: HistogramData): string {
  const start = `${name}_bucket{${pairs}${pairs === '' ? '' : ','}le="`;
  let count = 0;
  let text = '';
  for (const [index, own] of counts.entries()) {
    count += own;
    text += `${start}${bounds[index] ?? '+Inf'}"} ${count}\n`;
  }
  return text + lineOf(`${name}_sum`, pairs, sum) + lineOf(`${name}_count`, pairs, count);
}

/** Returns the labels without braces. */
function pairsOf(labels: MetricLabels): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${quotable(value ?? '')}"`)
    .join(',');
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

/** Most values contain no such character, and a test is faster than a replacement. */
const ESCAPED_IN_VALUES = /[\\\n"]/;

function quotable(value: string): string {
  return ESCAPED_IN_VALUES.test(value) ? escaped(value).replaceAll('"', '\\"') : value;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
