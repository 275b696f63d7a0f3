/** The figures of a run in Prometheus' text format, for a file that node_exporter's textfile collector or a push gateway reads. */
import type { HistogramData } from '../../base/metrics/histogram.ts';
import { textOfFamilies } from '../../base/metrics/prometheus-text.ts';
import type { PrintedFamily } from '../../base/metrics/prometheus-text.ts';
import { sumOf } from '../histogram.ts';
import type {
  HistogramCounts,
  LoadTestResult,
  PhaseResult,
  ProcessSeries,
  ThresholdResult,
} from '../result.ts';
import { highestOf, meanOf } from './figures.ts';
import { exactQuantile, syncDurations, watcherGroups } from './watcher-groups.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number | null];

/** Four buckets in a decade: many systems store each bucket as a series. */
const BOUNDS_A_DECADE = 4;
const ROUNDING = 0.001;

export function prometheusReport(result: LoadTestResult): string {
  const families = [...runFamilies(result), ...watcherFamilies(result), ...costFamilies(result)];
  return textOfFamilies(families);
}

function runFamilies({
  run,
  conclusion,
  phases,
  writes,
  thresholds,
  latencies,
  boundsMs,
  leftovers,
}: LoadTestResult): PrintedFamily[] {
  const { workload, versions, target } = run;
  const facts = { workload: workload.name, seed: String(workload.seed), context: target.context };
  const info = { ...facts, kubeloom: versions.kubeloom, node: versions.node, server: versions.server };
  const perPhase = (value: (phase: PhaseResult) => number | null): Sample[] =>
    phases.map((phase) => [{ phase: phase.name }, value(phase)]);
  const perThreshold = (value: (result: ThresholdResult) => number | null): Sample[] =>
    thresholds.map((result) => [{ threshold: result.threshold.text }, value(result)]);
  const outcomes = Object.entries(writes).map(([outcome, count]): Sample => [{ outcome }, count]);
  const took = perPhase(({ startMs, endMs }) => (endMs - startMs) / 1000);
  const kinds = 'PASS, FAIL, INVALID, THRESHOLD or INTERRUPTED';
  const figureHelp = 'The figure of each threshold: milliseconds for latencies and syncs, else a count.';
  const start = Date.parse(run.startedAt) / 1000;
  return [
    gauge('info', 'The run; always 1.', [[info, 1]]),
    gauge('conclusion', `1 for the conclusion of the run: ${kinds}.`, [[{ kind: conclusion.kind }, 1]]),
    gauge('start_timestamp_seconds', 'Start of the run, Unix time.', [[{}, start]]),
    gauge('duration_seconds', 'Duration of the run.', [[{}, run.durationMs / 1000]]),
    gauge('writes', 'Writes of the run by outcome.', outcomes),
    gauge('phase_duration_seconds', 'Duration of each phase.', took),
    gauge(
      'phase_rate_asked',
      'Writes a second that were due.',
      perPhase(({ rateAsked }) => rateAsked),
    ),
    gauge(
      'phase_rate_achieved',
      'Confirmed writes a second.',
      perPhase(({ rateAchieved }) => rateAchieved),
    ),
    gauge(
      'threshold_met',
      '1 for a threshold that was met, else 0.',
      perThreshold(({ isMet }) => (isMet ? 1 : 0)),
    ),
    gauge(
      'threshold_figure',
      figureHelp,
      perThreshold(({ figure }) => figure),
    ),
    gauge('leftovers', 'Objects that could not be removed.', [[{}, leftovers.length]]),
    latencyFamily(latencies, boundsMs),
  ];
}

function latencyFamily(
  latencies: LoadTestResult['latencies'],
  boundsMs: LoadTestResult['boundsMs'],
): PrintedFamily {
  // Kinds and changes are added up: a histogram is many series.
  const labelled = new Map<string, { readonly labels: Labels; readonly histograms: HistogramCounts[] }>();
  for (const { step, phase, group, histogram } of latencies) {
    const labels = { step, phase, group: group ?? '' };
    const same = labelled.get(JSON.stringify(labels));
    if (same) same.histograms.push(histogram);
    else labelled.set(JSON.stringify(labels), { labels, histograms: [histogram] });
  }
  const samples = Array.from(labelled.values(), ({ labels, histograms }) => ({
    labels,
    value: histogramData(sumOf(histograms), boundsMs),
  }));
  const help = 'Latencies by step; below 0 where the watch was faster than the answer.';
  return { name: 'kubeloom_loadtest_latency_seconds', type: 'histogram', help, samples };
}

function watcherFamilies(result: LoadTestResult): PrintedFamily[] {
  const groups = watcherGroups(result);
  const verdicts = ['delivered', 'covered', 'lost', 'duplicated', 'reordered'] as const;
  const causes = ['start', 'storm', 'server'] as const;
  const of = (figure: 'count' | 'unequal' | 'relists' | 'cutWatches' | 'receivedBytes'): Sample[] =>
    groups.map((group) => [
      { group: group.name },
      figure === 'count' ? group.watchers.length : group[figure],
    ]);
  const syncs = groups.flatMap(({ name, watchers }) =>
    causes.flatMap((cause) => {
      const durations = syncDurations(watchers, cause);
      return [0.5, 0.99, 1].map((share): Sample => {
        const ms = exactQuantile(durations, share);
        return [{ group: name, cause, quantile: String(share) }, ms === null ? null : ms / 1000];
      });
    }),
  );
  const verdict = groups.flatMap((group) =>
    verdicts.map((each): Sample => [{ group: group.name, verdict: each }, group[each]]),
  );
  return [
    gauge('watchers', 'Watchers of each group.', of('count')),
    gauge('changes', 'Changes by verdict.', verdict),
    gauge('unequal_caches', 'Caches that were not the state of the server at the end.', of('unequal')),
    gauge('relists', 'Lists after the first one.', of('relists')),
    gauge('cut_watches', 'Watches that ended before their watcher did.', of('cutWatches')),
    gauge('received_bytes', 'Bytes of all answers.', of('receivedBytes')),
    gauge('sync_seconds', 'Quantiles of the time from a list request to its last object.', syncs),
  ];
}

function costFamilies({ series, serverMetrics }: LoadTestResult): PrintedFamily[] {
  const of = (value: (process: ProcessSeries) => number | null): Sample[] =>
    series.processes.map((process) => [{ process: process.name }, value(process)]);
  const delayOf = ({ loopDelayMs }: ProcessSeries): number | null => {
    const ms = highestOf(loopDelayMs);
    return ms === null ? null : ms / 1000;
  };
  const memory = of(({ rssBytes }) => highestOf(rssBytes));
  const changes = serverMetrics.map(({ metric, labels, before, after }): Sample => [
    { ...labels, metric },
    after - before,
  ]);
  const help = 'Differences of the counters of the server; its labels are behind the metric.';
  return [
    gauge(
      'process_cpu',
      'CPU seconds a second, mean.',
      of(({ cpu }) => meanOf(cpu)),
    ),
    gauge('process_resident_memory_bytes', 'Resident memory, highest.', memory),
    gauge('process_loop_delay_seconds', 'Delay of the event loop, longest.', of(delayOf)),
    gauge('server_difference', help, changes),
  ];
}

/** Absent figures have no sample. */
function gauge(name: string, help: string, samples: readonly Sample[]): PrintedFamily {
  const known = samples.flatMap(([labels, value]) => (value === null ? [] : [{ labels, value }]));
  return { name: `kubeloom_loadtest_${name}`, type: 'gauge', help, samples: known };
}

function histogramData({ sumMs, buckets }: HistogramCounts, boundsMs: readonly number[]): HistogramData {
  const isKept = boundsMs.map((bound, index) => cellOf(bound) !== cellOf(boundsMs[index + 1] ?? Infinity));
  const bounds = boundsMs.filter((_, index) => isKept[index]);
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  for (const [index, count] of buckets) {
    const place = isKept.slice(0, index).filter(Boolean).length;
    counts[place] = (counts[place] ?? 0) + count;
  }
  return { bounds: bounds.map((bound) => Number((bound / 1000).toPrecision(4))), counts, sum: sumMs / 1000 };
}

/** Bounds of one cell are one bucket; the last one of a cell is its round end. They have four digits. */
function cellOf(boundMs: number): number {
  if (boundMs === 0) return 0;
  const places = Math.log10(Math.abs(boundMs)) * BOUNDS_A_DECADE;
  return boundMs > 0 ? 1000 + Math.ceil(places - ROUNDING) : -1000 - Math.floor(places + ROUNDING);
}
