/** Metrics and last errors of this process at a moment, as `serveStats` sends them and `kubeloom top` shows them. */
import type { ErrorCode } from '../base/error-codes/error-table.ts';
import { collectMetrics } from './collect.ts';
import type { MetricFamily } from './collect.ts';

/** An error as the statistics show it. */
export interface ReportedError {
  /** Time of `Date.now()`. */
  readonly atMs: number;
  /** Name of the informer in errors: `pods (namespace web)`. */
  readonly informer: string;
  /** Code of the error, as in docs/errors.md. */
  readonly code: ErrorCode;
  /** Message of the error, a single line without secrets of the connection. */
  readonly message: string;
}

/** Metrics and errors of a process at one moment. */
export interface StatsSnapshot {
  /** Time of `Date.now()`. */
  readonly atMs: number;
  /** Result of `collectMetrics`. */
  readonly families: readonly MetricFamily[];
  /** The last errors of all informers, newest first. */
  readonly errors: readonly ReportedError[];
}

const ERRORS_MAX = 10;
const errors: ReportedError[] = [];

/** Remembers an error that an informer reported. */
export function rememberError(error: ReportedError): void {
  errors.unshift(error);
  errors.length = Math.min(errors.length, ERRORS_MAX);
}

/** Returns the metrics and the last errors of this process. */
export function statsSnapshot(): StatsSnapshot {
  return { atMs: Date.now(), families: collectMetrics(), errors: [...errors] };
}
