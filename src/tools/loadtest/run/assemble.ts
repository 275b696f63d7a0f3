/** Assembles the result of a run from the answers of the processes. Pure. */
import { BOUNDS_MS, LatencyCounts } from '../histogram.ts';
import type { ProcessCost } from '../process/cost.ts';
import type {
  ChangeName,
  LatencyHistogram,
  Leftover,
  LoadTestResult,
  RunFacts,
  ServerStages,
  WatcherResult,
} from '../result.ts';
import type { Judged } from '../watch/watcher-process.ts';
import type { PlacedTask } from '../watch/placement.ts';
import type { LatencyStep } from '../workload/workload.ts';
import { conclude } from './conclude.ts';
import { sumOfCounts } from './phases.ts';
import type { Phases } from './phases.ts';
import { seriesOf } from './series.ts';
import type { Timed } from './series.ts';
import { changesBetween, totalOf } from './server-metrics.ts';
import type { Samples } from './server-metrics.ts';
import { thresholdResults } from './thresholds.ts';

/** All measurements, taken before the run is removed. */
export interface Measurement {
  readonly run: RunFacts;
  readonly phases: Pick<Phases, 'results' | 'writes' | 'marks' | 'firstFailure'>;
  readonly startedUs: number;
  readonly tasks: readonly PlacedTask[];
  /** By the name of the watcher. */
  readonly judged: ReadonlyMap<string, Judged>;
  readonly costs: ReadonlyMap<string, readonly Timed<ProcessCost>[]>;
  readonly serverSeries: ReadonlyMap<string, readonly Timed<number>[]>;
  /** undefined when the server's metrics could not be read. */
  readonly server: { readonly before: Samples; readonly after: Samples } | undefined;
  readonly serverStages: ServerStages;
  readonly isInterrupted: boolean;
}

export interface Parts extends Measurement {
  /** Parts of the measurement that are missing, as text. */
  readonly missing: readonly string[];
  readonly leftovers: readonly Leftover[];
}

export function assemble(parts: Parts): LoadTestResult {
  const { run, phases, startedUs, tasks, judged, costs, server, isInterrupted, missing, leftovers } = parts;
  const deliveries = [...judged.values()].flatMap(({ judgement }) => judgement.seconds);
  const measured = {
    writes: sumOfCounts(phases.results),
    latencies: [...generatorLatencies(parts), ...watcherLatencies(parts)],
    watchers: tasks.flatMap((placed) => watcherResult(placed, judged.get(placed.task.name))),
  };
  const difference = (metric: string): number | null =>
    server ? totalOf(server.after, metric) - totalOf(server.before, metric) : null;
  const marks = [...phases.marks, ...[...judged.values()].flatMap(({ judgement }) => judgement.marks)];
  const result = {
    format: 1,
    run,
    phases: phases.results,
    ...measured,
    series: seriesOf({
      durationMs: run.durationMs,
      startedUs,
      writes: phases.writes,
      deliveries,
      costs,
      server: parts.serverSeries,
    }),
    boundsMs: BOUNDS_MS,
    marks: marks.toSorted((one, other) => one.atMs - other.atMs),
    serverMetrics: changesBetween(server?.before, server?.after),
    serverStages: parts.serverStages,
    thresholds: thresholdResults(run.workload.thresholds, measured, difference),
  } as const;
  const conclusion = conclude(result, { isInterrupted, missing, firstFailure: phases.firstFailure });
  return { ...result, conclusion, leftovers };
}

function generatorLatencies({ run, phases }: Parts): LatencyHistogram[] {
  const counts = new Histograms(run);
  for (const { phase, group, change, dueUs, sentUs, answeredUs } of phases.writes) {
    const kind = run.workload.objects[group]?.kind ?? '';
    counts.of('dueToSent', phase, kind, change).observe((sentUs - dueUs) / 1000);
    counts.of('sentToAnswered', phase, kind, change).observe((answeredUs - sentUs) / 1000);
  }
  return counts.result(null);
}

function watcherLatencies({ run, tasks, judged }: Parts): LatencyHistogram[] {
  return run.workload.watchers.flatMap(({ name, of }) => {
    const counts = new Histograms(run);
    for (const { task } of tasks) {
      if (task.group.name !== name) continue;
      for (const { phase, change, histogram } of judged.get(task.name)?.judgement.latencies ?? []) {
        counts.of('answeredToHandler', phase, of, change).add(histogram);
      }
    }
    return counts.result(name);
  });
}

/** A histogram for each step, phase, kind and change. */
class Histograms {
  readonly #run: RunFacts;
  readonly #all = new Map<
    string,
    { identity: Omit<LatencyHistogram, 'group' | 'histogram'>; counts: LatencyCounts }
  >();

  constructor(run: RunFacts) {
    this.#run = run;
  }

  /** @param phase the index of the phase */
  of(step: LatencyStep, phase: number, kind: string, change: ChangeName): LatencyCounts {
    const place = `${step} ${phase} ${kind} ${change}`;
    const name = this.#run.workload.phases[phase]?.name ?? '';
    const known = this.#all.get(place) ?? {
      identity: { step, phase: name, kind, change },
      counts: new LatencyCounts(),
    };
    this.#all.set(place, known);
    return known.counts;
  }

  result(group: string | null): LatencyHistogram[] {
    return Array.from(this.#all.values(), ({ identity, counts }) => ({
      ...identity,
      group,
      histogram: counts.data,
    }));
  }
}

function watcherResult({ task, process }: PlacedTask, judged: Judged | undefined): WatcherResult[] {
  if (!judged) return [];
  const { judgement, activity } = judged;
  const { syncs, events, verdict, cacheEqualsList } = judgement;
  const { relists, cutWatches, receivedBytes } = activity;
  const { name, group, namespace } = task;
  return [
    {
      name,
      group: group.name,
      client: group.client,
      of: group.of,
      process,
      namespace,
      selector: group.selector,
      syncs,
      events,
      receivedBytes,
      relists,
      cutWatches,
      verdict,
      cacheEqualsList,
    },
  ];
}
