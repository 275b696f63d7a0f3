/** A counter with a sample for each combination of labels, for rare events: each increment looks the sample up. */
import type { AddSample } from './collect.ts';
import type { MetricLabels, MetricName } from './metrics-table.ts';

export class LabelledCounter {
  readonly #name: MetricName;
  readonly #samples: Map<string, { readonly labels: MetricLabels; value: number }> = new Map();

  constructor(name: MetricName) {
    this.#name = name;
  }

  /** @param labels always the same labels, in the order of the table */
  increment(labels: MetricLabels): void {
    const key = Object.values(labels).join('\n');
    const sample = this.#samples.get(key);
    if (sample) sample.value++;
    else this.#samples.set(key, { labels, value: 1 });
  }

  /** @param of labels in front of those of the samples */
  addTo(add: AddSample, of: MetricLabels = {}): void {
    for (const { labels, value } of this.#samples.values()) add(this.#name, { ...of, ...labels }, value);
  }

  /** Returns the counts by the values of a label. */
  sumsBy(label: string): Readonly<Record<string, number>> {
    const sums = new Map<string, number>();
    for (const { labels, value } of this.#samples.values()) {
      const of = labels[label] ?? '';
      sums.set(of, (sums.get(of) ?? 0) + value);
    }
    return Object.freeze(Object.fromEntries(sums));
  }
}
