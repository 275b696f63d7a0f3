/** Metrics in Prometheus' text format 0.0.4, which every scraper reads. */
import { collectMetrics } from './collect.ts';
import type { MetricFamily } from './collect.ts';
import type { HistogramData } from './histogram.ts';
import type { MetricLabels } from './table.ts';
import { Utf8Writer } from './utf8-writer.ts';

/** Content type of `prometheusText()`. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the metrics as the body of a response to a scrape. */
export function prometheusText(families: readonly MetricFamily[] = collectMetrics()): string {
  return textOfFamilies(families);
}

const BYTES_MIN = 16_384;
/** A little more than the last text had: the next one is similar. */
let expectedBytes = BYTES_MIN;

/** A metric to print. The table has those of a running program; a report has others. */
export type PrintedFamily = Pick<MetricFamily, 'help' | 'samples' | 'type'> & { readonly name: string };

export function textOfFamilies(families: readonly PrintedFamily[]): string {
  const text = new PrometheusText(expectedBytes);
  for (const family of families) text.family(family);
  expectedBytes = Math.max(BYTES_MIN, text.bytes + (text.bytes >> 3));
  return text.toString();
}

/** Names of the lines of a histogram. */
interface HistogramNames {
  readonly bucket: Uint8Array;
  readonly sum: Uint8Array;
  readonly count: Uint8Array;
}

const SPACE = bytesOf(' ');
const OPEN = bytesOf('{');
const CLOSE = bytesOf('} ');
const LE = bytesOf('le="');
const COMMA_LE = bytesOf(',le="');
const NEW_LINE = bytesOf('\n');

/** A part of the text that was written before. */
interface Part {
  readonly start: number;
  readonly length: number;
}

class PrometheusText {
  readonly #out: Utf8Writer;
  /** Labels without braces: a source gives the same ones for many metrics. */
  readonly #pairs: Map<MetricLabels, Part> = new Map();
  /** For each bucket what follows `le="`. */
  readonly #bounds: Map<readonly number[], readonly Uint8Array[]> = new Map();

  constructor(capacity: number) {
    this.#out = new Utf8Writer(capacity);
  }

  get bytes(): number {
    return this.#out.length;
  }

  family({ name, type, help, samples }: PrintedFamily): void {
    this.#out.write(`# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`);
    const own = bytesOf(name);
    const bucket = bytesOf(`${name}_bucket{`);
    const names = { bucket, sum: bytesOf(`${name}_sum`), count: bytesOf(`${name}_count`) };
    for (const { labels, value } of samples) {
      if (typeof value === 'object') this.#histogram(names, labels, value);
      else this.#line(own, labels, value);
    }
  }

  toString(): string {
    return this.#out.toString();
  }

  #line(name: Uint8Array, labels: MetricLabels, value: number): void {
    const out = this.#out;
    out.put(name);
    if (isEmpty(labels)) {
      out.put(SPACE);
    } else {
      out.put(OPEN);
      this.#writePairs(labels);
      out.put(CLOSE);
    }
    this.#number(value);
    out.put(NEW_LINE);
  }

  /** Bucket lines are cumulative: each counts all observations up to its bound. */
  #histogram(names: HistogramNames, labels: MetricLabels, { bounds, counts, sum }: HistogramData): void {
    const out = this.#out;
    const rests = this.#boundsOf(bounds);
    const start = out.length;
    out.put(names.bucket);
    this.#writePairs(labels);
    out.put(isEmpty(labels) ? LE : COMMA_LE);
    const length = out.length - start;
    let count = 0;
    for (let index = 0; index < counts.length; index++) {
      if (index > 0) out.repeat(start, length);
      count += counts[index] ?? 0;
      out.put(rests[index] ?? NEW_LINE);
      out.number(count);
      out.put(NEW_LINE);
    }
    this.#line(names.sum, labels, sum);
    this.#line(names.count, labels, count);
  }

  #writePairs(labels: MetricLabels): void {
    const out = this.#out;
    const known = this.#pairs.get(labels);
    if (known) {
      out.repeat(known.start, known.length);
      return;
    }
    const start = out.length;
    let text = '';
    for (const label in labels)
      text += `${text === '' ? '' : ','}${label}="${quotable(labels[label] ?? '')}"`;
    out.write(text);
    this.#pairs.set(labels, { start, length: out.length - start });
  }

  #boundsOf(bounds: readonly number[]): readonly Uint8Array[] {
    let texts = this.#bounds.get(bounds);
    if (texts === undefined) {
      texts = [...bounds.map(String), '+Inf'].map((bound) => bytesOf(`${bound}"} `));
      this.#bounds.set(bounds, texts);
    }
    return texts;
  }

  #number(value: number): void {
    if (value === Infinity) this.#out.write('+Inf');
    else if (value === -Infinity) this.#out.write('-Inf');
    else this.#out.number(value);
  }
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

function isEmpty(labels: MetricLabels): boolean {
  for (const _label in labels) return false;
  return true;
}

/** Most values have no such character, and a test is faster than replacing nothing. */
const ESCAPED_IN_VALUES = /[\\\n"]/;

function quotable(value: string): string {
  return ESCAPED_IN_VALUES.test(value) ? escaped(value).replaceAll('"', '\\"') : value;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
