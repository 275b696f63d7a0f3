/** The result of a load test as text for a terminal. Pure. */
import { quantileMs, sumOf } from '../loadtest/histogram.ts';
import type { LatencyStep } from '../loadtest/workload/workload.ts';
import type { LoadTestResult, WatcherResult } from '../loadtest/result.ts';
import { indexesText } from '../loadtest/report/indexes-text.ts';
import { durationText } from '../loadtest/workload/units.ts';
import { factLines, number } from './report.ts';
import { Table } from './table.ts';

const PASSED = 'every write reached every watcher once, in order, and the caches equal a LIST.';

export function resultText(result: LoadTestResult): string {
  const { run, thresholds } = result;
  const limits = thresholds.map(({ threshold, figure, isMet }): [string, string] => [
    isMet ? 'threshold kept' : 'threshold missed',
    `${threshold.text} (${figure === null ? 'nothing measured' : number(figure)})`,
  ]);
  const facts: [string, string][] = [
    ['versions', `kubeloom ${run.versions.kubeloom}, server ${run.versions.server}`],
    ['workload', `${run.workload.name}, seed ${run.workload.seed}`],
    ...(run.indexes ? [['indexes', indexesText(run.indexes)] as [string, string]] : []),
    ['writes confirmed', `${number(confirmed(result))}, ${number(result.writes.deleted)} of them deletions`],
    ['due to sent', latencyText(result, 'dueToSent')],
    ['sent to answered', latencyText(result, 'sentToAnswered')],
    ['answered to handler', `${latencyText(result, 'answeredToHandler')}; below 0: the watch was faster`],
    ...limits,
  ];
  return [...factLines(facts), '', ...phaseLines(result), '', ...watcherLines(result.watchers)].join('\n');
}

export function conclusionText({ conclusion: { kind, reasons } }: LoadTestResult): string {
  if (kind === 'PASS') return `PASS: ${PASSED}`;
  return [`${kind}:`, ...reasons.map((reason) => `  ${reason}`)].join('\n');
}

export function confirmed({ writes }: LoadTestResult): number {
  return writes.created + writes.updated + writes.statusUpdated + writes.deleted;
}

function phaseLines({ phases }: LoadTestResult): string[] {
  const table = new Table(['PHASE', 'TOOK', 'WRITES', 'RATE ASKED', 'ACHIEVED', 'FAILED']);
  const rate = (perSecond: number | null): string =>
    perSecond === null ? '-' : String(Math.round(perSecond * 10) / 10);
  return table.lines(
    phases.map(({ name, startMs, endMs, writes, rateAsked, rateAchieved }) => [
      name,
      durationText(endMs - startMs),
      number(writes.created + writes.updated + writes.statusUpdated + writes.deleted),
      rate(rateAsked),
      rate(rateAchieved),
      number(writes.refused + writes.unanswered),
    ]),
  );
}

function watcherLines(watchers: readonly WatcherResult[]): string[] {
  const headers = ['WATCHER', 'FIRST STATE', 'SYNC', 'CHANGES', 'COVERED', 'LOST', 'DUPLICATED', 'REORDERED'];
  const table = new Table([...headers, 'EQUALS LIST', 'RELISTS', 'WATCHES CUT']);
  return table.lines(
    watchers.map(({ name, syncs: [first], verdict, cacheEqualsList, relists, cutWatches }) => [
      name,
      first?.mode ?? '-',
      first === undefined || first.durationMs === null ? '-' : durationText(first.durationMs),
      ...[verdict.delivered, verdict.covered, verdict.lost, verdict.duplicated, verdict.reordered].map(
        number,
      ),
      cacheEqualsList === null ? '-' : cacheEqualsList ? 'yes' : 'NO',
      number(relists),
      number(cutWatches),
    ]),
  );
}

/** Latencies of the phases that had a rate. */
function latencyText({ phases, latencies }: LoadTestResult, step: LatencyStep): string {
  const paced = new Set(phases.filter(({ rateAsked }) => rateAsked !== null).map(({ name }) => name));
  const wanted = latencies.filter((each) => each.step === step && paced.has(each.phase));
  const sum = sumOf(wanted.map(({ histogram }) => histogram));
  const text = (share: number): string => {
    const ms = quantileMs(sum, share);
    return ms === null ? '-' : `${Math.round(ms * 100) / 100} ms`;
  };
  return `p50 ${text(0.5)}, p99 ${text(0.99)}, max ${text(1)}`;
}
