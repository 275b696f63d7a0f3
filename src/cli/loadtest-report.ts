/** What a load test found: as one JSON object, as a text for people, and as a verdict. Pure. */
import { conclusionText, number } from './demo-report.ts';
import type { Conclusion } from './demo-report.ts';
import { factLines } from './fact-lines.ts';
import type { LoadOutcome, LoadTestPlan } from './loadtest-plan.ts';
import { Table } from './table.ts';
import type { Verdict } from './verdict.ts';

export interface InformerResult {
  readonly name: string;
  readonly verdict: Verdict;
  /** In words, the first few; none when its cache equals a LIST after the load. */
  readonly differences: readonly string[];
  /** Lists after the first one: each may have merged changes. */
  readonly relists: number;
  /** Watches that ended, for whatever reason, before the test did. */
  readonly watchesCut: number;
}

/** From when a write was due to the handler's call; ms. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Printed by --json, in this order. Counts are sums over all informers. */
export interface LoadTestReport {
  readonly context: string;
  readonly server: string;
  readonly objects: number;
  readonly rate: number;
  readonly durationSeconds: number;
  readonly informers: number;
  /** Confirmed by the server, after the objects were there. */
  readonly writes: number;
  readonly writesPerSecond: number;
  readonly refused: number;
  readonly unanswered: number;
  readonly delivered: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly reordered: number;
  readonly storeEqualsList: boolean;
  readonly writeToHandlerMs: Latency;
  readonly relists: number;
  readonly watchesCut: number;
}

export function reportOf(
  target: { readonly context: string; readonly server: string },
  plan: LoadTestPlan,
  outcome: LoadOutcome & { readonly elapsedMs: number },
  results: readonly InformerResult[],
  writeToHandlerMs: Latency,
): LoadTestReport {
  const sum = (of: (result: InformerResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  const { objects, rate, durationSeconds, informers } = plan;
  return {
    context: target.context,
    server: target.server,
    objects,
    rate,
    durationSeconds,
    informers,
    writes: outcome.writes.length,
    writesPerSecond: Math.round((outcome.writes.length * 1000) / outcome.elapsedMs),
    refused: outcome.refused,
    unanswered: outcome.unanswered,
    delivered: sum(({ verdict }) => verdict.delivered),
    lost: sum(({ verdict }) => verdict.lost),
    duplicated: sum(({ verdict }) => verdict.duplicated),
    reordered: sum(({ verdict }) => verdict.reordered),
    storeEqualsList: results.every(({ differences }) => differences.length === 0),
    writeToHandlerMs,
    relists: sum(({ relists }) => relists),
    watchesCut: sum(({ watchesCut }) => watchesCut),
  };
}

/**
 * FAIL is a violation. INVALID: nothing can be said, because less was written than was asked for, it is not known
 * what was written, or the server made an informer list again, which merges changes.
 */
export function conclude(
  report: LoadTestReport,
  results: readonly InformerResult[],
  firstFailure: string | undefined,
): Conclusion {
  const wrong = results.flatMap(({ name, differences }) =>
    differences.map((each) => `the cache of ${name} is not the server's: ${each}`),
  );
  if (wrong.length > 0) return { kind: 'FAIL', reasons: wrong };
  const doubts = doubtsOf(report, firstFailure);
  if (doubts.length > 0) return { kind: 'INVALID', reasons: doubts };
  const faults = results.filter(
    ({ verdict }) => verdict.lost + verdict.duplicated + verdict.reordered > 0 || verdict.delivered === 0,
  );
  const reasons = faults.map(
    ({ name, verdict: { lost, duplicated, reordered, delivered, findings } }) =>
      `${name}: ${number(delivered)} delivered, ${number(lost)} lost, ${number(duplicated)} duplicated, ` +
      `${number(reordered)} reordered (${findings.join('; ')})`,
  );
  return reasons.length > 0 ? { kind: 'FAIL', reasons } : { kind: 'PASS', reasons: [] };
}

function doubtsOf(
  { refused, unanswered, relists }: LoadTestReport,
  firstFailure: string | undefined,
): string[] {
  const doubts: string[] = [];
  const because = firstFailure === undefined ? '' : `, the first: ${firstFailure}`;
  if (refused > 0) doubts.push(`${number(refused)} writes were refused${because}`);
  if (unanswered > 0) doubts.push(`${number(unanswered)} writes got no answer${because}`);
  if (relists > 0) {
    doubts.push(`the server made informers list again (${number(relists)} times), which merges changes`);
  }
  return doubts;
}

export function reportText(report: LoadTestReport, results: readonly InformerResult[]): string {
  const { p50, p99, max } = report.writeToHandlerMs;
  const facts: [string, string][] = [
    ['writes confirmed', `${number(report.writes)}, ${number(report.writesPerSecond)} a second`],
    ['write to handler', `p50 ${p50} ms, p99 ${p99} ms, max ${max} ms, from when each write was due`],
  ];
  const table = new Table([
    'INFORMER',
    'INITIAL',
    'CHANGES',
    'LOST',
    'DUPLICATED',
    'REORDERED',
    'EQUALS LIST',
    'RELISTS',
    'WATCHES CUT',
  ]);
  const rows = results.map(({ name, verdict, differences, relists, watchesCut }) => [
    name,
    number(verdict.initial),
    number(verdict.delivered),
    number(verdict.lost),
    number(verdict.duplicated),
    number(verdict.reordered),
    differences.length === 0 ? 'yes' : 'NO',
    number(relists),
    number(watchesCut),
  ]);
  return [...factLines(facts), '', ...table.lines(rows)].join('\n');
}

export function verdictText(conclusion: Conclusion): string {
  if (conclusion.kind !== 'PASS') return conclusionText(conclusion);
  return 'PASS: every write reached every informer once, in order, and the caches equal a LIST.';
}
