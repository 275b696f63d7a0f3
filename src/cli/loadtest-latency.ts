/** Latencies of the writes of a load test, step by step. Pure. */
import type { Write } from './loadtest-plan.ts';
import type { Notification } from './recording-handler.ts';

/** Percentiles in ms; NaN when there was nothing to measure. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Latencies {
  /** The delay of the generator. */
  readonly dueToSent: Latency;
  readonly sentToAnswered: Latency;
  /** Latencies of all informers. Below 0 where the watch was faster than the answer. */
  readonly answeredToHandler: Latency;
}

/**
 * @param writes with the revisions of deletions
 * @param notifications the notifications of all informers
 */
export function latenciesOf(writes: readonly Write[], notifications: readonly Notification[]): Latencies {
  const answeredUs = new Map(writes.map(([revision, , , [, , us]]) => [revision, us]));
  const handled = notifications.flatMap(({ kind, revision, previousRevision, calledUs }) => {
    // A relist repeats versions.
    const isChange = kind !== 'INITIAL' && kind !== 'FINAL_STATE_UNKNOWN' && revision !== previousRevision;
    const us = isChange ? answeredUs.get(revision) : undefined;
    return us === undefined ? [] : [calledUs - us];
  });
  return {
    dueToSent: latencyOf(writes.map(([, , , [dueUs, sentUs]]) => sentUs - dueUs)),
    sentToAnswered: latencyOf(writes.map(([, , , [, sentUs, answeredUs]]) => answeredUs - sentUs)),
    answeredToHandler: latencyOf(handled),
  };
}

function latencyOf(durationsUs: readonly number[]): Latency {
  const sorted = Float64Array.from(durationsUs).sort();
  const quantile = (share: number): number => {
    const us = sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
    return Math.round(us / 10) / 100;
  };
  return { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) };
}
