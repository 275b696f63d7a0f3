/** The figures of a program's `/metrics`: Prometheus' text, read back into the samples that it was made of. */
import type { MetricFamily, MetricLabels, MetricName, MetricSample } from '../../../metrics/index.ts';

const TYPE = /^# TYPE (\S+) (counter|gauge|histogram)$/;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n' };

/** The buckets of a histogram with equal labels, which the text adds up. */
interface Buckets {
  readonly labels: MetricLabels;
  readonly bounds: number[];
  readonly totals: number[];
  sum: number;
}

/** Returns the families of a text; other programs' families may be among them. Empty for another kind of text. */
export function familiesOf(text: string): MetricFamily[] {
  const families: MetricFamily[] = [];
  let take: (name: string, labels: MetricLabels, value: number) => void = () => undefined;
  let finish = (): void => undefined;
  for (const line of text.split('\n')) {
    const [, family = '', type] = TYPE.exec(line) ?? [];
    if (type === 'counter' || type === 'gauge' || type === 'histogram') {
      finish();
      const samples: MetricSample[] = [];
      const buckets = new Map<string, Buckets>();
      // A program's own names are shown nowhere.
      const found = { name: family as MetricName, type, help: '', labels: [] } as const;
      take = (name, labels, value) => {
        if (type === 'histogram') addBucket(buckets, name.slice(family.length), labels, value);
        else if (name === family) samples.push({ labels, value });
      };
      finish = () => {
        samples.push(...Array.from(buckets.values(), histogramOf));
        if (samples.length > 0) families.push({ ...found, samples });
      };
      continue;
    }
    const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (name !== undefined) take(name, labelsOf(labels), numberOf(value));
  }
  finish();
  return families;
}

function addBucket(
  all: Map<string, Buckets>,
  part: string,
  { le = '', ...labels }: MetricLabels,
  value: number,
): void {
  const key = JSON.stringify(labels);
  const buckets = all.get(key) ?? { labels, bounds: [], totals: [], sum: 0 };
  all.set(key, buckets);
  if (part === '_sum') buckets.sum = value;
  if (part !== '_bucket') return;
  buckets.totals.push(value);
  if (le !== '+Inf') buckets.bounds.push(Number(le));
}

function histogramOf({ labels, bounds, totals, sum }: Buckets): MetricSample {
  const counts = totals.map((total, index) => total - (totals[index - 1] ?? 0));
  return { labels, value: { bounds, counts, sum } };
}

function labelsOf(text: string): MetricLabels {
  const pairs = Array.from(text.matchAll(LABEL), ([, name = '', value = '']) => [
    name,
    value.replaceAll(/\\(.)/g, (_, letter: string) => ESCAPED[letter] ?? letter),
  ]);
  return Object.fromEntries(pairs) as MetricLabels;
}

function numberOf(text: string): number {
  return text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);
}
