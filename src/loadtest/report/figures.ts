/** The figures of a run that a reader compares with those of another run. Pure. */
import { quantileMs, sumOf } from '../histogram.ts';
import type { HistogramCounts, LoadTestResult, WatcherResult } from '../result.ts';
import type { LatencyStep } from '../workload/workload.ts';
import type { Unit } from './value-text.ts';
import { exactQuantile, syncDurations, watcherGroups } from './watcher-groups.ts';

export interface Figure {
  readonly section: string;
  /** Unique in its section. */
  readonly name: string;
  readonly unit: Unit;
  readonly value: number | null;
  readonly better: 'lower' | 'higher' | 'neither';
}

export const STEP_NAMES: Readonly<Record<LatencyStep, string>> = {
  dueToSent: 'due to sent',
  sentToAnswered: 'sent to answered',
  answeredToHandler: 'answered to handler',
};
export const STEPS = Object.keys(STEP_NAMES) as readonly LatencyStep[];

/** Returns the latencies of a step in the phases that had a rate: elsewhere a write is late because others are on their way. */
export function pacedLatencies({ phases, latencies }: LoadTestResult, step: LatencyStep): HistogramCounts {
  const paced = new Set(phases.filter(({ rateAsked }) => rateAsked !== null).map(({ name }) => name));
  const wanted = latencies.filter((each) => each.step === step && paced.has(each.phase));
  return sumOf(wanted.map(({ histogram }) => histogram));
}

/** Returns the writes that the server confirmed. */
export function confirmedWrites({
  created,
  updated,
  statusUpdated,
  deleted,
}: LoadTestResult['writes']): number {
  return created + updated + statusUpdated + deleted;
}

export function figuresOf(result: LoadTestResult): Figure[] {
  return [
    ...deliveryOf(result),
    ...ratesOf(result),
    ...latenciesOf(result),
    ...syncsOf(result),
    ...costOf(result),
  ];
}

function deliveryOf(result: LoadTestResult): Figure[] {
  const groups = watcherGroups(result);
  const count = (name: string, value: number, better: Figure['better']): Figure => ({
    section: 'delivery',
    name,
    unit: 'count',
    value,
    better,
  });
  const sum = (of: (group: (typeof groups)[number]) => number): number =>
    groups.reduce((total, group) => total + of(group), 0);
  return [
    count('writes confirmed', confirmedWrites(result.writes), 'neither'),
    count('writes refused', result.writes.refused, 'lower'),
    count('writes unanswered', result.writes.unanswered, 'lower'),
    count(
      'changes delivered',
      sum(({ delivered }) => delivered),
      'neither',
    ),
    count(
      'changes covered',
      sum(({ covered }) => covered),
      'neither',
    ),
    count(
      'lost',
      sum(({ lost }) => lost),
      'lower',
    ),
    count(
      'duplicated',
      sum(({ duplicated }) => duplicated),
      'lower',
    ),
    count(
      'reordered',
      sum(({ reordered }) => reordered),
      'lower',
    ),
    count(
      'caches unlike the server',
      sum(({ unequal }) => unequal),
      'lower',
    ),
    count(
      'relists',
      sum(({ relists }) => relists),
      'neither',
    ),
    count(
      'watches cut',
      sum(({ cutWatches }) => cutWatches),
      'neither',
    ),
  ];
}

function ratesOf({ phases }: LoadTestResult): Figure[] {
  return phases
    .filter(({ rateAsked }) => rateAsked !== null)
    .map(({ name, rateAchieved }) => ({
      section: 'rate achieved',
      name,
      unit: 'perSecond',
      value: rateAchieved,
      better: 'higher',
    }));
}

function latenciesOf(result: LoadTestResult): Figure[] {
  const shares = { p50: 0.5, p99: 0.99, max: 1 };
  return STEPS.flatMap((step) => {
    const histogram = pacedLatencies(result, step);
    return Object.entries(shares).map(([name, share]): Figure => ({
      section: STEP_NAMES[step],
      name,
      unit: 'ms',
      value: quantileMs(histogram, share),
      better: 'lower',
    }));
  });
}

function syncsOf({ watchers }: LoadTestResult): Figure[] {
  const of = (name: string, cause: WatcherResult['syncs'][number]['cause']): Figure[] => {
    const durations = syncDurations(watchers, cause);
    const figure = (statistic: string, share: number): Figure => ({
      section: name,
      name: statistic,
      unit: 'ms',
      value: exactQuantile(durations, share),
      better: 'lower',
    });
    return durations.length === 0 ? [] : [figure('p50', 0.5), figure('max', 1)];
  };
  return [...of('first sync', 'start'), ...of('sync in a storm', 'storm')];
}

function costOf({ series, watchers }: LoadTestResult): Figure[] {
  const received = watchers.flatMap(({ receivedBytes }) => receivedBytes ?? []);
  const figure = (name: string, unit: Unit, values: readonly (number | null)[]): Figure => ({
    section: 'cost',
    name,
    unit,
    value: values.reduce<number | null>((sum, each) => (each === null ? sum : (sum ?? 0) + each), null),
    better: 'lower',
  });
  const isWatching = ({ name }: { readonly name: string }): boolean => name !== 'generator';
  const watching = series.processes.filter(isWatching);
  return [
    figure(
      'CPU of the watchers, mean',
      'cpu',
      watching.map(({ cpu }) => meanOf(cpu)),
    ),
    figure(
      'memory of the watchers, highest',
      'bytes',
      watching.map(({ rssBytes }) => highestOf(rssBytes)),
    ),
    { ...figure('bytes received', 'bytes', received), better: 'neither' },
  ];
}

export function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0) / known.length;
}

export function highestOf(values: readonly (number | null)[]): number | null {
  return values.reduce((highest, each) => (highest === null || (each ?? 0) > highest ? each : highest), null);
}
