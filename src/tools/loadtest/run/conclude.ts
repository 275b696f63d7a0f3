/** The conclusion of a load test. Pure. */
import { quantileMs, sumOf } from '../histogram.ts';
import type { Conclusion, LoadTestResult, PhaseResult, WatcherResult } from '../result.ts';
import { durationText } from '../workload/units.ts';

export const EXIT_CODES: Readonly<Record<Conclusion['kind'], number>> = {
  PASS: 0,
  FAIL: 1,
  INVALID: 2,
  THRESHOLD: 3,
  // The exit code that a shell reports for a process that ended by SIGINT.
  INTERRUPTED: 130,
};

/** The smallest share of the rate that the test must achieve. */
const RATE_SHARE_MIN = 0.95;
/** The largest allowed p99 of due to sent: above, the generator was saturated. */
const LATE_MS_MAX = 100;
/** The largest allowed p99 of sent to answered, the SLO of Kubernetes for writes: above, the server was saturated. */
const ANSWER_MS_MAX = 1000;
/** The largest delay of a watcher's event loop in nine of ten seconds: above, the client was saturated. */
const LOOP_DELAY_MS_MAX = 250;
const REASONS_MAX = 10;

export type Concluded = Omit<LoadTestResult, 'conclusion' | 'leftovers'>;

export interface Circumstances {
  readonly isInterrupted: boolean;
  /** Parts of the measurement that are missing, as text. */
  readonly missing: readonly string[];
  /** The first failed write, as text. */
  readonly firstFailure: string | undefined;
}

/**
 * Judges a run. A cache that differs from the server is a FAIL in any case. An INVALID run is not a proof: the writes
 * are unknown, or a part was saturated, so that the load was less than requested.
 */
export function conclude(
  result: Concluded,
  { isInterrupted, missing, firstFailure }: Circumstances,
): Conclusion {
  const wrong = result.watchers
    .filter(({ cacheEqualsList }) => cacheEqualsList === false)
    .map(({ name, verdict }) => `the cache of ${name} is not the server's: ${verdict.findings.join('; ')}`);
  const missed = result.thresholds.flatMap(({ threshold, figure, isMet }) =>
    isMet ? [] : [`${threshold.text}: ${figureText(figure, threshold.subject.type)}`],
  );
  const found: readonly (readonly [Conclusion['kind'], readonly string[]])[] = [
    ['INTERRUPTED', isInterrupted ? ['the user ended the run before its last phase had ended'] : []],
    ['FAIL', wrong],
    ['INVALID', [...missing, ...doubtsOf(result, firstFailure)]],
    ['FAIL', result.watchers.filter(hasFaults).map(faultsText)],
    ['INVALID', saturationsOf(result)],
    ['THRESHOLD', missed],
  ];
  const [kind, reasons] = found.find(([, texts]) => texts.length > 0) ?? ['PASS', []];
  return { kind, reasons: reasons.slice(0, REASONS_MAX) };
}

/**
 * Returns the parts (generator, server, client) that could not keep up; the figures of the other parts are then
 * meaningless.
 */
export function saturationsOf({ phases, latencies, series }: Concluded): string[] {
  // In a phase without a rate, a write is late because it waits for other writes.
  const paced = new Set(phases.filter(({ rateAsked }) => rateAsked !== null).map(({ name }) => name));
  const p99 = (step: string): number => {
    const of = latencies.filter((each) => each.step === step && paced.has(each.phase));
    return quantileMs(sumOf(of.map(({ histogram }) => histogram)), 0.99) ?? 0;
  };
  const found = phases.flatMap(shortfallOf);
  const late = p99('dueToSent');
  if (late > LATE_MS_MAX) {
    found.push(
      `the generator was late: p99 of due to sent was ${durationText(late)}, at most ${LATE_MS_MAX} ms are allowed ` +
        '(a busy machine, or a server so slow that no connection was free)',
    );
  }
  const slow = p99('sentToAnswered');
  if (slow > ANSWER_MS_MAX) {
    found.push(`the server was saturated: p99 of sent to answered was ${durationText(slow)}, 1 s is allowed`);
  }
  // The seconds in which a process starts and judges do not belong to the load.
  const isLoaded = (atMs: number): boolean =>
    phases.some(({ name, startMs, endMs }) => paced.has(name) && startMs <= atMs && atMs < endMs);
  for (const { name, loopDelayMs } of series.processes) {
    const delays = loopDelayMs
      .filter((each, second) => each !== null && isLoaded(second * series.intervalMs))
      .map(Number)
      .toSorted((one, other) => one - other);
    const delay = delays[Math.ceil(delays.length * 0.9) - 1] ?? 0;
    if (delay <= LOOP_DELAY_MS_MAX || name === 'generator') continue;
    found.push(
      `the client was saturated: the event loop of ${name} was delayed by ${durationText(delay)}; use more processes`,
    );
  }
  return found;
}

function shortfallOf({ name, outcome, rateAsked, rateAchieved }: PhaseResult): string[] {
  if (rateAsked === null || rateAchieved === null || outcome !== 'done') return [];
  const needed = rateAsked * RATE_SHARE_MIN;
  if (rateAchieved >= needed) return [];
  const asked = Math.round(rateAsked * 10) / 10;
  return [
    `the rate was ${rateAchieved} writes a second in ${name}, ${asked} were requested and ` +
      `${Math.round(needed * 10) / 10} are needed: use a lower rate, or find the slow part`,
  ];
}

function doubtsOf({ writes }: Concluded, firstFailure: string | undefined): string[] {
  const because = firstFailure === undefined ? '' : `, the first: ${firstFailure}`;
  return [
    ...(writes.refused > 0 ? [`${writes.refused} writes were refused${because}`] : []),
    ...(writes.unanswered > 0 ? [`${writes.unanswered} writes got no answer${because}`] : []),
  ];
}

function hasFaults({ verdict: { lost, duplicated, reordered } }: WatcherResult): boolean {
  return lost + duplicated + reordered > 0;
}

function faultsText({ name, verdict }: WatcherResult): string {
  const { delivered, lost, duplicated, reordered, findings } = verdict;
  const counts = `${lost} lost, ${duplicated} duplicated, ${reordered} reordered`;
  return `${name}: ${delivered} delivered, ${counts} (${findings.join('; ')})`;
}

function figureText(figure: number | null, type: string): string {
  if (figure === null) return 'there was nothing to measure';
  return `it was ${type === 'latency' || type === 'sync' ? durationText(figure) : figure}`;
}
