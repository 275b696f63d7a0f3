/** The metrics of a member of a group of partitions. */
import type { Clock } from '../base/clock.ts';
import type { AddSample, MetricSource } from '../metrics/collect.ts';
import { Histogram } from '../metrics/histogram.ts';
import { LabelledCounter } from '../metrics/labelled-counter.ts';
import type { MetricLabels } from '../metrics/metrics-table.ts';
import { isHeld } from './member-state.ts';
import type { Partition, Phase } from './member-state.ts';

/** Upper bounds in seconds: a hand-over lasts as long as the first list, or as the work that must end. */
const BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120];

/** @internal */
export class PartitionMetrics implements MetricSource {
  readonly metricsKind = 'partitions';
  readonly metricsName: string;
  readonly #clock: Clock;
  readonly #partitions: () => readonly Partition[];
  readonly #changes = new LabelledCounter('kubeloom_partition_changes_total');
  readonly #syncSeconds: Histogram;
  readonly #drainSeconds: Histogram;
  /** Times at which partitions were claimed or began to drain. */
  readonly #sinceMs = new Map<number, number>();

  /** @param partitions returns the states of the partitions */
  constructor(name: string, clock: Clock, partitions: () => readonly Partition[]) {
    this.metricsName = name;
    this.#clock = clock;
    this.#partitions = partitions;
    const labels = (): MetricLabels => ({ name });
    this.#syncSeconds = new Histogram('kubeloom_partition_sync_seconds', labels, BOUNDS);
    this.#drainSeconds = new Histogram('kubeloom_partition_drain_seconds', labels, BOUNDS);
  }

  changed(partition: number, before: Phase, after: Phase): void {
    const nowMs = this.#clock.now();
    const seconds = (nowMs - (this.#sinceMs.get(partition) ?? nowMs)) / 1000;
    if (after.kind === 'active') this.#syncSeconds.observe(seconds);
    if (before.kind === 'draining') this.#drainSeconds.observe(seconds);
    if (after.kind === 'claiming' || after.kind === 'draining') this.#sinceMs.set(partition, nowMs);
    if (after.kind === 'syncing') this.#changes.increment({ change: 'taken' });
    if (after.kind === 'releasing' && before.kind !== 'other')
      this.#changes.increment({ change: 'released' });
    if (after.kind === 'aborted' && before.kind !== 'releasing') this.#changes.increment({ change: 'lost' });
  }

  addMetrics(add: AddSample, name: string): void {
    const partitions = this.#partitions();
    const nowMs = this.#clock.now();
    const ages = partitions.flatMap(({ unservedSinceMs }) =>
      unservedSinceMs === undefined ? [] : [(nowMs - unservedSinceMs) / 1000],
    );
    add('kubeloom_partitions_owned', { name }, partitions.filter(isHeld).length);
    add('kubeloom_partitions_unserved', { name }, ages.length);
    add('kubeloom_partition_unserved_seconds', { name }, Math.max(0, ...ages));
    this.#changes.addTo(add, { name });
    add('kubeloom_partition_sync_seconds', { name }, this.#syncSeconds.data);
    add('kubeloom_partition_drain_seconds', { name }, this.#drainSeconds.data);
  }
}
