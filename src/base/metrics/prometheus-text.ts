/** Metrics in Prometheus' text format 0.0.4, which every scraper reads. */
import { collectMetrics } from './collect.ts';
import type { MetricFamily } from './collect.ts';
import type { MetricLabels } from './table.ts';
import type { HistogramData } from './histogram.ts';

/** Content type of `prometheusText()`. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the metrics as the body of a response to a scrape. */
export function prometheusText(families: readonly MetricFamily[] = collectMetrics()): string {
  return textOfFamilies(families);
}

/** A metric to print. The table has those of a running program; a report has others. */
export type PrintedFamily = Pick<MetricFamily, 'help' | 'samples' | 'type'> & { readonly name: string };

export function textOfFamilies(families: readonly PrintedFamily[]): string {
  const texts = new BoundTexts();
  return families.map((family) => familyText(family, texts)).join('');
}

function familyText({ name, type, help, samples }: PrintedFamily, texts: BoundTexts): string {
  let text = `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`;
  for (const { labels, value } of samples) {
    const pairs = pairsOf(labels);
    if (typeof value === 'object') text += histogramLines(name, pairs, value, texts);
    else text += `${name}${pairs === '' ? '' : `{${pairs}}`} ${numberText(value)}\n`;
  }
  return text;
}

/** Bucket lines are cumulative: each counts all observations up to its bound. */
function histogramLines(
  name: string,
  pairs: string,
  { bounds, counts, sum }: HistogramData,
  texts: BoundTexts,
): string {
  const bucket = `${name}_bucket{${pairs}${pairs === '' ? '' : ','}le="`;
  const rests = texts.of(bounds);
  let count = 0;
  let text = '';
  for (let index = 0; index < counts.length; index++) {
    count += counts[index] ?? 0;
    text += `${bucket}${rests[index] ?? ''}${count}\n`;
  }
  const braces = pairs === '' ? '' : `{${pairs}}`;
  return `${text}${name}_sum${braces} ${numberText(sum)}\n${name}_count${braces} ${count}\n`;
}

/** Labels without braces, of samples whose labels are frozen: sources keep theirs from scrape to scrape. */
const pairTexts: WeakMap<MetricLabels, string> = new WeakMap();

/** Returns the labels without braces: `name="pods",group=""`. */
function pairsOf(labels: MetricLabels): string {
  let text = pairTexts.get(labels);
  if (text !== undefined) return text;
  text = '';
  for (const label in labels) text += `${text === '' ? '' : ','}${label}="${quotable(labels[label] ?? '')}"`;
  if (Object.isFrozen(labels)) pairTexts.set(labels, text);
  return text;
}

/** Texts of bounds, which all histograms of a metric share. */
class BoundTexts {
  readonly #bounds: Map<readonly number[], readonly string[]> = new Map();

  /** Returns for each bucket what follows `le="`. */
  of(bounds: readonly number[]): readonly string[] {
    let texts = this.#bounds.get(bounds);
    if (texts === undefined) {
      texts = [...bounds, Infinity].map((bound) => `${numberText(bound)}"} `);
      this.#bounds.set(bounds, texts);
    }
    return texts;
  }
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

/** Most values have no such character, and a test is faster than replacing nothing. */
const ESCAPED_IN_VALUES = /[\\\n"]/;

function quotable(value: string): string {
  return ESCAPED_IN_VALUES.test(value) ? escaped(value).replaceAll('"', '\\"') : value;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
