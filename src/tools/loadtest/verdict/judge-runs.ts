/**
 * Judges a watcher: the notifications of each client run against the log, the cache against a LIST, and the latencies
 * by phase. Pure.
 */
import { LatencyCounts } from '../histogram.ts';
import type { Mark, SyncResult, VerdictCounts } from '../result.ts';
import type { Notification } from '../watch/recording-handler.ts';
import type { LoggedWrite, OwnWrite, Truth, WatcherJudgement } from '../watch/watcher.ts';
import { listedAtOf } from './relist.ts';
import { differences } from './store-comparison.ts';
import { expectationOf, judge } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** A client from the first list to the end. */
export interface ClientRun {
  readonly notifications: Iterable<Notification>;
  readonly syncs: readonly SyncResult[];
  readonly marks: readonly Mark[];
  readonly relistedAfter: number | undefined;
  readonly isCutOff: boolean;
  /** undefined if the client holds no state to compare. */
  readonly state: ReadonlyMap<string, string> | undefined;
}

/** @param startedUs the start of the run, by `nowUs` */
export function judgeRuns(
  clientRuns: readonly ClientRun[],
  truth: Truth,
  startedUs: number,
): WatcherJudgement {
  const journal = truth.log.map(({ revision, type, key }) => [revision, type, key] as const);
  const latencies = new Latencies(truth.log, startedUs);
  const verdicts: Verdict[] = [];
  const events = { added: 0, modified: 0, deleted: 0 };
  for (const { notifications, relistedAfter, isCutOff } of clientRuns) {
    const history = [...notifications];
    const expectation = expectationOf(journal, listedAtOf(journal, history));
    verdicts.push(judge(expectation, history, { relistedAfter, isCutOff }));
    for (const notification of history) {
      const { kind } = notification;
      if (kind === 'INITIAL') continue;
      events[kind === 'ADDED' ? 'added' : kind === 'MODIFIED' ? 'modified' : 'deleted']++;
      latencies.observe(notification);
    }
  }
  const different = clientRuns.flatMap(({ state }) => (state ? differencesOf(state, truth.state) : []));
  const isCompared = clientRuns.some(({ state }) => state !== undefined);
  return {
    syncs: clientRuns.flatMap(({ syncs }) => syncs),
    events,
    verdict: sumOf(verdicts, different, truth.log),
    cacheEqualsList: isCompared ? different.length === 0 : null,
    ...latencies.result,
    marks: clientRuns.flatMap(({ marks }) => marks),
  };
}

function differencesOf(state: ReadonlyMap<string, string>, listed: ReadonlyMap<string, string>): string[] {
  const entries = Array.from(state, ([key, resourceVersion]) => ({
    key,
    resourceVersion,
    bytes: () => Buffer.alloc(0),
  }));
  return differences(entries, { state: listed, bytes: new Map() });
}

/** Adds the verdicts of a watcher. The first list of a client covers what came after the end of the client before. */
export function sumOf(
  verdicts: readonly Verdict[],
  different: readonly string[],
  log: readonly Pick<LoggedWrite, 'revision'>[],
): VerdictCounts {
  const between = verdicts.map(({ seen }, index) => {
    const { from = 0 } = verdicts[index + 1]?.seen ?? {};
    return Math.max(0, eventsUntil(log, from) - eventsUntil(log, seen.until));
  });
  const sum = (of: Exclude<keyof Verdict, 'findings' | 'seen'>): number =>
    verdicts.reduce((all, verdict) => all + verdict[of], 0);
  return {
    initial: sum('initial'),
    delivered: sum('delivered'),
    covered: between.reduce((all, count) => all + count, sum('covered')),
    lost: sum('lost'),
    duplicated: sum('duplicated'),
    reordered: sum('reordered'),
    findings: [...verdicts.flatMap(({ findings }) => findings), ...different],
  };
}

/** Returns the number of events up to a revision, by halving: the log is in the order of revisions. */
function eventsUntil(log: readonly Pick<LoggedWrite, 'revision'>[], revision: number): number {
  let [low, high] = [0, log.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((log[middle]?.revision ?? 0) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Answered to handler, by phase and change, and by the second of the delivery. */
export class Latencies {
  readonly #writes: ReadonlyMap<number, OwnWrite>;
  readonly #startedUs: number;
  readonly #groups = new Map<string, { phase: number; change: OwnWrite['change']; counts: LatencyCounts }>();
  readonly #seconds = new Map<number, { changes: number; counts: LatencyCounts }>();

  constructor(log: readonly LoggedWrite[], startedUs: number) {
    this.#writes = ownWritesOf(log);
    this.#startedUs = startedUs;
  }

  observe({ kind, revision, previousRevision, calledUs }: Notification): void {
    const number = Math.floor((calledUs - this.#startedUs) / 1e6);
    const second = this.#seconds.get(number) ?? { changes: 0, counts: new LatencyCounts() };
    this.#seconds.set(number, second);
    second.changes++;
    // A relist repeats versions, and finds deletions late.
    const isChange = kind !== 'FINAL_STATE_UNKNOWN' && revision !== previousRevision;
    const write = isChange ? this.#writes.get(revision) : undefined;
    if (!write) return;
    const { phase, change, answeredUs } = write;
    const name = `${phase} ${change}`;
    const group = this.#groups.get(name) ?? { phase, change, counts: new LatencyCounts() };
    this.#groups.set(name, group);
    const durationMs = (calledUs - answeredUs) / 1000;
    group.counts.observe(durationMs);
    second.counts.observe(durationMs);
  }

  get result(): Pick<WatcherJudgement, 'latencies' | 'seconds'> {
    return {
      latencies: Array.from(this.#groups.values(), ({ counts, ...rest }) => ({
        ...rest,
        histogram: counts.data,
      })),
      seconds: Array.from(this.#seconds, ([second, { changes, counts }]) => ({
        second,
        changes,
        latency: counts.data,
      })),
    };
  }
}

/** Thousands of watchers have the same log. */
const known = new WeakMap<readonly LoggedWrite[], ReadonlyMap<number, OwnWrite>>();

function ownWritesOf(log: readonly LoggedWrite[]): ReadonlyMap<number, OwnWrite> {
  const writes =
    known.get(log) ?? new Map(log.flatMap(({ revision, own }) => (own ? [[revision, own] as const] : [])));
  known.set(log, writes);
  return writes;
}
