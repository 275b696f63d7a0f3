/** Metrics and last errors of a process at one moment, as `serveStats` sends them and `kubeloom top` shows them. */
import type { MetricFamily } from './collect.ts';

export interface ReportedError {
  /** Time of `Date.now()`. */
  readonly atMs: number;
  readonly informer: string;
  readonly code: string;
  readonly message: string;
}

export interface StatsSnapshot {
  /** Time of `Date.now()`. */
  readonly atMs: number;
  readonly families: readonly MetricFamily[];
  /** The last errors, newest first. */
  readonly errors: readonly ReportedError[];
}
