/**
 * The metrics of everything that runs in this process. Informers, threads and work queues register themselves while
 * they run. A series ends with the source, so a program that starts and stops informers keeps no series of the past.
 */
import type { HistogramData } from './histogram.ts';
import { METRIC_DEFINITIONS } from './metrics-table.ts';
import type { MetricDefinition, MetricLabels, MetricName } from './metrics-table.ts';

/** A value of a metric, with its labels. */
export interface MetricSample {
  /** Labels of the sample, frozen. */
  readonly labels: MetricLabels;
  /** Value of a counter or a gauge; observations of a histogram. */
  readonly value: number | HistogramData;
}

/** All samples of a metric. */
export interface MetricFamily extends MetricDefinition {
  /** Samples of all sources; never empty. */
  readonly samples: readonly MetricSample[];
}

/** Receives the samples of a source. The labels are frozen, and several samples may share the object. */
export type AddSample = (name: MetricName, labels: MetricLabels, value: number | HistogramData) => void;

export interface MetricSource {
  /** Sources of the same kind carry different names. */
  readonly metricsKind: 'informer' | 'threads' | 'queue' | 'controller' | 'lease' | 'partitions' | 'requests';
  /** Name that the source asks for; the second source with it is called `pods #2`. */
  readonly metricsName: string;
  /** Adds the samples of this moment. `name` is the unique name. */
  addMetrics(add: AddSample, name: string): void;
}

const registered: Map<MetricSource, string> = new Map();

/** A registered source: the unique name, and the function that it calls when it ends. */
export interface MetricRegistration {
  readonly name: string;
  readonly end: () => void;
}

export function registerMetrics(source: MetricSource): MetricRegistration {
  const names = new Set<string>();
  for (const [{ metricsKind }, name] of registered) if (metricsKind === source.metricsKind) names.add(name);
  let name = source.metricsName;
  for (let number = 2; names.has(name); number++) name = `${source.metricsName} #${number}`;
  registered.set(source, name);
  return { name, end: () => void registered.delete(source) };
}

/**
 * Returns the metrics of all running informers, threads and named work queues of this process at this moment, in the
 * order of docs/metrics-table.md, as frozen plain data. A metric without a sample is left out. Takes no lock and asks no thread.
 */
export function collectMetrics(): readonly MetricFamily[] {
  const samples = new Map<MetricName, MetricSample[]>();
  const add: AddSample = (name, labels, value) => {
    const ofName = samples.get(name);
    const sample = Object.freeze({ labels: Object.freeze(labels), value });
    if (ofName) ofName.push(sample);
    else samples.set(name, [sample]);
  };
  for (const [source, name] of registered) source.addMetrics(add, name);
  const families: MetricFamily[] = [];
  for (const definition of METRIC_DEFINITIONS) {
    const ofName = samples.get(definition.name);
    if (ofName) families.push(Object.freeze({ ...definition, samples: Object.freeze(ofName) }));
  }
  return Object.freeze(families);
}
