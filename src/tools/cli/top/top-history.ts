/**
 * The last minute of collected metrics, for `kubeloom top`. Rates and quantiles are differences of two snapshots, so
 * that figures of this process and of another process are read in the same way. Immutable: `add` returns another
 * history.
 */
import { MetricsReading, quantile, since } from './reading.ts';
import type { StatsSnapshot, HistogramData, MetricLabels, MetricName } from '../../../metrics/index.ts';

interface Moment {
  readonly snapshot: StatsSnapshot;
  readonly reading: MetricsReading;
}

/** Period of rates and quantiles. */
const RECENT_MS = 5_000;
/** Seconds of the sparklines: a value for each snapshot, a snapshot each second. */
export const MINUTE_VALUES = 60;
const EVENTS: MetricName = 'kubeloom_informer_records_total';

export class TopHistory {
  /** Snapshots of the recent period, oldest first, preceded by the last earlier snapshot. */
  readonly #moments: readonly Moment[];
  /** Events in a second between each two snapshots of the last minute, by informer; '' for the sum of all. */
  readonly #events: ReadonlyMap<string, readonly number[]>;

  constructor(moments: readonly Moment[] = [], events: ReadonlyMap<string, readonly number[]> = new Map()) {
    this.#moments = moments;
    this.#events = events;
  }

  add(snapshot: StatsSnapshot): TopHistory {
    const moment = { snapshot, reading: new MetricsReading(snapshot.families) };
    const last = this.#moments.at(-1);
    const first = this.#moments.findLastIndex((each) => each.snapshot.atMs <= snapshot.atMs - RECENT_MS);
    const events = new Map<string, readonly number[]>();
    if (last) {
      let all = 0;
      for (const labels of moment.reading.labels(EVENTS)) {
        const { name = '' } = labels;
        const rate = increase(last, moment, EVENTS, labels) ?? 0;
        all += rate;
        events.set(name, [...(this.#events.get(name) ?? []), rate].slice(-MINUTE_VALUES));
      }
      events.set('', [...(this.#events.get('') ?? []), all].slice(-MINUTE_VALUES));
    }
    return new TopHistory([...this.#moments.slice(Math.max(0, first)), moment], events);
  }

  get now(): StatsSnapshot | undefined {
    return this.#moments.at(-1)?.snapshot;
  }

  /** Returns the events in each second of the last minute, of an informer or of all. */
  events(name: string = ''): readonly number[] {
    return this.#events.get(name) ?? [];
  }

  labels(name: MetricName, match: MetricLabels = {}): readonly MetricLabels[] {
    return this.#moments.at(-1)?.reading.labels(name, match) ?? [];
  }

  value(name: MetricName, match: MetricLabels = {}): number | undefined {
    return this.#moments.at(-1)?.reading.sum(name, match);
  }

  /** Returns the increase in a second, over the recent period; undefined while there is only a single snapshot. */
  rate(name: MetricName, match: MetricLabels = {}): number | undefined {
    const [earlier, later] = [this.#moments[0], this.#moments.at(-1)];
    return earlier && later && increase(earlier, later, name, match);
  }

  /** Returns a quantile of the observations of the recent period; undefined if there are none. */
  quantile(name: MetricName, match: MetricLabels, fraction: number): number | undefined {
    const [earlier, later] = [this.#moments[0], this.#moments.at(-1)];
    const all = later?.reading.histogram(name, match);
    if (!all || earlier === later) return undefined;
    const recent = since(all, earlier?.reading.histogram(name, match));
    return quantile(isPossible(recent) ? recent : all, fraction);
  }
}

/**
 * Checks that the histogram did not begin again in between: the source may have ended, and a new source of the same
 * name begun.
 */
function isPossible({ counts }: HistogramData): boolean {
  return counts.every((count) => count >= 0);
}

function increase(
  { snapshot: { atMs: fromMs }, reading: before }: Moment,
  { snapshot: { atMs: toMs }, reading: after }: Moment,
  name: MetricName,
  match: MetricLabels,
): number | undefined {
  const value = after.sum(name, match);
  if (value === undefined || toMs <= fromMs) return undefined;
  const difference = value - (before.sum(name, match) ?? 0);
  // A counter that went back belongs to a new source of the same name, and began at zero.
  return (difference < 0 ? value : difference) / ((toMs - fromMs) / 1000);
}
