/**
 * The delay after a failure: client-go's numbers (800 ms doubled up to 30 s, plus jitter of up to the same
 * length), as pure functions. It starts over only after two healthy minutes. client-go counts two minutes
 * from the last reset and so falls back to 800 ms in the middle of a long outage.
 *
 * Also the time in which a server's internal errors are answered by an immediate retry: client-go's RetryWithDeadline.
 * Default: 0 (off).
 */

export const HEALTHY_AFTER_MS = 120_000;
/** The longest delay that a server's Retry-After can cause. */
export const RETRY_AFTER_MAX_MS = 600_000;

export interface Backoff {
  readonly failures: number;
  /** The time at which the open watch began; undefined while there is none. */
  readonly healthySince: number | undefined;
}

export interface BackoffBounds {
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
}

export interface Delay {
  /** The delay without jitter. */
  readonly baseMs: number;
  /** The server's Retry-After, or 0. */
  readonly atLeastMs: number;
}

export const NO_FAILURES: Backoff = { failures: 0, healthySince: undefined };

export function healthy(backoff: Backoff, now: number): Backoff {
  return { ...backoff, healthySince: backoff.healthySince ?? now };
}

/** Counts a failure. Returns the delay before the next attempt and the next state. */
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
 * Adds jitter of up to the delay's own length. A Retry-After gets jitter on top, or all clients would return
 * at the same moment.
 *
 * @param chance uniform in [0, 1)
 */
export function jittered(delay: Delay, chance: number): number {
  const jitterMs = delay.baseMs * chance;
  return Math.max(delay.baseMs, Math.min(delay.atLeastMs, RETRY_AFTER_MAX_MS)) + jitterMs;
}

/** The time between two errors after which a new window begins. */
export const INTERNAL_ERRORS_APART_MS = 60_000;

export interface RetryWindow {
  readonly firstAt: number;
  readonly lastAt: number;
}

/**
 * Counts an error.
 *
 * @returns the next window, and whether to retry at once; the next error after a closed window begins a new
 *   one
 */
export function retriedAt(
  window: RetryWindow | undefined,
  maxMs: number,
  now: number,
): { readonly window: RetryWindow | undefined; readonly isOpen: boolean } {
  const isNew = window === undefined || now - window.lastAt >= INTERNAL_ERRORS_APART_MS;
  const next = { firstAt: isNew ? now : window.firstAt, lastAt: now };
  const isOpen = maxMs > 0 && now - next.firstAt <= maxMs;
  return { window: isOpen ? next : undefined, isOpen };
}
