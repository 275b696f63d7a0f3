/** The metrics of one member of a group of slots. */
import type { Clock } from '../../base/clock.ts';
import type { AddSample, MetricSource } from '../../base/metrics/collect.ts';
import { Histogram } from '../../base/metrics/histogram.ts';
import { LabelledCounter } from '../../base/metrics/labelled-counter.ts';
import type { MetricLabels } from '../../base/metrics/table.ts';
import { isHeld } from './slot-state.ts';
import type { SlotState } from './slot-state.ts';

/** Upper bounds in seconds: a hand-over lasts as long as its first list, or as the work that ends. */
const BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120];

/** @internal */
export class SlotMetrics implements MetricSource {
  readonly metricsKind = 'slots';
  readonly metricsName: string;
  readonly #clock: Clock;
  readonly #owned: () => number;
  readonly #changes = new LabelledCounter('kubeloom_slot_changes_total');
  readonly #syncSeconds: Histogram;
  readonly #drainSeconds: Histogram;
  /** Times at which slots were claimed, or began to drain. */
  readonly #sinceMs = new Map<number, number>();

  /** @param owned returns the number of slots that the member owns */
  constructor(name: string, clock: Clock, owned: () => number) {
    this.metricsName = name;
    this.#clock = clock;
    this.#owned = owned;
    const labels = (): MetricLabels => ({ name });
    this.#syncSeconds = new Histogram('kubeloom_slot_sync_seconds', labels, BOUNDS);
    this.#drainSeconds = new Histogram('kubeloom_slot_drain_seconds', labels, BOUNDS);
  }

  changed(slot: number, before: SlotState, after: SlotState): void {
    const nowMs = this.#clock.now();
    const seconds = (nowMs - (this.#sinceMs.get(slot) ?? nowMs)) / 1000;
    if (after.kind === 'active') this.#syncSeconds.observe(seconds);
    if (before.kind === 'draining') this.#drainSeconds.observe(seconds);
    if (after.kind === 'claiming' || after.kind === 'draining') this.#sinceMs.set(slot, nowMs);
    if (!isHeld(before) && isHeld(after)) this.#changes.increment({ change: 'taken' });
    if (isHeld(before) && !isHeld(after))
      this.#changes.increment({ change: after.kind === 'releasing' ? 'released' : 'lost' });
  }

  addMetrics(add: AddSample, name: string): void {
    add('kubeloom_slots_owned', { name }, this.#owned());
    this.#changes.addTo(add, { name });
    add('kubeloom_slot_sync_seconds', { name }, this.#syncSeconds.data);
    add('kubeloom_slot_drain_seconds', { name }, this.#drainSeconds.data);
  }
}
