/** The result of a load test as text for a terminal. Pure. */
import { escapeControls } from '../../../base/printable.ts';
import { quantileMs } from '../../loadtest/histogram.ts';
import { confirmedWrites, pacedLatencies } from '../../loadtest/report/figures.ts';
import { DASH, countText, timeText, valueText } from '../../loadtest/report/value-text.ts';
import { figureText } from '../../loadtest/report/verdict-section.ts';
import { worstWatchers } from '../../loadtest/report/watcher-section.ts';
import { stageNotes, writeTimes } from '../../loadtest/report/write-times.ts';
import type { LatencyStep } from '../../loadtest/workload/workload.ts';
import type { LoadTestResult, WatcherResult } from '../../loadtest/result.ts';
import { wrapped } from '../terminal/cells.ts';
import { factLines } from '../terminal/report.ts';
import { indexesText } from '../../loadtest/report/indexes-text.ts';
import { Table } from '../terminal/table.ts';

const FIGURES = ['delivered', 'covered', 'lost', 'duplicated', 'reordered'] as const;
export const PASSED =
  'every write reached every watcher once, in order, or was covered by a relist, and the caches equal a LIST.';

/** @param columns of the terminal */
export function resultText(result: LoadTestResult, columns: number = Infinity): string {
  const { run, thresholds, writes } = result;
  const facts: [string, string][] = [
    ['versions', `kubeloom ${run.versions.kubeloom}, server ${run.versions.server}`],
    ['workload', `${run.workload.name}, seed ${run.workload.seed}`],
    ...(run.indexes ? [['indexes', indexesText(run.indexes)] as [string, string]] : []),
    [
      'writes confirmed',
      `${countText(confirmedWrites(writes))}, ${countText(writes.deleted)} of them deletions`,
    ],
    ['due to sent', latencyText(result, 'dueToSent')],
    ['sent to answered', latencyText(result, 'sentToAnswered')],
    ['answered to handler', `${latencyText(result, 'answeredToHandler')}; below 0: the watch was faster`],
    ...thresholds.map((each): [string, string] => [
      each.isMet ? 'threshold kept' : 'threshold missed',
      `${each.threshold.text} (${figureText(each)})`,
    ]),
  ];
  const sections = [
    factLines(facts, columns),
    phaseLines(result, columns),
    stageLines(result, columns),
    watcherLines(result.watchers, columns),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function phaseLines({ phases }: LoadTestResult, columns: number): string[] {
  const table = new Table(['PHASE', 'TOOK', 'WRITES', 'RATE ASKED', 'ACHIEVED', 'FAILED']);
  return table.lines(
    phases.map(({ name, startMs, endMs, writes, rateAsked, rateAchieved }) => [
      name,
      timeText(endMs - startMs),
      countText(confirmedWrites(writes)),
      valueText(rateAsked, 'perSecond'),
      valueText(rateAchieved, 'perSecond'),
      countText(writes.refused + writes.unanswered),
    ]),
    columns,
  );
}

/** Returns where the time of a write went in the phases that had a rate. */
function stageLines(result: LoadTestResult, columns: number): string[] {
  const paced = new Set(result.phases.filter(({ rateAsked }) => rateAsked !== null).map(({ name }) => name));
  const table = new Table(['PHASE', 'TIME', 'OBSERVATIONS', 'P50', 'P99']);
  const rows = writeTimes(result).filter(({ phase }) => paced.has(phase));
  const lines = table.lines(
    rows.map(({ phase, name, isServers, count, p50Ms, p99Ms }) => [
      phase,
      isServers ? `server: ${name}` : name,
      countText(count),
      valueText(p50Ms, 'ms'),
      valueText(p99Ms, 'ms'),
    ]),
    columns,
  );
  const notes = stageNotes(result).flatMap((note) => wrapped(escapeControls(note), columns));
  return [...lines, ...notes];
}

/** Returns a line for each watcher; if there are many, for the worst. */
function watcherLines(watchers: readonly WatcherResult[], columns: number): string[] {
  const headers = ['WATCHER', 'FIRST STATE', 'SYNC', 'CHANGES', 'COVERED', 'LOST', 'DUPLICATED', 'REORDERED'];
  const table = new Table([...headers, 'EQUALS LIST', 'RELISTS', 'WATCHES CUT']);
  const worst = new Set(worstWatchers(watchers));
  const lines = table.lines(
    watchers
      .filter((watcher) => worst.has(watcher))
      .map(({ name, syncs: [first], verdict, cacheEqualsList, relists, cutWatches }) => [
        name,
        first?.mode ?? DASH,
        valueText(first?.durationMs ?? null, 'ms'),
        ...FIGURES.map((figure) => countText(verdict[figure])),
        cacheEqualsList === null ? DASH : cacheEqualsList ? 'yes' : 'NO',
        countText(relists),
        countText(cutWatches),
      ]),
    columns,
  );
  const others = watchers.length - worst.size;
  if (others === 0) return lines;
  return [...lines, `and ${countText(others)} more, with no more faults, relists or cuts: --json has all`];
}

/** Latencies of the phases with a rate. */
function latencyText(result: LoadTestResult, step: LatencyStep): string {
  const latencies = pacedLatencies(result, step);
  const text = (share: number): string => valueText(quantileMs(latencies, share), 'ms');
  return `p50 ${text(0.5)}, p99 ${text(0.99)}, max ${text(1)}`;
}
