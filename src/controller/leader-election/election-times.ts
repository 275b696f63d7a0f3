/** The times of an election, used by elections and partitions, with client-go's defaults and conditions. */
import { number, invalidOption, text } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { JITTER_FACTOR } from './election-step.ts';

/** Times of an election. */
export interface ElectionTimes {
  /** Time for which other candidates leave the lease alone after they read a renewal. Default 15 000. */
  readonly leaseDurationMs?: number;
  /** Time after the last renewal at which a leader gives up. Default 10 000. */
  readonly renewDeadlineMs?: number;
  /** Pause between two renewals, and between the attempts of a candidate. Default 2000. */
  readonly retryPeriodMs?: number;
}

export const TIMES_CHECKS: OptionChecks<ElectionTimes> = {
  leaseDurationMs: number(1),
  renewDeadlineMs: number(1),
  retryPeriodMs: number(1),
};

/**
 * Applies the defaults, and checks that a leader can make at least two attempts and gives up before the lease ends.
 *
 * @throws ERR_KUBELOOM_OPTION unless leaseDurationMs > renewDeadlineMs > 1.2 × retryPeriodMs
 */
export function timesOf(options: ElectionTimes): Required<ElectionTimes> {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2000 } = options;
  if (leaseDurationMs <= renewDeadlineMs)
    invalidOption('leaseDurationMs', leaseDurationMs, `greater than renewDeadlineMs (${renewDeadlineMs})`);
  if (renewDeadlineMs <= retryPeriodMs * JITTER_FACTOR)
    invalidOption('renewDeadlineMs', renewDeadlineMs, `greater than 1.2 × retryPeriodMs (${retryPeriodMs})`);
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

export function nonEmpty(name: string, value: unknown): void {
  text(name, value);
  if (value === '') invalidOption(name, value, 'a text that is not empty');
}
