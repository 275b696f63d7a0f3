/** The comparison of two runs: differing facts, figures with their differences, thresholds, verdicts. Pure. */
import type { LoadTestResult, ThresholdResult } from '../result.ts';
import { figuresOf } from './figures.ts';
import type { Figure } from './figures.ts';
import { runFacts } from './run-section.ts';

export interface Comparison {
  readonly names: readonly [before: string, after: string];
  readonly results: readonly [before: LoadTestResult, after: LoadTestResult];
  /** Differences that make the figures of two runs hard to compare, as sentences. */
  readonly warnings: readonly string[];
  /** The name of the workload, or both names. */
  readonly title: string;
  /** Facts of the runs that differ. */
  readonly facts: readonly ComparedFact[];
  readonly figures: readonly ComparedFigure[];
  readonly thresholds: readonly ComparedThreshold[];
}

export interface ComparedFact {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export interface ComparedFigure extends Pick<Figure, 'section' | 'name' | 'unit'> {
  readonly before: number | null;
  readonly after: number | null;
  /** null if a run lacks the figure. */
  readonly difference: number | null;
  /** The difference in percent of the value before; null if that value is 0 or absent. */
  readonly percent: number | null;
  readonly change: 'better' | 'worse' | 'none';
}

export interface ComparedThreshold {
  readonly text: string;
  /** undefined if the run lacks the threshold. */
  readonly before: ThresholdResult | undefined;
  readonly after: ThresholdResult | undefined;
}

/** A difference below this share is not a change: two equal runs on a machine differ by more. */
const SMALLEST_SHARE = 0.02;

/** @param names of the files */
export function compareResults(
  names: Comparison['names'],
  [before, after]: Comparison['results'],
): Comparison {
  const texts = new Set([...before.thresholds, ...after.thresholds].map(({ threshold }) => threshold.text));
  const find = ({ thresholds }: LoadTestResult, text: string): ThresholdResult | undefined =>
    thresholds.find(({ threshold }) => threshold.text === text);
  return {
    names,
    results: [before, after],
    warnings: warningsOf(before, after),
    title: [...new Set([before, after].map(({ run }) => run.workload.name))].join(' and '),
    facts: factsOf(before, after),
    figures: comparedFigures(before, after, isSameWork(before.run, after.run)),
    thresholds: [...texts].map((text) => ({ text, before: find(before, text), after: find(after, text) })),
  };
}

/** Figures of different work are neither better nor worse. */
function comparedFigures(
  before: LoadTestResult,
  after: LoadTestResult,
  isComparable: boolean,
): ComparedFigure[] {
  const keyOf = ({ section, name }: Figure): string => `${section}\n${name}`;
  const olds = new Map(figuresOf(before).map((figure) => [keyOf(figure), figure]));
  const news = new Map(figuresOf(after).map((figure) => [keyOf(figure), figure]));
  const all = new Map([...olds, ...news]);
  return Array.from(all, ([key, { section, name, unit, better }]) => {
    const from = olds.get(key)?.value ?? null;
    const to = news.get(key)?.value ?? null;
    const difference = from === null || to === null ? null : to - from;
    const percent =
      difference === null || from === null || from === 0 ? null : (difference / Math.abs(from)) * 100;
    return {
      section,
      name,
      unit,
      before: from,
      after: to,
      difference,
      percent,
      change: isComparable ? changeOf(difference, from, better) : 'none',
    };
  });
}

function changeOf(
  difference: number | null,
  before: number | null,
  better: Figure['better'],
): ComparedFigure['change'] {
  if (difference === null || better === 'neither') return 'none';
  if (Math.abs(difference) <= Math.abs(before ?? 0) * SMALLEST_SHARE) return 'none';
  return difference < 0 === (better === 'lower') ? 'better' : 'worse';
}

function factsOf(before: LoadTestResult, after: LoadTestResult): ComparedFact[] {
  const olds = [['Workload', before.run.workload.name] as const, ...runFacts(before.run)];
  const news = new Map([['Workload', after.run.workload.name] as const, ...runFacts(after.run)]);
  return olds.flatMap(([name, value]) => {
    const other = news.get(name) ?? '';
    return value === other ? [] : [{ name, before: value, after: other }];
  });
}

function warningsOf({ run: before }: LoadTestResult, { run: after }: LoadTestResult): string[] {
  const differ = (of: (run: LoadTestResult['run']) => unknown): boolean =>
    JSON.stringify(of(before)) !== JSON.stringify(of(after));
  const machine = differ((run) => run.machine)
    ? ['the machines differ: the figures say little about the programs']
    : [];
  const isSame = isSameWork(before, after);
  const workload = isSame ? [] : ['the workloads differ: the runs did different work'];
  const seed =
    isSame && differ((run) => run.workload.seed) ? ['the seeds differ: the same work in another order'] : [];
  const versions = (['kubeloom', 'node', 'server'] as const)
    .filter((part) => before.versions[part] !== after.versions[part])
    .map((part) => `the versions of ${part} differ: ${before.versions[part]} and ${after.versions[part]}`);
  return [...machine, ...workload, ...seed, ...versions];
}

/** The name belongs to the file, and thresholds do not change the writes. */
function isSameWork(before: LoadTestResult['run'], after: LoadTestResult['run']): boolean {
  const work = ({ workload: { objects, watchers, phases } }: LoadTestResult['run']): string =>
    JSON.stringify([objects, watchers, phases]);
  return work(before) === work(after);
}
