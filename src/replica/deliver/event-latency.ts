/**
 * Latency of an informer's watch events, in histograms: the time from the read of a sampled event to each later stage.
 * At the merge a sampled event joins the notifications of the change, and each handler reports the delivery.
 */
import type { Clock } from '../../base/clock.ts';
import { Histogram, LATENCY_SECONDS } from '../../metrics/histogram.ts';
import type { HistogramData } from '../../metrics/histogram.ts';
import type { MetricLabels } from '../../metrics/metrics-table.ts';
import type { Stamp } from '../../shared/stamps.ts';

/**
 * `committed`: visible to the shards. `merged`: in the cache. `delivered`: the handler is called. `done`: the handler
 * returned, and its promise settled.
 */
export type LatencyStage = 'committed' | 'merged' | 'delivered' | 'done';

export class EventLatency {
  /** By stage. A histogram begins with the first observation: idle informers have no series. */
  readonly #histograms: Map<LatencyStage, Histogram> = new Map();
  #labels: MetricLabels | undefined;
  /** The sampled event whose record is being merged; undefined during the merge of any other record. */
  merging: SampledEvent | undefined;

  /** Starts to observe. @param labels labels of the informer */
  start(labels: MetricLabels): void {
    this.#labels = labels;
  }

  observe(stage: LatencyStage, durationMs: number): void {
    if (!this.#labels) return;
    let histogram = this.#histograms.get(stage);
    if (!histogram) {
      histogram = new Histogram('kubeloom_latency_seconds', { ...this.#labels, stage }, LATENCY_SECONDS);
      this.#histograms.set(stage, histogram);
    }
    histogram.observe(durationMs / 1000);
  }

  /** Called before the event's record is merged. @param clock the clock of the stamp */
  begin(stamp: Stamp, clock: Pick<Clock, 'now'>): void {
    this.observe('committed', stamp.committedMs - stamp.readMs);
    this.merging = new SampledEvent(this, stamp.readMs, clock);
  }

  /** Called when the event's record is merged. */
  end(): void {
    this.merging?.reach('merged');
    this.merging = undefined;
  }

  /** Observations of each stage with at least one observation. */
  get data(): readonly (readonly [LatencyStage, HistogramData])[] {
    return Array.from(this.#histograms, ([stage, { data }]) => [stage, data] as const);
  }
}

export class SampledEvent {
  readonly #latency: EventLatency;
  readonly #readMs: number;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(latency: EventLatency, readMs: number, clock: Pick<Clock, 'now'>) {
    this.#latency = latency;
    this.#readMs = readMs;
    this.#clock = clock;
  }

  /** Observes the time since the read. */
  reach(stage: LatencyStage): void {
    this.#latency.observe(stage, this.#clock.now() - this.#readMs);
  }
}
