/**
 * The time in which a server's internal errors are answered by an immediate retry: client-go's
 * RetryWithDeadline as a pure value. Default: 0 (off).
 */

/** The time between two errors after which a new window begins. */
export const INTERNAL_ERRORS_APART_MS = 60_000;

export interface RetryWindow {
  readonly firstAt: number;
  readonly lastAt: number;
}

/**
 * Counts one more error.
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
