/** The figures of a run that a reader compares with those of another run. Pure. */
import { quantileMs, sumOf } from '../histogram.ts';
import type { HistogramCounts, LoadTestResult, WatcherResult } from '../result.ts';
import type { LatencyStep } from '../workload/workload.ts';
import type { Unit } from './value-text.ts';
import { exactQuantile, syncDurations, watcherGroups } from './watcher-groups.ts';
import type { SummedFigure } from './watcher-groups.ts';

export interface Figure {
  readonly section: string;
  /** Unique in the section. */
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

/**
 * Returns the latencies of a step in the phases with a rate: in other phases a write is late because it waits for other
 * writes.
 */
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
  const { writes } = result;
  const groups = watcherGroups(result);
  const sum = (of: SummedFigure): number => groups.reduce((total, group) => total + group[of], 0);
  const figures: readonly (readonly [name: string, value: number, better: Figure['better']])[] = [
    ['writes confirmed', confirmedWrites(writes), 'neither'],
    ['writes refused', writes.refused, 'lower'],
    ['writes unanswered', writes.unanswered, 'lower'],
    ['changes delivered', sum('delivered'), 'neither'],
    ['changes covered', sum('covered'), 'neither'],
    ['lost', sum('lost'), 'lower'],
    ['duplicated', sum('duplicated'), 'lower'],
    ['reordered', sum('reordered'), 'lower'],
    ['caches unlike the server', sum('unequal'), 'lower'],
    ['relists', sum('relists'), 'neither'],
    ['watches cut', sum('cutWatches'), 'neither'],
  ];
  return figures.map(([name, value, better]) => ({
    section: 'delivery',
    name,
    unit: 'count',
    value,
    better,
  }));
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
  const sum = (values: readonly (number | null)[]): number | null =>
    values.reduce((total, each) => (each === null ? total : (total ?? 0) + each), null);
  const watching = series.processes.filter(({ name }) => name !== 'generator');
  const cpu = sum(watching.map((process) => meanOf(process.cpu)));
  const memory = sum(watching.map(({ rssBytes }) => highestOf(rssBytes)));
  const section = 'cost';
  return [
    { section, name: 'CPU of the watchers, mean', unit: 'cpu', value: cpu, better: 'lower' },
    { section, name: 'memory of the watchers, highest', unit: 'bytes', value: memory, better: 'lower' },
    { section, name: 'bytes received', unit: 'bytes', value: sum(received), better: 'neither' },
  ];
}

export function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0) / known.length;
}

export function highestOf(values: readonly (number | null)[]): number | null {
  return values.reduce((highest, each) => (highest === null || (each ?? 0) > highest ? each : highest), null);
}
