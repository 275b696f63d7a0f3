/** Latencies of the writes of a load test, step by step. Pure. */
import type { Write } from './loadtest-plan.ts';

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
 * @param calledUs for each informer the times of its handler's calls, by revision
 */
export function latenciesOf(
  writes: readonly Write[],
  calledUs: readonly ReadonlyMap<number, number>[],
): Latencies {
  const handled = calledUs.flatMap((called) =>
    writes.flatMap(([revision, , , [, , answeredUs]]) => {
      const atUs = called.get(revision);
      return atUs === undefined ? [] : [atUs - answeredUs];
    }),
  );
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
