/**
 * The stages of a write within the server, by the server's own histograms: a stage of a phase is the difference between the
 * readings before and after the phase. Pure.
 */
import type { ServerStage } from '../result.ts';

/** A histogram of `/metrics`, and the label that names its stages. */
interface StageMetric {
  readonly metric: string;
  /** The beginning of its name in reports. */
  readonly title: string;
  /** undefined: the histogram is one stage. */
  readonly label: string | undefined;
  /** Values of the label that are no stages: a WATCH lasts as long as its connection. */
  readonly except: readonly string[];
}

/** In the order in which a write meets them. Versions of the server differ in which they offer. */
const STAGE_METRICS: readonly StageMetric[] = [
  {
    metric: 'apiserver_flowcontrol_request_wait_duration_seconds',
    title: 'wait for a seat',
    label: undefined,
    except: [],
  },
  {
    metric: 'apiserver_request_duration_seconds',
    title: 'request',
    label: 'verb',
    except: ['WATCH', 'CONNECT'],
  },
  { metric: 'etcd_request_duration_seconds', title: 'etcd', label: 'operation', except: [] },
  {
    metric: 'apiserver_watch_events_dispatch_duration_seconds',
    title: 'dispatch to watchers',
    label: 'stage',
    except: [],
  },
  {
    metric: 'apiserver_watch_cache_read_wait_seconds',
    title: 'wait for a fresh cache',
    label: undefined,
    except: [],
  },
  {
    metric: 'apiserver_watch_list_duration_seconds',
    title: 'list within a watch',
    label: undefined,
    except: [],
  },
];

/** The names of the histograms. */
export const STAGE_NAMES: readonly string[] = STAGE_METRICS.map(({ metric }) => metric);

/** A line of `/metrics`. */
export interface StageSample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The observations of a stage since the server's start. */
interface StageCounts {
  readonly metric: string;
  readonly stage: string;
  /** Observations up to a bound in seconds. */
  readonly upTo: Map<number, number>;
  count: number;
  sumSeconds: number;
}

/** The stages of one reading, by metric and stage. */
export type StageReading = ReadonlyMap<string, StageCounts>;

/**
 * Returns the stages of these lines; series that name another resource are left out.
 *
 * @param resources `configmaps`: plural names of what the run writes
 */
export function stagesOf(samples: Iterable<StageSample>, resources: ReadonlySet<string>): StageReading {
  const stages = new Map<string, StageCounts>();
  for (const { metric: line, labels, value } of samples) {
    const [, name = '', part = ''] = /^(.*)_(bucket|sum|count)$/.exec(line) ?? [];
    const metric = STAGE_METRICS.find((each) => each.metric === name);
    const { resource } = labels;
    if (!metric || (resource !== undefined && !resources.has(resource))) continue;
    const stage = metric.label === undefined ? '' : (labels[metric.label] ?? '');
    if (metric.except.includes(stage)) continue;
    const key = `${name} ${stage}`;
    const counts = stages.get(key) ?? { metric: name, stage, upTo: new Map(), count: 0, sumSeconds: 0 };
    stages.set(key, counts);
    if (part === 'count') counts.count += value;
    else if (part === 'sum') counts.sumSeconds += value;
    else {
      const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
      counts.upTo.set(bound, (counts.upTo.get(bound) ?? 0) + value);
    }
  }
  return stages;
}

/** Returns the stages with observations between two readings. A server that restarted in between counts from its start. */
export function stagesBetween(before: StageReading, after: StageReading, phase: string): ServerStage[] {
  const found = Array.from(after, ([key, counts]): ServerStage => {
    const earlier = before.get(key);
    const first = earlier && earlier.count <= counts.count ? earlier : undefined;
    const bounds = [...counts.upTo.keys()].toSorted((one, other) => one - other);
    const within = (bound: number | undefined): number =>
      bound === undefined ? 0 : (counts.upTo.get(bound) ?? 0) - (first?.upTo.get(bound) ?? 0);
    return {
      phase,
      metric: counts.metric,
      stage: counts.stage,
      count: counts.count - (first?.count ?? 0),
      sumMs: (counts.sumSeconds - (first?.sumSeconds ?? 0)) * 1000,
      buckets: bounds.flatMap((bound, index) => {
        const observations = within(bound) - within(bounds[index - 1]);
        const toMs = Number.isFinite(bound) ? bound * 1000 : null;
        return observations > 0 ? [[(bounds[index - 1] ?? 0) * 1000, toMs, observations] as const] : [];
      }),
    };
  });
  const place = ({ metric }: ServerStage): number => STAGE_NAMES.indexOf(metric);
  return found
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => place(one) - place(other) || (one.stage < other.stage ? -1 : 1));
}

/** Returns the name of a stage for people: `request PUT`. */
export function stageTitle({ metric, stage }: Pick<ServerStage, 'metric' | 'stage'>): string {
  const title = STAGE_METRICS.find((each) => each.metric === metric)?.title ?? metric;
  return `${title} ${stage}`.trimEnd();
}

/** Returns the names of the histograms that none of the readings contains. */
export function absentIn(readings: readonly StageReading[]): string[] {
  const present = new Set(readings.flatMap((each) => [...each.values()].map(({ metric }) => metric)));
  return STAGE_NAMES.filter((metric) => !present.has(metric));
}

/** Returns the duration that this share of the observations does not exceed, interpolated within its bucket. */
export function stageQuantileMs({ buckets }: ServerStage, share: number): number | null {
  let left = share * buckets.reduce((sum, [, , count]) => sum + count, 0);
  for (const [fromMs, toMs, count] of buckets) {
    // The last bucket has no end: its observations are at least this long.
    if (left <= count) return toMs === null ? fromMs : fromMs + (toMs - fromMs) * (left / count);
    left -= count;
  }
  return buckets.at(-1)?.[1] ?? null;
}
