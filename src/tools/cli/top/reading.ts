/** Readers of collected metrics: sums of samples by label, and quantiles of histograms. */
import type {
  MetricFamily,
  MetricSample,
  MetricLabels,
  HistogramData,
  MetricName,
} from '../../../metrics/index.ts';

/** Metrics of a moment, by name. */
export class MetricsReading {
  readonly #families: ReadonlyMap<MetricName, MetricFamily>;
  /** Samples of a metric by the label that tells sources apart: a program may have many informers. */
  readonly #byName: Map<MetricName, ReadonlyMap<string | undefined, MetricFamily['samples']>> = new Map();

  constructor(families: readonly MetricFamily[]) {
    this.#families = new Map(families.map((family) => [family.name, family]));
  }

  /** Returns the labels of all samples of a metric with the given labels. */
  labels(name: MetricName, match: MetricLabels = {}): readonly MetricLabels[] {
    return this.#samples(name, match).map(({ labels }) => labels);
  }

  /** Returns the sum of the values with the given labels; undefined if there is none. */
  sum(name: MetricName, match: MetricLabels = {}): number | undefined {
    let sum: number | undefined;
    for (const { value } of this.#samples(name, match))
      if (typeof value === 'number') sum = (sum ?? 0) + value;
    return sum;
  }

  /** Returns the merged histogram of all samples with the given labels; undefined if there is none. */
  histogram(name: MetricName, match: MetricLabels = {}): HistogramData | undefined {
    let total: HistogramData | undefined;
    for (const { value } of this.#samples(name, match))
      if (typeof value === 'object') total = total ? combined(total, value, 1) : value;
    return total;
  }

  #samples(name: MetricName, match: MetricLabels): MetricFamily['samples'] {
    const wanted = Object.entries(match);
    const samples =
      match['name'] === undefined ? this.#families.get(name)?.samples : this.#named(name, match['name']);
    return (samples ?? []).filter(({ labels }) => wanted.every(([label, value]) => labels[label] === value));
  }

  #named(metric: MetricName, name: string): MetricFamily['samples'] {
    let indexed = this.#byName.get(metric);
    if (!indexed) this.#byName.set(metric, (indexed = byName(this.#families.get(metric)?.samples ?? [])));
    return indexed.get(name) ?? [];
  }
}

function byName(samples: MetricFamily['samples']): ReadonlyMap<string | undefined, MetricFamily['samples']> {
  const found = new Map<string | undefined, MetricSample[]>();
  for (const sample of samples) {
    const name = sample.labels['name'];
    const others = found.get(name);
    if (others) others.push(sample);
    else found.set(name, [sample]);
  }
  return found;
}

/** Returns the observations of `later` that are not in `earlier`, which may be absent. */
export function since(later: HistogramData, earlier: HistogramData | undefined): HistogramData {
  return earlier ? combined(later, earlier, -1) : later;
}

function combined(first: HistogramData, second: HistogramData, factor: 1 | -1): HistogramData {
  return {
    bounds: first.bounds,
    counts: first.counts.map((count, index) => count + factor * (second.counts[index] ?? 0)),
    sum: first.sum + factor * second.sum,
  };
}

/**
 * Returns the value below which `fraction` of the observations lie, as Prometheus' histogram_quantile: linear within a
 * bucket, and the highest bound for the unbounded bucket. Undefined if there are no observations.
 */
export function quantile({ bounds, counts }: HistogramData, fraction: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const rank = fraction * total;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    const upper = bounds[index];
    if (upper === undefined) return bounds.at(-1);
    if (count > 0 && below + count >= rank) {
      const lower = index === 0 ? 0 : (bounds[index - 1] as number);
      return lower + (upper - lower) * ((rank - below) / count);
    }
    below += count;
  }
  return bounds.at(-1);
}
