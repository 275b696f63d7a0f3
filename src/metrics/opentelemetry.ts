/**
 * `kubeloom/metrics/opentelemetry`: kubeloom's metrics and traces through @opentelemetry/api, which is an optional peer. Counters
 * and gauges are read when a reader collects; histograms are recorded as they are observed, because OpenTelemetry lacks a
 * histogram that can be read.
 */
import type { Histogram, Meter, Observable } from '@opentelemetry/api';
import { having } from '../base/option-checks.ts';
import { collectMetrics } from './collect.ts';
import { onObservation } from './histogram.ts';
import { METRIC_DEFINITIONS } from './metrics-table.ts';
import type { MetricName } from './metrics-table.ts';

export { startTracing } from './opentelemetry-traces.ts';

const aMeter = having(
  "OpenTelemetry's Meter",
  'createObservableCounter',
  'createObservableGauge',
  'createHistogram',
  'addBatchObservableCallback',
  'removeBatchObservableCallback',
);

/** Adds every metric of kubeloom to the meter. Returns a function that ends it. */
export function instrument(meter: Meter): () => void {
  aMeter('meter', meter);
  const observables = new Map<MetricName, Observable>();
  const histograms = new Map<MetricName, Histogram>();
  for (const { name, type, help } of METRIC_DEFINITIONS) {
    const options = { description: help, unit: name.includes('seconds') ? 's' : '' };
    if (type === 'counter') observables.set(name, meter.createObservableCounter(name, options));
    else if (type === 'gauge') observables.set(name, meter.createObservableGauge(name, options));
    else histograms.set(name, meter.createHistogram(name, options));
  }
  const batch = [...observables.values()];
  const collect: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    for (const { name, samples } of collectMetrics()) {
      const observable = observables.get(name);
      for (const { labels, value } of samples)
        if (observable && typeof value === 'number') result.observe(observable, value, labels);
    }
  };
  meter.addBatchObservableCallback(collect, batch);
  const endObservations = onObservation((name, labels, value) => histograms.get(name)?.record(value, labels));
  return () => {
    meter.removeBatchObservableCallback(collect, batch);
    endObservations();
  };
}
