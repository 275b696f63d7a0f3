/**
 * For how long a server's internal errors are answered by asking again at once: client-go's
 * RetryWithDeadline as a pure value. Off (0) unless the informer wants it.
 */

/** Errors further apart than this have nothing to do with each other: the window begins anew. */
export const INTERNAL_ERRORS_APART_MS = 60_000;

export interface RetryWindow {
  readonly firstAt: number;
  readonly lastAt: number;
}

/**
 * One more error.
 *
 * @returns the window from here on, and whether to ask again; when it is over it begins anew
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
