/** The state of a running load test, once a second, for a live view. All numbers are sums since the start of the run. */
import type { PhaseType } from './workload/workload.ts';

export interface LiveState {
  /** Milliseconds since the start of the run. */
  readonly atMs: number;
  readonly phase: {
    readonly name: string;
    readonly type: PhaseType;
    /** From 0. */
    readonly index: number;
    /** Phases of the workload. */
    readonly count: number;
    readonly startMs: number;
    /** null if the phase ends with its work, not after a time. */
    readonly durationMs: number | null;
  };
  readonly writes: LiveWrites;
  readonly latencies: LiveLatencies;
  readonly watchers: LiveWatchers;
  readonly processes: readonly LiveProcess[];
}

export interface LiveWrites {
  readonly due: number;
  readonly sent: number;
  readonly answered: number;
  readonly failed: number;
  /** Writes that the phase will send; null if unknown. */
  readonly total: number | null;
}

export interface LiveWatchers {
  readonly count: number;
  readonly synced: number;
  /** Changes that all watchers together received. */
  readonly delivered: number;
  readonly relists: number;
  readonly cutWatches: number;
}

export interface LiveProcess {
  /** `generator`, `watchers 1`, … */
  readonly name: string;
  /** CPU seconds a second, of all threads. */
  readonly cpu: number;
  readonly rssBytes: number;
  readonly loopDelayMs: number;
}

/**
 * Latencies of the last 5 s, in milliseconds; null without a write. `answeredToHandler` is known only after the run.
 */
export interface LiveLatencies {
  readonly dueToSent: LiveQuantiles | null;
  readonly sentToAnswered: LiveQuantiles | null;
}

export interface LiveQuantiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}
