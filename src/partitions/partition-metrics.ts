/** The metrics of one member of a group of partitions. */
import type { Clock } from '../base/clock.ts';
import type { AddSample, MetricSource } from '../base/metrics/collect.ts';
import { Histogram } from '../base/metrics/histogram.ts';
import { LabelledCounter } from '../base/metrics/labelled-counter.ts';
import type { MetricLabels } from '../base/metrics/table.ts';
import { isHeld } from './partition-state.ts';
import type { PartitionState } from './partition-state.ts';

/** Upper bounds in seconds: a hand-over lasts as long as its first list, or as the work that ends. */
const BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120];

/** @internal */
export class PartitionMetrics implements MetricSource {
  readonly metricsKind = 'partitions';
  readonly metricsName: string;
  readonly #clock: Clock;
  readonly #owned: () => number;
  readonly #changes = new LabelledCounter('kubeloom_partition_changes_total');
  readonly #syncSeconds: Histogram;
  readonly #drainSeconds: Histogram;
  /** Times at which partitions were claimed, or began to drain. */
  readonly #sinceMs = new Map<number, number>();

  /** @param owned returns the number of partitions that the member owns */
  constructor(name: string, clock: Clock, owned: () => number) {
    this.metricsName = name;
    this.#clock = clock;
    this.#owned = owned;
    const labels = (): MetricLabels => ({ name });
    this.#syncSeconds = new Histogram('kubeloom_partition_sync_seconds', labels, BOUNDS);
    this.#drainSeconds = new Histogram('kubeloom_partition_drain_seconds', labels, BOUNDS);
  }

  changed(partition: number, before: PartitionState, after: PartitionState): void {
    const nowMs = this.#clock.now();
    const seconds = (nowMs - (this.#sinceMs.get(partition) ?? nowMs)) / 1000;
    if (after.kind === 'active') this.#syncSeconds.observe(seconds);
    if (before.kind === 'draining') this.#drainSeconds.observe(seconds);
    if (after.kind === 'claiming' || after.kind === 'draining') this.#sinceMs.set(partition, nowMs);
    if (!isHeld(before) && isHeld(after)) this.#changes.increment({ change: 'taken' });
    if (isHeld(before) && !isHeld(after))
      this.#changes.increment({ change: after.kind === 'releasing' ? 'released' : 'lost' });
  }

  addMetrics(add: AddSample, name: string): void {
    add('kubeloom_partitions_owned', { name }, this.#owned());
    this.#changes.addTo(add, { name });
    add('kubeloom_partition_sync_seconds', { name }, this.#syncSeconds.data);
    add('kubeloom_partition_drain_seconds', { name }, this.#drainSeconds.data);
  }
}
