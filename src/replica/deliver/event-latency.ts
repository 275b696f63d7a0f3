/**
 * Latency of one informer's watch events, in histograms: the time from the read of a sampled event to each later stage.
 * With the merge a sampled event joins the notifications of its change, and each handler reports its own delivery.
 */
import type { Clock } from '../../base/clock.ts';
import { Histogram, LATENCY_SECONDS } from '../../base/metrics/histogram.ts';
import type { HistogramData } from '../../base/metrics/histogram.ts';
import type { MetricLabels } from '../../base/metrics/table.ts';
import type { Stamp } from '../../shared/stamps.ts';

/**
 * `committed`: visible to the shards. `merged`: in the cache. `delivered`: the handler is called. `done`: it has
 * returned, and its promise has settled.
 */
export type LatencyStage = 'committed' | 'merged' | 'delivered' | 'done';

const STAGES: readonly LatencyStage[] = ['committed', 'merged', 'delivered', 'done'];

export class EventLatency {
  #histograms: ReadonlyMap<LatencyStage, Histogram> = new Map();
  /** The sampled event whose record is being merged; undefined while the record of another one is. */
  merging: SampledEvent | undefined;

  /** Starts to observe. @param labels those of the informer */
  start(labels: MetricLabels): void {
    const histogramOf = (stage: LatencyStage): Histogram =>
      new Histogram('kubeloom_latency_seconds', { ...labels, stage }, LATENCY_SECONDS);
    this.#histograms = new Map(STAGES.map((stage) => [stage, histogramOf(stage)]));
  }

  observe(stage: LatencyStage, durationMs: number): void {
    this.#histograms.get(stage)?.observe(durationMs / 1000);
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

  /** Observations of each stage so far; none before `start`. */
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
