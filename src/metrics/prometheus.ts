/**
 * `kubeloom/metrics/prometheus`: kubeloom's metrics in a registry of prom-client, which is an optional peer dependency. A scrape
 * of the registry reads them.
 */
import type { Metric, Registry } from 'prom-client';
import { having } from '../base/option-checks.ts';
import { collectMetrics } from './collect.ts';
import type { MetricFamily, MetricSample } from './collect.ts';
import type { MetricLabels } from './metrics-table.ts';
import { METRIC_DEFINITIONS } from './metrics-table.ts';
import type { MetricDefinition } from './metrics-table.ts';

/** A line of a scrape, in the form that prom-client's registry prints. */
interface ScrapedValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

const aRegistry = having("prom-client's Registry", 'registerMetric', 'removeSingleMetric');

/**
 * Registers every metric of kubeloom. Returns a function that removes them again.
 *
 * @throws when the registry contains another metric of any of the names; ERR_KUBELOOM_OPTION
 */
export function register(registry: Registry): () => void {
  aRegistry('registry', registry);
  const scrape = new Scrape();
  for (const definition of METRIC_DEFINITIONS)
    registry.registerMetric(scraped(definition, scrape) as unknown as Metric);
  return () => {
    for (const { name } of METRIC_DEFINITIONS) registry.removeSingleMetric(name);
  };
}

/** The part of a prom-client metric that the registry uses. The registry may change `name` (OpenMetrics). */
function scraped({ name, type, help }: MetricDefinition, scrape: Scrape): object {
  return {
    name,
    type,
    help,
    get(this: { readonly name: string }) {
      const { samples = [] } = scrape.families().find((family) => family.name === name) ?? {};
      const values = samples.flatMap((sample) => scrapedValues(this.name, sample));
      return { name: this.name, type, help, values, aggregator: 'sum' };
    },
    reset: () => undefined,
  };
}

/** Collects once for all metrics of a scrape: a registry asks them within the same task. */
class Scrape {
  #families: readonly MetricFamily[] | undefined;

  families(): readonly MetricFamily[] {
    if (!this.#families) {
      this.#families = collectMetrics();
      queueMicrotask(() => (this.#families = undefined));
    }
    return this.#families;
  }
}

function scrapedValues(name: string, { labels, value }: MetricSample): ScrapedValue[] {
  if (typeof value === 'number') return [{ value, labels }];
  let count = 0;
  const buckets = value.counts.map((ofBucket, index): ScrapedValue => {
    count += ofBucket;
    return bucketValue(name, labels, value.bounds[index], count);
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: value.sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

function bucketValue(
  name: string,
  labels: MetricLabels,
  bound: number | undefined,
  value: number,
): ScrapedValue {
  return { metricName: `${name}_bucket`, labels: { ...labels, le: bound ?? '+Inf' }, value };
}
