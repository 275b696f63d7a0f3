/**
 * How long to wait after a failure: client-go's numbers (800 ms doubled up to 30 s, up to as much again of
 * jitter), as pure functions. It starts over only after two minutes of health: client-go's current rule,
 * two minutes since the last reset, falls back to 800 ms in the middle of a long outage.
 */

export const HEALTHY_AFTER_MS = 120_000;
/** A server may ask for more patience than ours, but not for more than this. */
export const RETRY_AFTER_MAX_MS = 600_000;

export interface Backoff {
  /** Failures since the last two minutes of health. */
  readonly failures: number;
  /** Since when a watch has been open without a failure; undefined while there is none. */
  readonly healthySince: number | undefined;
}

export interface BackoffBounds {
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
}

export interface Delay {
  /** Without jitter. */
  readonly baseMs: number;
  /** The server's Retry-After, or 0. */
  readonly atLeastMs: number;
}

export const NO_FAILURES: Backoff = { failures: 0, healthySince: undefined };

/** A watch is open. */
export function healthy(backoff: Backoff, now: number): Backoff {
  return { ...backoff, healthySince: backoff.healthySince ?? now };
}

/** Something failed: the delay before the next attempt and the state from here on. */
export function failed(
  backoff: Backoff,
  bounds: BackoffBounds,
  now: number,
): { readonly backoff: Backoff; readonly baseMs: number } {
  const isOver = backoff.healthySince !== undefined && now - backoff.healthySince >= HEALTHY_AFTER_MS;
  const failures = isOver ? 0 : backoff.failures;
  return {
    backoff: { failures: failures + 1, healthySince: undefined },
    baseMs: Math.min(bounds.backoffInitialMs * 2 ** failures, bounds.backoffMaxMs),
  };
}

/**
 * The delay with its jitter, which is as long as the delay itself; a Retry-After gets it on top, or all
 * clients would come back at the same moment.
 *
 * @param chance uniform in [0, 1)
 */
export function jittered(delay: Delay, chance: number): number {
  const jitterMs = delay.baseMs * chance;
  return Math.max(delay.baseMs, Math.min(delay.atLeastMs, RETRY_AFTER_MAX_MS)) + jitterMs;
}
