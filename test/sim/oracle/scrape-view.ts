/** A scrape in the form that the invariants need. */
import type { ScrapedSample, ScrapeRecord } from './histories.ts';

/** Labels that samples must have; `informer` is the name in the histories. */
export type Labels = Readonly<Record<string, string>>;

/** The samples of one scrape, by metric. */
export class Scrape {
  readonly record: ScrapeRecord;
  readonly #samples: Map<string, ScrapedSample[]> = new Map();

  constructor(record: ScrapeRecord) {
    this.record = record;
    for (const sample of record.samples) {
      const ofMetric = this.#samples.get(sample.metric);
      if (ofMetric) ofMetric.push(sample);
      else this.#samples.set(sample.metric, [sample]);
    }
  }

  samples(metric: string): readonly ScrapedSample[] {
    return this.#samples.get(metric) ?? [];
  }

  /** Returns the sum of the samples with these labels; undefined when there is none. */
  sum(metric: string, of: Labels): number | undefined {
    const wanted = Object.entries(of);
    let sum: number | undefined;
    for (const { informer, labels, value } of this.samples(metric)) {
      const isMeant = wanted.every(([label, is]) => (label === 'informer' ? informer : labels[label]) === is);
      if (isMeant) sum = (sum ?? 0) + value;
    }
    return sum;
  }
}

/** Compares samples by metric. Undefined is expected of a metric without a sample. */
export function differences(
  scrape: Scrape,
  expected: Readonly<Record<string, number | undefined>>,
  of: Labels,
): string[] {
  return Object.entries(expected).flatMap(([metric, value]) => {
    const actual = scrape.sum(metric, of);
    if (actual === value) return [];
    return [`${metric} of ${Object.values(of).join(', ')} is ${actual ?? 'absent'} in place of ${value}`];
  });
}
