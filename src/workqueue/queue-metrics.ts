/** Metrics of a named work queue: client-go's, with client-go's buckets. They last until the queue is shut down. */
import { registerMetrics } from '../metrics/collect.ts';
import type { AddSample, MetricRegistration, MetricSource } from '../metrics/collect.ts';
import { Histogram, LATENCY_SECONDS, exponentialBounds } from '../metrics/histogram.ts';

/** Metrics that a work queue reports while it works: bind them to gauges and histograms. */
export interface WorkQueueMetrics {
  /** Called when an item is added; not for an item that is waiting already. */
  added?(): void;
  /** Number of waiting items after each change; items in work do not count. */
  depth?(items: number): void;
  /** Time from add to get. */
  waited?(durationMs: number): void;
  /** Time from get to done. */
  worked?(durationMs: number): void;
  /** Called when an item is added with a delay or by a rate limiter. */
  retried?(): void;
}

/** Figures that the queue computes when it is asked. */
export interface MeasuredQueue {
  readonly name: string;
  readonly length: number;
  readonly unfinishedWorkMs: number;
  readonly longestRunningMs: number;
}

const SECONDS = exponentialBounds(1e-8, 10, 10);

export class QueueMetrics implements MetricSource, WorkQueueMetrics {
  readonly metricsKind = 'queue';
  readonly metricsName: string;
  readonly #queue: MeasuredQueue;
  /** Metrics that the user gave. */
  readonly #given: WorkQueueMetrics;
  readonly #registration: MetricRegistration;
  readonly #waited: Histogram;
  readonly #worked: Histogram;
  readonly #latency: Histogram;
  #adds = 0;
  #retries = 0;

  constructor(queue: MeasuredQueue, given: WorkQueueMetrics) {
    this.metricsName = queue.name;
    this.#queue = queue;
    this.#given = given;
    this.#registration = registerMetrics(this);
    const { name } = this.#registration;
    this.#waited = new Histogram('workqueue_queue_duration_seconds', { name }, SECONDS);
    this.#worked = new Histogram('workqueue_work_duration_seconds', { name }, SECONDS);
    this.#latency = new Histogram('kubeloom_queue_latency_seconds', { name }, LATENCY_SECONDS);
  }

  added(): void {
    this.#adds++;
    this.#given.added?.();
  }

  depth(items: number): void {
    this.#given.depth?.(items);
  }

  waited(durationMs: number): void {
    this.#waited.observe(durationMs / 1000);
    this.#given.waited?.(durationMs);
  }

  worked(durationMs: number): void {
    this.#worked.observe(durationMs / 1000);
    this.#given.worked?.(durationMs);
  }

  /** Called when the work on an item ended. @param durationMs the time since it was added */
  done(durationMs: number): void {
    this.#latency.observe(durationMs / 1000);
  }

  retried(): void {
    this.#retries++;
    this.#given.retried?.();
  }

  ended(): void {
    this.#registration.end();
  }

  addMetrics(add: AddSample, name: string): void {
    const { length, unfinishedWorkMs, longestRunningMs } = this.#queue;
    add('workqueue_depth', { name }, length);
    add('workqueue_adds_total', { name }, this.#adds);
    add('workqueue_retries_total', { name }, this.#retries);
    add('workqueue_queue_duration_seconds', { name }, this.#waited.data);
    add('workqueue_work_duration_seconds', { name }, this.#worked.data);
    add('workqueue_unfinished_work_seconds', { name }, unfinishedWorkMs / 1000);
    add('workqueue_longest_running_processor_seconds', { name }, longestRunningMs / 1000);
    add('kubeloom_queue_latency_seconds', { name }, this.#latency.data);
  }
}
