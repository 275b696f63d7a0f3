/** The plots over the time of a run, and the events on the time axis. Pure. */
import type { LoadTestResult, Mark, ProcessSeries } from '../result.ts';
import type { LatencyStep } from '../workload/workload.ts';
import { STEPS, STEP_NAMES, highestOf } from './figures.ts';
import type { Line, Plot, Timeline } from './plot.ts';
import type { Unit } from './value-text.ts';

/** A reader could not distinguish more lines. */
export const PROCESSES_SHOWN = 8;

export interface TimePlots {
  readonly rates: Plot;
  /** Deliveries, and writes without an answer. */
  readonly flow: readonly Plot[];
  readonly latencies: readonly Plot[];
  readonly cost: readonly Plot[];
  readonly server: readonly Plot[];
}

/** @param prefix of the ids, so that a page can contain the plots of two runs */
export function timePlots(result: LoadTestResult, prefix: string, timeline: number): TimePlots {
  const { series, run } = result;
  const x: Plot['x'] = {
    type: 'time',
    values: series.atMs.map((ms) => ms / 1000),
    endSeconds: run.durationMs / 1000,
    timeline,
  };
  const plot = (id: string, title: string, unit: Unit, lines: readonly Line[]): Plot => ({
    id: `${prefix}${id}`,
    title,
    x,
    y: { unit, scale: 'linear', max: null },
    lines,
  });
  const processes = processesShown(series.processes);
  const byProcess = (of: (process: ProcessSeries) => Line['values']): Line[] =>
    processes.map((process, index) => line(process.name, index, 'solid', of(process)));
  return {
    rates: plot('rates', 'Writes a second', 'perSecond', [
      line('answered', 0, 'area', series.answered),
      line('sent', 1, 'solid', series.sent),
      line('asked', 7, 'dashed', series.rateAsked),
    ]),
    flow: [
      plot('delivered', 'Changes delivered a second, to all watchers', 'perSecond', [
        line('delivered', 2, 'area', series.delivered),
      ]),
      plot('pending', 'Writes that were due and had no answer', 'count', [
        line('pending', 3, 'area', series.pending),
      ]),
    ],
    latencies: STEPS.map((step) =>
      latencyPlot(plot(step, STEP_NAMES[step], 'ms', latencyLines(result, step))),
    ),
    cost: [
      plot(
        'cpu',
        'CPU',
        'cpu',
        byProcess(({ cpu }) => cpu),
      ),
      plot(
        'memory',
        'Resident memory',
        'bytes',
        byProcess(({ rssBytes }) => rssBytes),
      ),
      plot(
        'loop',
        'Longest delay of the event loop',
        'ms',
        byProcess(({ loopDelayMs }) => loopDelayMs),
      ),
    ],
    server: series.server.map(({ metric, values }, index) =>
      plot(`server-${index}`, metric, metric.endsWith('_bytes') ? 'bytes' : 'count', [
        { ...line(metric, index % PROCESSES_SHOWN, 'solid', values), isSparse: true },
      ]),
    ),
  };
}

/** Returns the phases and the marks; marks of a type in the same second are merged. */
export function timelineOf({ phases, marks, series }: LoadTestResult): Timeline {
  const merged = new Map<string, { readonly first: Mark; count: number }>();
  for (const mark of marks) {
    const key = `${mark.type} ${Math.floor(mark.atMs / series.intervalMs)}`;
    const same = merged.get(key);
    if (same) same.count++;
    else merged.set(key, { first: mark, count: 1 });
  }
  return {
    phases: phases.map(({ name, startMs, endMs }) => ({ name, from: startMs / 1000, to: endMs / 1000 })),
    marks: Array.from(merged.values(), ({ first, count }) => ({
      atSeconds: first.atMs / 1000,
      type: first.type,
      count,
      text: [first.watcher, first.text].filter(Boolean).join(': '),
    })),
  };
}

/** Returns the processes to show: the generator, and the processes with the most memory. */
export function processesShown(processes: readonly ProcessSeries[]): readonly ProcessSeries[] {
  if (processes.length <= PROCESSES_SHOWN) return processes;
  const [first, ...others] = processes as readonly [ProcessSeries, ...ProcessSeries[]];
  const largest = others
    .toSorted((one, other) => memoryOf(other) - memoryOf(one))
    .slice(0, PROCESSES_SHOWN - 1);
  return [first, ...largest];
}

function memoryOf({ rssBytes }: ProcessSeries): number {
  return highestOf(rssBytes) ?? 0;
}

function latencyLines({ series }: LoadTestResult, step: LatencyStep): Line[] {
  const { p50, p99, max } = series.latencyMs[step];
  const color = STEPS.indexOf(step);
  return [
    line('p50', color, 'solid', p50),
    line('p99', color, 'dashed', p99),
    line('max', color, 'faint', max),
  ];
}

/** A logarithmic axis cannot show values of 0 or below. */
function latencyPlot(plot: Plot): Plot {
  const isPositive = plot.lines.every(({ values }) => values.every((value) => value === null || value > 0));
  return { ...plot, y: { ...plot.y, scale: isPositive ? 'log' : 'asinh' } };
}

function line(label: string, color: number, style: Line['style'], values: Line['values']): Line {
  return { label, color, style, values, isSparse: false };
}
