/**
 * Latency of one informer's watch events, in histograms: the time from the read of a sampled event to each later stage.
 * With the merge a sampled event joins the notifications of its change, and each handler reports its own delivery.
 */
import type { Clock } from '../../base/clock.ts';
import { Histogram, LATENCY_SECONDS } from '../../metrics/histogram.ts';
import type { HistogramData } from '../../metrics/histogram.ts';
import type { MetricLabels } from '../../metrics/metrics-table.ts';
import type { Stamp } from '../../shared/stamps.ts';

/**
 * `committed`: visible to the shards. `merged`: in the cache. `delivered`: the handler is called. `done`: it has
 * returned, and its promise has settled.
 */
export type LatencyStage = 'committed' | 'merged' | 'delivered' | 'done';

export class EventLatency {
  /** By stage, from its first observation on: idle informers have no series. */
  readonly #histograms: Map<LatencyStage, Histogram> = new Map();
  #labels: MetricLabels | undefined;
  /** The sampled event whose record is being merged; undefined while the record of another one is. */
  merging: SampledEvent | undefined;

  /** Starts to observe. @param labels those of the informer */
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

  /** Called before the event's record is merged. @param clock the one of the stamp */
  begin(stamp: Stamp, clock: Pick<Clock, 'now'>): void {
    this.observe('committed', stamp.committedMs - stamp.readMs);
    this.merging = new SampledEvent(this, stamp.readMs, clock);
  }

  /** Called when the event's record is merged. */
  end(): void {
    this.merging?.reach('merged');
    this.merging = undefined;
  }

  /** Observations of each stage that was reached. */
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
