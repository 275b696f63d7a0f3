/** The latencies of a run as histograms whose buckets grow with the latency, on both sides of 0. Pure. */
import { sumOf } from '../histogram.ts';
import type { HistogramCounts, LoadTestResult } from '../result.ts';
import type { LatencyStep } from '../workload/workload.ts';
import { STEPS, STEP_NAMES } from './figures.ts';
import type { Line, Plot } from './plot.ts';
import { timeText } from './value-text.ts';

/** Buckets of a plot in a decade: the buckets of a result are finer, and show noise if there are few observations. */
const CELLS_A_DECADE = 8;
/** Latencies nearer to 0 are in the two buckets beside 0. Below 0, results are less fine. */
const SMALLEST_MS = 0.01;
const SMALLEST_NEGATIVE_MS = 0.1;
const TICKS_MAX = 5;

export function histogramPlots(result: LoadTestResult, prefix: string): Plot[] {
  return STEPS.flatMap((step) => {
    const named = groupsOf(result, step).filter(({ histogram }) => histogram.count > 0);
    if (named.length === 0) return [];
    const shares = named.map(({ histogram }) => sharesOf(histogram, result.boundsMs));
    const cells = shares.flatMap((each) => [...each.keys()]);
    const first = cells.reduce((lowest, each) => Math.min(lowest, each)) - 1;
    const length = cells.reduce((highest, each) => Math.max(highest, each)) - first + 2;
    const values = Array.from({ length }, (_, offset) => first + offset);
    const lines = named.map(({ name }, index): Line => {
      const color = step === 'answeredToHandler' ? 2 + index : STEPS.indexOf(step);
      const column = values.map((cell) => shares[index]?.get(cell) ?? 0);
      return { label: name, color: color % 8, style: 'steps', values: column, isSparse: false };
    });
    return [
      {
        id: `${prefix}histogram-${step}`,
        title: STEP_NAMES[step],
        x: {
          type: 'bins',
          values,
          labels: values.map((cell) => timeText(lowerEndMs(cell))),
          ticks: ticksOf(values),
        },
        y: { unit: 'share', scale: 'linear', max: null },
        lines,
      },
    ];
  });
}

export interface NamedHistogram {
  /** The group of watchers, or the generator. */
  readonly name: string;
  readonly histogram: HistogramCounts;
}

/** Returns the latencies of all phases by the group that measured them. */
export function groupsOf({ latencies }: LoadTestResult, step: LatencyStep): NamedHistogram[] {
  const wanted = latencies.filter((each) => each.step === step);
  const groups = [...new Set(wanted.map(({ group }) => group))];
  return groups.map((group) => ({
    name: group ?? 'generator',
    histogram: sumOf(wanted.filter((each) => each.group === group).map(({ histogram }) => histogram)),
  }));
}

function sharesOf({ buckets, count }: HistogramCounts, boundsMs: readonly number[]): Map<number, number> {
  const shares = new Map<number, number>();
  for (const [index, observations] of buckets) {
    const cell = cellOf((boundsMs[index] ?? Infinity) + (boundsMs[index - 1] ?? -Infinity), boundsMs);
    shares.set(cell, (shares.get(cell) ?? 0) + observations / count);
  }
  return shares;
}

/**
 * Returns the place of a bucket: 0 is from 0 on, -1 is below.
 *
 * @param doubleMs twice the middle of the bucket; infinite for the first and the last bucket
 */
function cellOf(doubleMs: number, boundsMs: readonly number[]): number {
  const limitMs = (doubleMs < 0 ? boundsMs[0] : boundsMs.at(-1)) ?? 1;
  const sizeMs = Number.isFinite(doubleMs) ? Math.abs(doubleMs) / 2 : Math.abs(limitMs);
  const smallestMs = doubleMs < 0 ? SMALLEST_NEGATIVE_MS : SMALLEST_MS;
  const cells = Math.max(0, Math.ceil(Math.log10(sizeMs / smallestMs) * CELLS_A_DECADE));
  return doubleMs < 0 ? -1 - cells : cells;
}

/** Returns the buckets whose lower ends are 0 and powers of 10; only every second tick if there are many. */
function ticksOf(cells: readonly number[]): number[] {
  // The buckets beside 0 are left out: there is no room.
  const decades = cells.filter((cell) => cell === 0 || (decadeOf(cell) % 1 === 0 && Math.abs(cell) > 1));
  return decades.length <= TICKS_MAX
    ? decades
    : decades.filter((cell) => cell === 0 || decadeOf(cell) % 2 === 0);
}

function decadeOf(cell: number): number {
  return (cell < 0 ? cell + 1 : cell - 1) / CELLS_A_DECADE;
}

function lowerEndMs(cell: number): number {
  if (cell === 0) return 0;
  if (cell < 0) return -SMALLEST_NEGATIVE_MS * 10 ** ((-1 - cell) / CELLS_A_DECADE);
  return SMALLEST_MS * 10 ** ((cell - 1) / CELLS_A_DECADE);
}
