/** The result of a load test: as one JSON object, as a text, and as a verdict. Pure. */
import type { Latencies, Latency } from './loadtest-latency.ts';
import type { LoadOutcome, LoadTestPlan } from './loadtest-plan.ts';
import { factLines, faultsText, hasFaults, number, sumOfFaults, verdictLines } from './report.ts';
import type { Conclusion, Judged } from './report.ts';

/** The request for an informer's first state: a list in pages, or the beginning of its watch. */
export type ListMode = 'LIST' | 'WatchList';

export interface InformerResult extends Judged {
  /** The first few differences as text; none when its cache equals a LIST after the load. */
  readonly differences: readonly string[];
  readonly listMode: ListMode;
  /** Lists after the first one: each may have combined changes. */
  readonly relists: number;
  /** Watches that ended before the test did, for any reason. */
  readonly watchesCut: number;
}

/** The output of --json, in this order. Counts are sums over all informers. */
export interface LoadTestReport {
  readonly context: string;
  readonly server: string;
  readonly clientVersion: string;
  readonly serverVersion: string;
  /** `LIST`, `WatchList`, or both where informers differ. */
  readonly listMode: string;
  readonly seed: number;
  /** Indexer threads; 0: everything in one thread. */
  readonly threads: number;
  readonly informers: number;
  readonly objects: number;
  readonly objectBytes: number;
  readonly durationSeconds: number;
  /** Writes a second. */
  readonly rateAsked: number;
  /** Confirmed writes a second, from when the first was due to when the last was sent. */
  readonly rateAchieved: number;
  /** Writes that the server confirmed, after the objects had been created. */
  readonly writes: number;
  readonly deletions: number;
  readonly refused: number;
  readonly unanswered: number;
  readonly delivered: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly reordered: number;
  readonly storeEqualsList: boolean;
  readonly latencyMs: Latencies;
  readonly relists: number;
  readonly watchesCut: number;
}

export const PASSED = 'every write reached every informer once, in order, and the caches equal a LIST.';

/** The smallest share of the rate that the test must achieve. */
const RATE_SHARE_MIN = 0.95;
/** The largest allowed p99 of due to sent. */
const LATE_MS_MAX = 100;

export function reportOf(
  target: { readonly context: string; readonly server: string },
  versions: { readonly client: string; readonly server: string },
  plan: LoadTestPlan,
  outcome: LoadOutcome,
  results: readonly InformerResult[],
  latencyMs: Latencies,
): LoadTestReport {
  const sum = (of: (result: InformerResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  return {
    context: target.context,
    server: target.server,
    clientVersion: versions.client,
    serverVersion: versions.server,
    listMode: [...new Set(results.map(({ listMode }) => listMode))].join(', '),
    seed: plan.seed,
    threads: plan.threads,
    informers: plan.informers,
    objects: plan.objects,
    objectBytes: plan.objectBytes,
    durationSeconds: plan.durationSeconds,
    rateAsked: plan.rate,
    rateAchieved: outcome.rateAchieved,
    writes: outcome.writes.length,
    deletions: outcome.writes.filter(([, type]) => type === 'DELETED').length,
    refused: outcome.refused,
    unanswered: outcome.unanswered,
    delivered: sum(({ verdict }) => verdict.delivered),
    ...sumOfFaults(results),
    storeEqualsList: results.every(({ differences }) => differences.length === 0),
    latencyMs,
    relists: sum(({ relists }) => relists),
    watchesCut: sum(({ watchesCut }) => watchesCut),
  };
}

/**
 * Judges the report. FAIL is a violation. INVALID proves nothing: it is unknown what was written, an informer had to
 * list again, which combines changes, or the load was less than requested.
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
  const reasons = results
    .filter(({ verdict }) => hasFaults(verdict) || verdict.delivered === 0)
    .map(({ name, verdict }) => `${name}: ${number(verdict.delivered)} delivered, ${faultsText(verdict)}`);
  if (reasons.length > 0) return { kind: 'FAIL', reasons };
  const shortfalls = shortfallsOf(report);
  return shortfalls.length > 0 ? { kind: 'INVALID', reasons: shortfalls } : { kind: 'PASS', reasons: [] };
}

/** Returns how the load was less than requested: then a PASS would prove nothing. */
function shortfallsOf({ rateAsked, rateAchieved, latencyMs }: LoadTestReport): string[] {
  const shortfalls: string[] = [];
  if (rateAchieved < rateAsked * RATE_SHARE_MIN) {
    shortfalls.push(
      `the rate was ${rateAchieved} writes a second, ${rateAsked} were requested and ` +
        `${rateAsked * RATE_SHARE_MIN} are needed: use a lower --rate, or find the slow part`,
    );
  }
  const { p99 } = latencyMs.dueToSent;
  if (p99 > LATE_MS_MAX) {
    shortfalls.push(
      `the generator was late: p99 of due to sent was ${p99} ms, at most ${LATE_MS_MAX} ms are allowed ` +
        '(a busy machine, or a server so slow that no connection was free)',
    );
  }
  return shortfalls;
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
    doubts.push(`the server made informers list again (${number(relists)} times), which combines changes`);
  }
  return doubts;
}

export function reportText(report: LoadTestReport, results: readonly InformerResult[]): string {
  const { dueToSent, sentToAnswered, answeredToHandler } = report.latencyMs;
  const facts: [string, string][] = [
    ['versions', `kubeloom ${report.clientVersion}, server ${report.serverVersion}`],
    ['informers', `${report.informers} over ${report.threads} threads, first state by ${report.listMode}`],
    [
      'objects',
      `${number(report.objects)} with ${number(report.objectBytes)} bytes each, seed ${report.seed}`,
    ],
    ['rate', `${report.rateAsked} writes a second requested, ${report.rateAchieved} achieved`],
    ['writes confirmed', `${number(report.writes)}, ${number(report.deletions)} of them deletions`],
    ['due to sent', latencyText(dueToSent)],
    ['sent to answered', latencyText(sentToAnswered)],
    ['answered to handler', `${latencyText(answeredToHandler)}; below 0: the watch was faster`],
  ];
  const headers = ['EQUALS LIST', 'RELISTS', 'WATCHES CUT'];
  const lines = verdictLines('INFORMER', headers, results, ({ differences, relists, watchesCut }) => [
    differences.length === 0 ? 'yes' : 'NO',
    number(relists),
    number(watchesCut),
  ]);
  return [...factLines(facts), '', ...lines].join('\n');
}

function latencyText({ p50, p99, max }: Latency): string {
  return `p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`;
}
