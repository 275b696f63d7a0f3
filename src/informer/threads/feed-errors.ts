/**
 * Translation of errors that a user's `list` and `watch` throw: to a server's answer, or to a failure of the
 * connection.
 */
import { KubeloomError } from '../../base/errors.ts';

export interface StatusAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A Status as JSON. */
  readonly body: string;
}

/**
 * Returns the server's answer that an error carries: `KubeStatusError`, another error with an `httpStatus`, or
 * client-node's `ApiException` with its `code` and the `body` that the server sent. Otherwise undefined.
 */
export function answerOf(error: unknown): StatusAnswer | undefined {
  if (!(error instanceof Error)) return undefined;
  const thrown = error as Error & Readonly<Record<string, unknown>>;
  const status = thrown['httpStatus'] ?? thrown['code'];
  if (typeof status !== 'number' || status < 400 || status > 599) return undefined;
  const { retryAfterSeconds, body } = thrown;
  const isLater = typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0;
  const headers = isLater ? { 'retry-after': String(retryAfterSeconds) } : {};
  if (typeof body === 'string') return { status, headers, body };
  return { status, headers, body: JSON.stringify(body ?? statusOf(thrown, status)) };
}

function statusOf(thrown: Error & Readonly<Record<string, unknown>>, code: number): object {
  const { message, reason, serverMessage, retryAfterSeconds, causes } = thrown;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: serverMessage ?? message,
    reason,
    details: { causes, retryAfterSeconds },
    code,
  };
}

/** Wraps any other error in a message that names the user's function. */
export function failed(verb: 'list' | 'watch', error: unknown): KubeloomError {
  if (error instanceof KubeloomError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return listerWatcherError(`${verb}() of the ListerWatcher failed: ${message}`, error);
}

export function listerWatcherError(message: string, cause?: unknown): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_LISTER_WATCHER', message, cause === undefined ? {} : { cause });
}

export function missingVersion(what: string, consequence: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_NO_RESOURCE_VERSION',
    `${what} that the ListerWatcher gave has no metadata.resourceVersion: ${consequence}`,
  );
}
