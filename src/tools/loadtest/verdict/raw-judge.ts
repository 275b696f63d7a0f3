/**
 * Judges the raw watchers of a collection with the rules for all other clients, and once for all watchers with equal
 * histories. Pure.
 */
import { LatencyCounts } from '../histogram.ts';
import type { CommonEvents } from '../watch/raw/common-events.ts';
import type { Deliveries } from '../watch/raw/deliveries.ts';
import type { RawRun } from '../watch/raw/raw-run.ts';
import type { Mark } from '../result.ts';
import type { Notification } from '../watch/recording-handler.ts';
import type { Truth, WatcherJudgement } from '../watch/watcher.ts';
import { Latencies, sumOf } from './judge-runs.ts';
import { listedAtOf } from './relist.ts';
import { expectationOf, judge } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export interface RawHistory {
  readonly clientRuns: readonly RawRun[];
  readonly deliveries: Deliveries;
  readonly marks: readonly Mark[];
}

export class RawJudge {
  readonly #events: CommonEvents;
  readonly #truth: Truth;
  readonly #journal: readonly (readonly [number, 'ADDED' | 'MODIFIED' | 'DELETED', string])[];
  /** By the text of the history. */
  readonly #verdicts = new Map<string, Verdict>();

  constructor(events: CommonEvents, truth: Truth) {
    this.#events = events;
    this.#truth = truth;
    this.#journal = truth.log.map(({ revision, type, key }) => [revision, type, key] as const);
  }

  /** @param startedUs the start of the run, by `nowUs` */
  judge({ clientRuns, deliveries, marks }: RawHistory, startedUs: number): WatcherJudgement {
    const sum = (of: (clientRun: RawRun) => number): number =>
      clientRuns.reduce((all, clientRun) => all + of(clientRun), 0);
    return {
      syncs: clientRuns.map(({ sync }) => sync),
      events: {
        added: sum(({ added }) => added),
        modified: sum(({ modified }) => modified),
        deleted: sum(({ deleted }) => deleted),
      },
      verdict: sumOf(
        clientRuns.map((clientRun) => this.#verdictOf(clientRun)),
        [],
        this.#truth.log,
      ),
      cacheEqualsList: null,
      ...this.#latenciesOf(deliveries, startedUs),
      marks,
    };
  }

  #verdictOf({ runs, isCutOff }: RawRun): Verdict {
    const text = `${isCutOff} ${runs.text}`;
    let verdict = this.#verdicts.get(text);
    if (!verdict) {
      const history = Array.from(runs, (index) => this.#notification(index, Number.NaN));
      const expectation = expectationOf(this.#journal, listedAtOf(this.#journal, history));
      verdict = judge(expectation, history, { isCutOff });
      this.#verdicts.set(text, verdict);
    }
    return verdict;
  }

  /** Latencies come from the sample; the changes of each second are complete. */
  #latenciesOf(
    { samples, seconds }: Deliveries,
    startedUs: number,
  ): Pick<WatcherJudgement, 'latencies' | 'seconds'> {
    const latencies = new Latencies(this.#truth.log, startedUs);
    for (const { index, calledUs } of samples) latencies.observe(this.#notification(index, calledUs));
    const { latencies: groups, seconds: sampled } = latencies.result;
    const bySecond = new Map(sampled.map(({ second, latency }) => [second, latency]));
    return {
      latencies: groups,
      seconds: Array.from(seconds, ([second, changes]) => ({
        second,
        changes,
        latency: bySecond.get(second) ?? new LatencyCounts().data,
      })),
    };
  }

  #notification(index: number, calledUs: number): Notification {
    const event = this.#events.at(index);
    return {
      kind: event?.kind ?? 'ADDED',
      key: event?.key ?? '',
      revision: event?.revision ?? Number.NaN,
      // A raw watcher holds no cache, so the previous revision is unknown.
      previousRevision: Number.NaN,
      calledUs,
    };
  }
}
