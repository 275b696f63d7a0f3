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
  const texts = new RepeatedTexts();
  return families.map((family) => familyText(family, texts)).join('');
}

function familyText({ name, type, help, samples }: PrintedFamily, texts: RepeatedTexts): string {
  let text = `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`;
  for (const { labels, value } of samples) {
    const pairs = texts.pairs(labels);
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
  texts: RepeatedTexts,
): string {
  const bucket = `${name}_bucket{${pairs}${pairs === '' ? '' : ','}le="`;
  const rests = texts.boundsOf(bounds);
  let count = 0;
  let text = '';
  for (let index = 0; index < counts.length; index++) {
    count += counts[index] ?? 0;
    text += `${bucket}${rests[index] ?? ''}${count}\n`;
  }
  const braces = pairs === '' ? '' : `{${pairs}}`;
  return `${text}${name}_sum${braces} ${numberText(sum)}\n${name}_count${braces} ${count}\n`;
}

/** Texts that one scrape needs again and again: a source gives the same labels for many metrics. */
class RepeatedTexts {
  readonly #pairs: Map<MetricLabels, string> = new Map();
  readonly #bounds: Map<readonly number[], readonly string[]> = new Map();

  /** Returns the labels without braces: `name="pods",group=""`. */
  pairs(labels: MetricLabels): string {
    let text = this.#pairs.get(labels);
    if (text === undefined) {
      text = '';
      for (const label in labels)
        text += `${text === '' ? '' : ','}${label}="${quotable(labels[label] ?? '')}"`;
      this.#pairs.set(labels, text);
    }
    return text;
  }

  /** Returns for each bucket what follows `le="`. */
  boundsOf(bounds: readonly number[]): readonly string[] {
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
