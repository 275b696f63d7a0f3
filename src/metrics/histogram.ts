/** A histogram with fixed buckets. `observe` adds to a number of a typed array, without an allocation. */
import type { MetricLabels } from './metrics-table.ts';
import type { MetricName } from './metrics-table.ts';

/** Observations of a histogram up to a moment. */
export interface HistogramData {
  /** Upper bounds of the buckets, ascending; the last bucket is unbounded. */
  readonly bounds: readonly number[];
  /** Observations in each bucket, a number more than `bounds`; not cumulative. */
  readonly counts: readonly number[];
  /** Sum of the observations, in the unit of the metric: seconds for durations. */
  readonly sum: number;
}

/** Receives every observation, for systems that cannot read a histogram later, such as OpenTelemetry. */
export type ObservationListener = (name: MetricName, labels: MetricLabels, value: number) => void;

const listeners: Set<ObservationListener> = new Set();

/** Adds a listener of all histograms. Returns a function that removes it. */
export function onObservation(listener: ObservationListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export class Histogram {
  readonly #name: MetricName;
  readonly #labels: MetricLabels | (() => MetricLabels);
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;
  /** The observations as they were read last; undefined after a further observation. */
  #data: HistogramData | undefined;

  /**
   * @param labels for listeners; a function when they are not known yet
   * @param bounds upper bounds of the buckets, ascending, each inclusive
   */
  constructor(name: MetricName, labels: MetricLabels | (() => MetricLabels), bounds: readonly number[]) {
    this.#name = name;
    this.#labels = labels;
    this.#bounds = Object.freeze(bounds);
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    (this.#counts[bucket] as number)++;
    this.#sum += value;
    this.#data = undefined;
    if (listeners.size === 0) return;
    const labels = typeof this.#labels === 'function' ? this.#labels() : this.#labels;
    for (const listener of listeners) listener(this.#name, labels, value);
  }

  get data(): HistogramData {
    this.#data ??= Object.freeze({
      bounds: this.#bounds,
      counts: Object.freeze([...this.#counts]),
      sum: this.#sum,
    });
    return this.#data;
  }
}

/** Bounds for latencies, from 50 µs to 30 s. */
export const LATENCY_SECONDS: readonly number[] = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  10, 30,
];

/** Returns `count` bounds from `first` on, each `factor` times the previous bound: client_golang's ExponentialBuckets. */
export function exponentialBounds(first: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first * factor ** index);
}
