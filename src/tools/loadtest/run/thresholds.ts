/** Figures of a run for the thresholds of the workload. Pure. */
import { quantileMs, sumOf } from '../histogram.ts';
import type { HistogramCounts, LoadTestResult, ThresholdResult } from '../result.ts';
import { meets } from '../workload/threshold.ts';
import type { CountName, LatencyStatistic, Threshold } from '../workload/workload.ts';

/** The part of a result that thresholds are about. */
export type Measured = Pick<LoadTestResult, 'watchers' | 'writes' | 'latencies'>;

/** Returns the difference of a server's counter; null when the server's metrics could not be read. */
export type ServerDifference = (metric: string) => number | null;

const TERMINATED = 'apiserver_terminated_watchers_total';
const SHARES: Readonly<Record<Exclude<LatencyStatistic, 'mean'>, number>> = {
  p50: 0.5,
  p90: 0.9,
  p95: 0.95,
  p99: 0.99,
  p999: 0.999,
  max: 1,
};

export function thresholdResults(
  thresholds: readonly Threshold[],
  measured: Measured,
  server: ServerDifference,
): ThresholdResult[] {
  return thresholds.map((threshold) => {
    const figure = figureOf(threshold, measured, server);
    return { threshold, figure, isMet: figure !== null && meets(figure, threshold) };
  });
}

function figureOf(
  { subject, phase }: Threshold,
  measured: Measured,
  server: ServerDifference,
): number | null {
  switch (subject.type) {
    case 'latency': {
      const wanted = measured.latencies.filter(
        (each) => each.step === subject.step && (phase === undefined || each.phase === phase),
      );
      return statisticOf(sumOf(wanted.map(({ histogram }) => histogram)), subject.statistic);
    }
    case 'sync':
      return syncFigure(measured, subject.statistic);
    case 'count':
      return countOf(subject.count, measured, server);
    case 'server':
      return server(subject.metric);
    default:
      return subject satisfies never;
  }
}

function statisticOf(histogram: HistogramCounts, statistic: LatencyStatistic): number | null {
  if (statistic === 'mean') return histogram.count === 0 ? null : histogram.sumMs / histogram.count;
  return quantileMs(histogram, SHARES[statistic]);
}

/** Syncs are few: their quantiles are exact. An unfinished sync misses every threshold. */
function syncFigure({ watchers }: Measured, statistic: LatencyStatistic): number | null {
  const syncs = watchers.flatMap((watcher) => watcher.syncs.filter(({ cause }) => cause !== 'server'));
  const durations = syncs.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]));
  if (durations.length === 0 || durations.length < syncs.length) return null;
  if (statistic === 'mean') return durations.reduce((sum, each) => sum + each, 0) / durations.length;
  const sorted = durations.toSorted((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * SHARES[statistic]) - 1] ?? null;
}

function countOf(count: CountName, { watchers, writes }: Measured, server: ServerDifference): number | null {
  const sum = (of: (watcher: Measured['watchers'][number]) => number): number =>
    watchers.reduce((total, watcher) => total + of(watcher), 0);
  switch (count) {
    case 'lost':
    case 'duplicated':
    case 'reordered':
      return sum(({ verdict }) => verdict[count]);
    case 'relists':
    case 'cutWatches':
      return sum((watcher) => watcher[count]);
    case 'refused':
    case 'unanswered':
      return writes[count];
    case 'terminatedWatches':
      return server(TERMINATED);
    default:
      return count satisfies never;
  }
}
