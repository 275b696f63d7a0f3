/** The samples of a scrape that the oracle can count itself, by the names that the informers have in the histories. */
import { collectMetrics } from '../../../src/metrics/index.ts';
import type { MetricFamily } from '../../../src/metrics/index.ts';
import type { ScrapedSample } from './histories.ts';

/** Gauges besides all counters. Times are left out: a seed would not repeat them. */
const GAUGES: ReadonlySet<string> = new Set([
  'informer_queued_items',
  'informer_store_resource_version',
  'kubeloom_informer_objects',
  'kubeloom_informer_synced',
  'kubeloom_handler_pending',
  'kubeloom_handler_pending_bytes',
]);

/** @param informerOf names of informers in the histories, by the name of a handler, which is unique in a run */
export function scrapedSamples(informerOf: ReadonlyMap<string, string>): ScrapedSample[] {
  const families = collectMetrics();
  const informers = new Map<string, string>();
  for (const { name = '', handler = '' } of labelsOf(families, 'kubeloom_handler_calls_total')) {
    const informer = informerOf.get(handler);
    if (informer !== undefined) informers.set(name, informer);
  }
  return families.filter(isCountable).flatMap(({ name: metric, type, samples }) =>
    samples.flatMap(({ labels: { name = '', group: _g, version: _v, resource: _r, ...labels }, value }) => {
      const informer = informers.get(name);
      if (informer === undefined || typeof value !== 'number') return [];
      // The cache of another thread is a handler that no recorder has registered, and that ends with its thread.
      const { handler } = labels;
      if (type === 'counter' && handler !== undefined && !informerOf.has(handler)) return [];
      return [{ metric, informer, labels, value }];
    }),
  );
}

function labelsOf(
  families: readonly MetricFamily[],
  metric: string,
): MetricFamily['samples'][number]['labels'][] {
  return families.find(({ name }) => name === metric)?.samples.map(({ labels }) => labels) ?? [];
}

function isCountable({ name, type }: MetricFamily): boolean {
  return GAUGES.has(name) || (type === 'counter' && !name.includes('seconds'));
}
